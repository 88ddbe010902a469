package main

import (
	"net"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// Words of a call that make no sense are found before anybody is asked.
func TestContributeWords(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct{ args, want string }{
		{"--x 0.3 --y NaN", "must be numbers"},
		{"--x NaN --y 1", "must be numbers"},
		{"--x 0.3 --y Inf", "must be numbers"},
		{"--x 0.3 --y abc", "--y \"abc\": it takes a number"},
		{"--x 0.3 --y 10s", "without a unit"},
		{"--x 0.3 --y 1 --patience 10", "30s"},
		{"--x 0.3 --y 1 --patience -1s", "--patience"},
		{"--x 0.3 --y 1 --max-epsilon NaN", "--max-epsilon"},
		{"--x 0.3 --y 1 --max-epsilon -1", "--max-epsilon"},
		{"--x 0.3 --y 1 --max-epsilon 1 --max-delta NaN", "--max-delta"},
		{"--x 0.3 --y 1 --epsilon NaN --delta 1e-6", "NaN"},
	} {
		code, _, stderr := call(t, append([]string{"contribute", "http://127.0.0.1:1", "demo"}, strings.Fields(c.args)...)...)
		if code != exitUsage || !strings.Contains(stderr, c.want) || strings.Contains(stderr, "strconv") || strings.Contains(stderr, "refused") {
			t.Errorf("%s: exit %d, %s", c.args, code, stderr)
		}
	}
}

// A collector that does not answer is named by its address, with what to do.
func TestContributeWithoutACollector(t *testing.T) {
	t.Chdir(t.TempDir())
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := "http://" + silent.Addr().String()
	silent.Close()
	code, _, stderr := call(t, "contribute", address, "demo", "--x", "0.3", "--y", "1.2", "--ledger", "none")
	if code != exitFailed || !strings.Contains(stderr, "nothing answers at "+address) || !strings.Contains(stderr, "curveil serve") || !strings.Contains(stderr, "nothing was spent") || strings.Contains(stderr, "dial tcp") {
		t.Errorf("exit %d, %s", code, stderr)
	}
	url, token, _, _ := serving(t)
	openStream(t, http.DefaultClient, url, token, "")
	if code, _, stderr := call(t, "contribute", strings.Replace(url, "http:", "https:", 1), "demo", "--x", "0.3", "--y", "1.2", "--ledger", "none"); code != exitFailed || !strings.Contains(stderr, "http or https") {
		t.Errorf("https where there is none: exit %d, %s", code, stderr)
	}
	if code, _, stderr := call(t, "contribute", url, "other", "--x", "0.3", "--y", "1.2", "--ledger", "none"); code != exitFailed || !strings.Contains(stderr, "other") || strings.Contains(stderr, "collector: ") {
		t.Errorf("no such stream: exit %d, %s", code, stderr)
	}
	// Budgets are shown to six digits.
	ledger := filepath.Join(t.TempDir(), "me.db")
	must(t, "ledger", "cap", "demo", "--mu", "0.1", "--unit", "person", "--local", "--ledger", ledger)
	code, _, stderr = call(t, "contribute", url, "demo", "--x", "0.3", "--y", "1.2", "--ledger", ledger)
	if code != exitBudget || regexp.MustCompile(`\d\.\d{8}`).MatchString(stderr) || !strings.Contains(stderr, "cap") {
		t.Errorf("exit %d, %s", code, stderr)
	}
}

// http to a port that speaks https is answered by what to write instead.
func TestContributeWithoutTLS(t *testing.T) {
	t.Chdir(t.TempDir())
	cert, key := certificate(t, t.TempDir(), "own", time.Now().Add(time.Hour))
	url, _, _, _ := serving(t, "--tls-cert", cert, "--tls-key", key)
	code, _, stderr := call(t, "contribute", strings.Replace(url, "https:", "http:", 1), "demo", "--x", "0.3", "--y", "1.2", "--ledger", "none")
	if code != exitFailed || !strings.Contains(stderr, "speaks https") || !strings.Contains(stderr, "nothing was spent") {
		t.Errorf("exit %d, %s", code, stderr)
	}
}

// A refusal over the cap is told in what can be asked for.
func TestContributeOverACap(t *testing.T) {
	t.Chdir(t.TempDir())
	url, token, _, _ := serving(t)
	openStream(t, http.DefaultClient, url, token, "")
	if code := postStream(t, http.DefaultClient, url, token, `{"name":"mixed","space":"legendre:3","domain":[0,1],"tau":0.7,"epsilon":1,"delta":1e-6,"people":10000,"mixed":true}`); code != 201 {
		t.Fatal(code)
	}
	book := filepath.Join(t.TempDir(), "me.db")
	contribute := func(stream string, more ...string) (int, string) {
		must(t, "ledger", "cap", stream, "--mu", "0.22135", "--unit", "person", "--local", "--ledger", book)
		code, _, stderr := call(t, append([]string{"contribute", url, stream, "--x", "0.3", "--y", "1.2", "--ledger", book}, more...)...)
		return code, stderr
	}
	if code, stderr := contribute("demo"); code != exitBudget || !strings.Contains(stderr, "at δ = 1e-06 that is ε = 0.9") || !strings.Contains(stderr, "its own ε and δ only") {
		t.Errorf("exit %d, %s", code, stderr)
	}
	code, stderr := contribute("mixed")
	fits := regexp.MustCompile(`at δ = 1e-06 that is ε = ([0-9.]+): --epsilon`).FindStringSubmatch(stderr)
	if code != exitBudget || fits == nil {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	if code, stderr := contribute("mixed", "--epsilon", fits[1], "--delta", "1e-6"); code != exitDone {
		t.Errorf("what is said to fit: exit %d, %s", code, stderr)
	}
}

// Help and refusal agree about x outside the domain.
func TestContributeHelpOnTheDomain(t *testing.T) {
	if stdout, _ := must(t, "contribute", "--help"); !strings.Contains(stdout, "x outside the published domain is refused") {
		t.Error(stdout)
	}
}
