//go:build unix

package main

import (
	"strconv"
	"syscall"
	"testing"
)

// withUmask runs do under a umask, which is the process's: no parallel test may run.
func withUmask(t *testing.T, octal string, do func()) {
	t.Helper()
	mask, err := strconv.ParseInt(octal, 8, 32)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Umask(syscall.Umask(int(mask)))
	do()
}
