package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/curveil/curveil/collector"
	"github.com/curveil/curveil/ledger"
	"github.com/curveil/curveil/regression"
)

// invitations asks the collector for some.
func invitations(t *testing.T, url, token, stream string, count string) []string {
	t.Helper()
	q, err := http.NewRequest("POST", url+"/v1/streams/"+stream+"/invitations", strings.NewReader(`{"count":`+count+`}`))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+token)
	q.Header.Set("Content-Type", "application/json")
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	var out struct{ Invitations []string }
	if err := json.NewDecoder(a.Body).Decode(&out); err != nil || len(out.Invitations) == 0 {
		t.Fatalf("%s %v", a.Status, err)
	}
	return out.Invitations
}

// others contribute past the collector's command, so that what is made before is older by as many.
func others(t *testing.T, url, stream string, n int, invitations ...string) {
	t.Helper()
	remote, err := collector.NewRemote(url, stream)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if invitations != nil {
			remote.Invitation = invitations[i]
		}
		m, err := remote.Model(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		client, err := regression.NewClient(m, regression.ClientConfig{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := remote.Contribute(context.Background(), client, []float64{0.5}, 1, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// An invitation that is no good is found before the budget is spent, and costs nothing.
func TestContributeChecksInvitation(t *testing.T) {
	t.Chdir(t.TempDir())
	url, token, _, _ := serving(t)
	openStream(t, http.DefaultClient, url, token, `,"invitations":true,"staleness":1`)
	good := invitations(t, url, token, "demo", "5")
	book := filepath.Join(t.TempDir(), "me.db")
	contribute := func(invitation string) (int, string) {
		code, stdout, stderr := call(t, "contribute", url, "demo", "--x", "0.3", "--y", "1.2", "--ledger", book, "--invitation", invitation)
		return code, stdout + stderr
	}
	others(t, url, "demo", 1, good[0])
	for invitation, want := range map[string]string{
		"": "by invitation", "nonsense": "begin with curveil-invitation-", "curveil-invitation-zz": "copy all",
		"curveil-invitation-1-" + strings.Repeat("A", 26):      "expired on 1970-01-01",
		"curveil-invitation-zzzzzz-" + strings.Repeat("A", 26): "not one of this stream's",
		good[0]: "has been used",
	} {
		if code, out := contribute(invitation); code != exitFailed || !strings.Contains(out, want) || !strings.Contains(out, "nothing was spent") {
			t.Errorf("%q: exit %d, %s", invitation, code, out)
		}
		if exists(book) || exists("demo.report.json") {
			t.Fatalf("%q: something was spent", invitation)
		}
	}
	if code, out := contribute(good[1]); code != exitDone {
		t.Errorf("a good one after all: exit %d, %s", code, out)
	}

	// A report that is refused for its invitation all the same, used in between, is sent again with another, at no cost; one that is too
	// old by then is said to cost again, and does only when that is asked for.
	taking := func() http.Handler { // the invitation is good when it is checked, and used when the report comes
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			to := r.URL.Path
			q, _ := http.NewRequest(r.Method, url+to, r.Body)
			q.Header.Set("Content-Type", r.Header.Get("Content-Type"))
			q.Header.Set("Authorization", r.Header.Get("Authorization"))
			if strings.HasSuffix(to, "/reports") {
				q.Header.Set("Authorization", "Bearer "+good[0])
			}
			a, err := http.DefaultClient.Do(q)
			if err != nil {
				panic(http.ErrAbortHandler)
			}
			defer a.Body.Close()
			w.WriteHeader(a.StatusCode)
			_, _ = io.Copy(w, a.Body)
		})
	}
	thief := front(t, taking())
	book = filepath.Join(t.TempDir(), "other.db")
	code, stdout, stderr := call(t, "contribute", thief, "demo", "--x", "0.3", "--y", "1.2", "--ledger", book, "--invitation", good[2])
	if code != exitFailed || !strings.Contains(stderr, "call again with a good invitation") || !strings.Contains(stderr, `spent ε = 1, δ = 1e-06 (approximate DP) on data set "demo"; in all μ = `) {
		t.Fatalf("exit %d, %s%s", code, stdout, stderr)
	}
	if code, out := contribute(good[2]); code != exitDone || !strings.Contains(out, "nothing more was spent") {
		t.Errorf("sent again: exit %d, %s", code, out)
	}
	book = filepath.Join(t.TempDir(), "third.db")
	call(t, "contribute", thief, "demo", "--x", "0.3", "--y", "1.2", "--ledger", book, "--invitation", good[3])
	others(t, url, "demo", 2, invitations(t, url, token, "demo", "2")...)
	if code, out := contribute(good[3]); code != exitFailed || !strings.Contains(out, "came too late, and making another costs budget again (--again)") {
		t.Errorf("too old: exit %d, %s", code, out)
	}
	if code, out := contribute(good[3]); code != exitUsage || !strings.Contains(out, "--again") {
		t.Errorf("spent on without --again: exit %d, %s", code, out)
	}
	debits(t, book, 1)
}

// A second debit for a stream is made only with --again, and said.
func TestContributeSpendsTwiceOnlyIfAsked(t *testing.T) {
	t.Chdir(t.TempDir())
	url, token, _, _ := serving(t)
	openStream(t, http.DefaultClient, url, token, `,"staleness":1`)
	book := filepath.Join(t.TempDir(), "me.db")
	contribute := func(url string, more ...string) (int, string) {
		code, stdout, stderr := call(t, append([]string{"contribute", url, "demo", "--x", "0.3", "--y", "1.2", "--ledger", book}, more...)...)
		return code, stdout + stderr
	}
	if code, out := contribute(url); code != exitDone || !strings.Contains(out, `spent ε = 1, δ = 1e-06 (approximate DP) on data set "demo"; in all μ = 0.23`) || !strings.Contains(out, "in 1 debit, without a cap") {
		t.Errorf("exit %d, %s", code, out)
	}
	if code, out := contribute(url); code != exitUsage || !strings.Contains(out, time.Now().Format(time.DateOnly)) || !strings.Contains(out, "a report made") || !strings.Contains(out, "--again") || !strings.Contains(out, "--dataset") {
		t.Errorf("a second call: exit %d, %s", code, out)
	}
	debits(t, book, 1)
	if code, out := contribute(url, "--again"); code != exitDone || !strings.Contains(out, "spending ε = 1, δ = 1e-06 (approximate DP) again, for report 2") || !strings.Contains(out, "in 2 debits") {
		t.Errorf("--again: exit %d, %s", code, out)
	}
	if code, out := contribute(url, "--dataset", "somebody else"); code != exitDone {
		t.Errorf("another person: exit %d, %s", code, out)
	}
	if code, out := contribute(url, "--dataset", "json", "--json"); code != exitDone || !strings.Contains(out, `"spent":[{"definition":"approx`) || !strings.Contains(out, `"in_all":{"definition":"gdp"`) {
		t.Errorf("--json: exit %d, %s", code, out)
	}

	// A report that others overtake on its way, each time.
	slow := front(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/reports") {
			others(t, url, "demo", 2)
		}
		q, _ := http.NewRequest(r.Method, url+r.URL.Path, r.Body)
		q.Header.Set("Content-Type", r.Header.Get("Content-Type"))
		a, err := http.DefaultClient.Do(q)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		defer a.Body.Close()
		w.WriteHeader(a.StatusCode)
		_, _ = io.Copy(w, a.Body)
	}))
	for _, c := range []struct {
		dataset string
		more    []string
		debits  int
		code    int
		want    string
	}{
		{"one", nil, 1, exitFailed, "--again makes one"},
		{"two", []string{"--again"}, 2, exitFailed, "2 times on data set"},
		{"none", []string{"--ledger", "none"}, 0, exitFailed, "--again"},
		{"capped", []string{"--again"}, 1, exitBudget, "cap"},
	} {
		book = filepath.Join(t.TempDir(), "me.db")
		if c.dataset == "capped" {
			must(t, "ledger", "cap", "demo", "--mu", "0.3", "--unit", "person", "--local", "--ledger", book)
		}
		if code, out := contribute(slow, c.more...); code != c.code || !strings.Contains(out, c.want) || !strings.Contains(out, "came too late") || !strings.Contains(out, "spent ε = 1") {
			t.Errorf("%s: exit %d, %s", c.dataset, code, out)
		}
		if exists("demo.report.json") {
			t.Errorf("%s: a report that will not be taken was kept", c.dataset)
		}
		if c.debits > 0 {
			debits(t, book, c.debits)
		}
	}
}

