// Package unwritable finds, for tests, a folder that takes no file.
package unwritable

import (
	"os"
	"testing"
)

// Folder returns a folder that takes no file, from root neither where there is /proc. Where there is none the test is skipped.
func Folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{dir, "/proc/self"} {
		if info, err := os.Stat(folder); err != nil || !info.IsDir() {
			continue
		}
		f, err := os.CreateTemp(folder, "try-*")
		if err != nil {
			return folder
		}
		f.Close()
		os.Remove(f.Name())
	}
	t.Skip("every folder takes files here")
	return ""
}
