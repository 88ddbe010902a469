package collector

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tokenHash is what is stored of a token. Tokens have 128 random bits or more, so a plain hash suffices: there is nothing to
// guess that salt would slow down.
type tokenHash [sha256.Size]byte

func hashToken(token string) tokenHash { return sha256.Sum256([]byte(token)) }

// newToken is a random token; the prefix tells people and scanners for leaked secrets what it is.
func newToken(prefix string) string { return prefix + rand.Text() }

// newInvitation is a token that says when it expires. What counts is what the log says of its hash; what the token says is for the
// answer to one that has been forgotten.
func newInvitation(expires time.Time) string {
	return newToken(invitationPrefix + strconv.FormatInt(expires.Unix(), 36) + "-")
}

// expiryOf is what an invitation says, zero if nothing.
func expiryOf(token string) time.Time {
	text, ok := strings.CutPrefix(token, invitationPrefix)
	if !ok {
		return time.Time{}
	}
	date, _, ok := strings.Cut(text, "-")
	seconds, err := strconv.ParseInt(date, 36, 64)
	if !ok || err != nil {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}

// checkInvitation finds what a device can see of an invitation by itself.
func checkInvitation(token string, now time.Time) error {
	text, ok := strings.CutPrefix(token, invitationPrefix)
	if !ok || len(text) < randomText {
		return &Refused{UnknownInvitation, "the invitation is none: they begin with " + invitationPrefix + " and end in many random letters and digits: copy all of yours"}
	}
	if expires := expiryOf(token); !expires.IsZero() && !expires.After(now) {
		return &Refused{ExpiredInvitation, fmt.Sprintf("the invitation expired on %s, by this machine's clock: ask for another", expires.UTC().Format(time.RFC3339))}
	}
	return nil
}

const (
	adminPrefix      = "curveil-admin-"
	invitationPrefix = "curveil-invitation-"

	maxInvitations = 10000 // made by one request
	adminFile      = "admin-token.sha256"

	randomText = 26 // characters of rand.Text
)

// AdminToken makes the folder's admin token and returns it, to be shown once: only its hash is kept. Where there is one already,
// it stays valid and "" is returned, unless another is asked for, which replaces it.
func AdminToken(folder string, another bool) (string, error) {
	path := filepath.Join(folder, adminFile)
	_, err := os.Stat(path)
	if err == nil && !another {
		return "", nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("collector: admin token: %w", err)
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", fmt.Errorf("collector: admin token: %w", err)
	}
	token := newToken(adminPrefix)
	hash := hashToken(token)
	if err := writeFile(path, []byte(hex.EncodeToString(hash[:])+"\n")); err != nil {
		return "", fmt.Errorf("collector: admin token: %w", err)
	}
	return token, nil
}

// readAdminToken returns the hash of the folder's admin token, nil if there is none.
func readAdminToken(folder string) (*tokenHash, error) {
	text, err := os.ReadFile(filepath.Join(folder, adminFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("collector: admin token: %w", err)
	}
	var hash tokenHash
	if n, err := hex.Decode(hash[:], []byte(strings.TrimSpace(string(text)))); err != nil || n != len(hash) {
		return nil, fmt.Errorf("collector: %s is damaged: make another admin token (curveil serve --new-admin-token)", filepath.Join(folder, adminFile))
	}
	return &hash, nil
}

func (h *tokenHash) matches(token string) bool {
	other := hashToken(token)
	return h != nil && subtle.ConstantTimeCompare(h[:], other[:]) == 1
}

// writeFile writes all of the file or nothing, durably.
func writeFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".curveil-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	// Some systems cannot sync a folder; there the rename is as durable as they make it.
	_ = d.Sync()
	return d.Close()
}
