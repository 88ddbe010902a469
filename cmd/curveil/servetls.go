package main

import (
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// secure is nil without TLS.
func (s *serveFlags) secure(logger *slog.Logger) (*tls.Config, error) {
	if (s.cert == "") != (s.key == "") {
		return nil, usagef("--tls-cert and --tls-key go together")
	}
	if s.cert == "" {
		return nil, nil
	}
	files := &certificateFiles{read: s.pair, paths: []string{s.cert, s.key}, logger: logger}
	if err := files.renew(time.Now()); err != nil {
		return nil, err
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		return files.certificate(time.Now()), nil
	}}, nil
}

// certificateFiles are read again when they have changed, so that a renewed certificate needs no restart.
type certificateFiles struct {
	read   func() (tls.Certificate, error)
	paths  []string
	logger *slog.Logger

	mu     sync.Mutex
	pair   tls.Certificate
	stamps [2]time.Time // of the files when they were last read
	looked time.Time
}

// renewEvery is how often the files are looked at, while there are connections.
const renewEvery = 10 * time.Second

// certificate is the newest that could be read.
func (c *certificateFiles) certificate(now time.Time) *tls.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Sub(c.looked) >= renewEvery {
		if err := c.renew(now); err != nil {
			c.logger.Error("certificate not renewed, the old one stays", "error", err.Error())
		}
	}
	pair := c.pair
	return &pair
}

// renew reads the files if they are others than before.
func (c *certificateFiles) renew(now time.Time) error {
	c.looked = now
	var stamps [2]time.Time
	for i, path := range c.paths {
		if info, err := os.Stat(path); err == nil {
			stamps[i] = info.ModTime()
		}
	}
	if len(c.pair.Certificate) > 0 && stamps == c.stamps {
		return nil
	}
	pair, err := c.read()
	if err != nil {
		return err
	}
	c.pair, c.stamps = pair, stamps
	return nil
}

// pair reads certificate and key; its errors say which of the two files is at fault.
func (s *serveFlags) pair() (tls.Certificate, error) {
	var none tls.Certificate
	cert, err := os.ReadFile(s.cert)
	if err != nil {
		return none, fmt.Errorf("--tls-cert: %w: give the file with the certificate, and those it is signed with after it, as PEM", err)
	}
	key, err := os.ReadFile(s.key)
	if err != nil {
		return none, fmt.Errorf("--tls-key: %w: give the file with the certificate's private key, as PEM", err)
	}
	if kinds := pemBlocks(cert); !slices.Contains(kinds, "CERTIFICATE") {
		return none, fmt.Errorf("--tls-cert %s: it holds no certificate (%s): give the file that begins with -----BEGIN CERTIFICATE-----", s.cert, found(kinds))
	}
	if kinds := pemBlocks(key); !slices.ContainsFunc(kinds, func(kind string) bool { return kind == "PRIVATE KEY" || strings.HasSuffix(kind, " PRIVATE KEY") }) {
		return none, fmt.Errorf("--tls-key %s: it holds no private key (%s): give the file that begins with -----BEGIN PRIVATE KEY-----, without a password", s.key, found(kinds))
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return none, fmt.Errorf("--tls-cert %s with --tls-key %s: %w: give the certificate and the key that were made together", s.cert, s.key, err)
	}
	if now := time.Now(); now.After(pair.Leaf.NotAfter) || now.Before(pair.Leaf.NotBefore) {
		return none, fmt.Errorf("--tls-cert %s: the certificate is valid from %s to %s and not now: renew it, or set the clock", s.cert, pair.Leaf.NotBefore.Format(time.DateOnly), pair.Leaf.NotAfter.Format(time.DateOnly))
	}
	return pair, nil
}

// pemBlocks are the kinds of the blocks in a PEM file.
func pemBlocks(text []byte) (kinds []string) {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		kinds = append(kinds, block.Type)
	}
	return kinds
}

func found(kinds []string) string {
	if len(kinds) == 0 {
		return "nothing in it is PEM"
	}
	return "but " + strings.Join(kinds, ", ")
}
