//go:build !linux

package ledger

import "testing"

func postgresURL(t testing.TB) string {
	t.Helper()
	t.Skip("the PostgreSQL server of the tests is started on Linux only")
	return ""
}

func stopServer() {}
