package ledger
func helper(mode string) int { return 0 }