// A report that waits for one collector is not thrown away because another has a stream of the same name.
func TestContributeKeepsTheReportOfAnotherStream(t *testing.T) {
	t.Chdir(t.TempDir())
	url, token, _, stop := serving(t, "--data", "one")
	openStream(t, http.DefaultClient, url, token, "")
	broken := front(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, err := http.Get(url + r.URL.Path)
		if err != nil || r.Method == "POST" {
			panic(http.ErrAbortHandler)
		}
		defer a.Body.Close()
		_, _ = io.Copy(w, a.Body)
	}))
	book := filepath.Join(t.TempDir(), "me.db")
	call(t, "contribute", broken, "demo", "--x", "0.3", "--y", "1.2", "--ledger", book, "--patience", "200ms")
	if !exists("demo.report.json") {
		t.Fatal("no report was kept")
	}
	other, token, _, _ := serving(t, "--data", "two")
	openStream(t, http.DefaultClient, other, token, `,"staleness":3`)
	code, _, stderr := call(t, "contribute", other, "demo", "--ledger", book)
	if code != exitFailed || !strings.Contains(stderr, "--report") || !exists("demo.report.json") {
		t.Errorf("exit %d, %s", code, stderr)
	}
	if stdout, _ := must(t, "contribute", url, "demo", "--ledger", book); !strings.Contains(stdout, "stands at 1 report") {
		t.Error(stdout)
	}
	stop()
}

// front is a server in front of a collector.
func front(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// debits checks how many the data set of the stream has.
func debits(t *testing.T, path string, want int) {
	t.Helper()
	l, err := ledger.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if s, err := l.Show(t.Context(), "demo"); err != nil || s.Debits != int64(want) {
		t.Errorf("the ledger has %+v (%v), want %d debits", s, err, want)
	}
}
