package regression

// Applied says whether a report with the id was applied, as far as the server remembers: at least the last 2^18 reports, and
// as many as the staleness.
func (v *Server) Applied(id ID) bool { return v.seen.has(id) }
