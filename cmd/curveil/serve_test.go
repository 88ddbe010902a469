package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// serving runs `curveil serve` in this process and returns what it printed up to the end of the greeting; stop interrupts it and
// returns the exit code.
func serving(t *testing.T, args ...string) (url, token, greeting string, stop func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe()
	code := make(chan int, 1)
	var stderr strings.Builder
	go func() {
		code <- run(ctx, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...), strings.NewReader(""), w, &stderr)
		w.Close()
	}()
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		greeting += lines.Text() + "\n"
		if strings.Contains(lines.Text(), "curveil contribute") {
			break
		}
	}
	go func() { _, _ = io.Copy(io.Discard, r) }()
	url = regexp.MustCompile(`https?://[0-9.:]+`).FindString(greeting)
	token = regexp.MustCompile(`curveil-admin-\w+`).FindString(greeting)
	var once sync.Once
	end := -1
	stop = func() int {
		once.Do(func() {
			cancel()
			end = <-code
			if end != 0 {
				t.Errorf("serve: exit %d\n%s", end, &stderr)
			}
		})
		return end
	}
	t.Cleanup(func() { stop() })
	if url == "" {
		stop()
		t.Fatalf("no address printed:\n%s\n%s", greeting, &stderr)
	}
	return url, token, greeting, stop
}

func TestServeAndContribute(t *testing.T) {
	t.Chdir(t.TempDir())
	url, token, greeting, stop := serving(t)
	if token == "" || strings.Count(greeting, "shown this once") != 1 {
		t.Fatalf("greeting:\n%s", greeting)
	}
	// The curl line as it was printed.
	body := regexp.MustCompile(`-d '(.*)' `).FindStringSubmatch(greeting)[1]
	q, err := http.NewRequest("POST", url+"/v1/streams", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+token)
	q.Header.Set("Content-Type", "application/json")
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	a.Body.Close()
	if a.StatusCode != 201 {
		t.Fatalf("the printed curl line: %s", a.Status)
	}
	ledger := filepath.Join(t.TempDir(), "me.db")
	stdout, _ := must(t, "contribute", url, "demo", "--x", "0.3", "--y", "1.2", "--ledger", ledger)
	if !strings.Contains(stdout, "stands at 1 report\n") {
		t.Error(stdout)
	}
	if exists("demo.report.json") {
		t.Error("the report was kept after it had been taken")
	}
	stdout, _ = must(t, "ledger", "show", "--ledger", ledger)
	if !strings.Contains(stdout, "demo") {
		t.Errorf("the person's ledger lacks the expense:\n%s", stdout)
	}
	var out, errs strings.Builder
	if code := run(t.Context(), []string{"contribute", url, "demo", "--ledger", "none", "--json"}, strings.NewReader("0.4,1.0\n"), &out, &errs); code != 0 || !json.Valid([]byte(out.String())) {
		t.Errorf("from standard input: %d %s %s", code, &out, &errs)
	}
	if code, _, stderr := call(t, "contribute", url, "demo", "--x", "0.3", "--y", "1.2", "--ledger", "none", "--max-epsilon", "0.5"); code != exitFailed || !strings.Contains(stderr, "ceiling") {
		t.Errorf("ceiling: %d %s", code, stderr)
	}
	must(t, "ledger", "cap", "mine", "--mu", "0.1", "--unit", "person", "--local", "--ledger", ledger)
	if code, _, stderr := call(t, "contribute", url, "demo", "--x", "0.3", "--y", "1.2", "--ledger", ledger, "--dataset", "mine"); code != exitBudget {
		t.Errorf("no budget: %d %s", code, stderr)
	}
	stop()
	if code, _, _ := call(t, "contribute", url, "demo", "--x", "0.3", "--y", "1.2", "--ledger", "none", "--patience", "1s"); code != exitFailed {
		t.Error("contributed to a collector that has stopped")
	}

	// Again: the same curve, no token printed.
	url, token, greeting, _ = serving(t)
	if token != "" || !strings.Contains(greeting, "1 stream)") {
		t.Errorf("second start:\n%s", greeting)
	}
	a, err = http.Get(url + "/v1/streams/demo")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	var s struct{ At int }
	if err := json.NewDecoder(a.Body).Decode(&s); err != nil || s.At != 2 {
		t.Errorf("after a restart at %d, %v", s.At, err)
	}
}

// The printed line can be pasted at every start: the shell fills in the token, and the stream is a new one.
func TestServePrintsWhatWorks(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh here")
	}
	t.Chdir(t.TempDir())
	token := ""
	for i, name := range []string{"demo", "demo2", "demo3"} {
		url, shown, greeting, stop := serving(t)
		if i == 0 {
			token = shown
		} else if !strings.Contains(greeting, "export CURVEIL_ADMIN=") {
			t.Errorf("nothing said of the variable:\n%s", greeting)
		}
		line := regexp.MustCompile(`(?m)^  curl .*$`).FindString(greeting)
		run := exec.Command(shell, "-c", `curl() { for a in "$@"; do printf '%s\n' "$a"; done; }; `+line)
		run.Env = append(os.Environ(), "CURVEIL_ADMIN="+token)
		out, err := run.Output()
		if err != nil {
			t.Fatal(err)
		}
		words := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
		if len(words) != 7 || words[1] != "Authorization: Bearer "+token || words[6] != url+"/v1/streams" {
			t.Fatalf("the shell makes of it %q", words)
		}
		if code := postStream(t, http.DefaultClient, url, strings.TrimPrefix(words[1], "Authorization: Bearer "), words[5]); code != 201 {
			t.Errorf("the printed line answers %d at start %d", code, i+1)
		}
		if !strings.Contains(greeting, "curveil contribute "+url+" "+name+" ") {
			t.Errorf("contribute to another stream than %s:\n%s", name, greeting)
		}
		stop()
	}
	// An address that stands for all of this machine's is printed as one that can be reached.
	url, _, _, _ := serving(t, "--listen", "0.0.0.0:0")
	if !strings.HasPrefix(url, "http://127.0.0.1:") {
		t.Errorf("listening on all addresses prints %s", url)
	}
	if a, err := http.Get(url + "/healthz"); err != nil || a.StatusCode != 200 {
		t.Error(err)
	}
}

// A report whose answer was lost is sent again, the same, and costs nothing more.
func TestContributeAgainAfterFailure(t *testing.T) {
	t.Chdir(t.TempDir())
	url, token, greeting, stop := serving(t)
	body := regexp.MustCompile(`-d '(.*)' `).FindStringSubmatch(greeting)[1]
	q, _ := http.NewRequest("POST", url+"/v1/streams", strings.NewReader(body))
	q.Header.Set("Authorization", "Bearer "+token)
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	a.Body.Close()
	// A proxy that loses every answer to a report.
	proxy := http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q, _ := http.NewRequest(r.Method, url+r.URL.Path, r.Body)
		q.Header.Set("Content-Type", r.Header.Get("Content-Type"))
		a, err := http.DefaultClient.Do(q)
		if err != nil || r.Method == "POST" {
			panic(http.ErrAbortHandler)
		}
		defer a.Body.Close()
		_, _ = io.Copy(w, a.Body)
	})}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = proxy.Serve(l) }()
	defer proxy.Close()
	ledger := filepath.Join(t.TempDir(), "me.db")
	code, _, stderr := call(t, "contribute", "http://"+l.Addr().String(), "demo", "--x", "0.3", "--y", "1.2", "--ledger", ledger, "--patience", "500ms")
	if code != exitFailed || !strings.Contains(stderr, "call again") || !exists("demo.report.json") {
		t.Fatalf("%d %s", code, stderr)
	}
	before, _ := must(t, "ledger", "show", "--ledger", ledger)
	stdout, _ := must(t, "contribute", url, "demo", "--ledger", ledger)
	if !strings.Contains(stdout, "had the report already; the curve stands at 1") {
		t.Error(stdout)
	}
	if after, _ := must(t, "ledger", "show", "--ledger", ledger); after != before {
		t.Errorf("the second call cost:\n%s\n%s", before, after)
	}
	stop()
}

func TestServeRefusals(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		code int
		args []string
	}{
		{exitUsage, []string{"serve", "x"}},
		{exitUsage, []string{"serve", "--log-level", "loud"}},
		{exitUsage, []string{"serve", "--tls-cert", "a"}},
		{exitUsage, []string{"serve", "--rate", "-1", "--listen", "127.0.0.1:0"}},
		{exitFailed, []string{"serve", "--data", file, "--listen", "127.0.0.1:0"}},
		{exitFailed, []string{"serve", "--tls-cert", file, "--tls-key", file}},
		{exitUsage, []string{"contribute", "http://127.0.0.1:1"}},
		{exitUsage, []string{"contribute", "127.0.0.1:1", "demo", "--x", "1", "--y", "1"}},
		{exitUsage, []string{"contribute", "http://127.0.0.1:1", "demo", "--x", "1"}},
		{exitUsage, []string{"contribute", "http://127.0.0.1:1", "demo"}},
	} {
		if code, _, stderr := call(t, c.args...); code != c.code || stderr == "" {
			t.Errorf("%v: exit %d, %s", c.args, code, stderr)
		}
	}
}

func TestRegress(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "survey.csv")
	var b strings.Builder
	b.WriteString("age,height\n")
	for i := range 500 {
		fmt.Fprintf(&b, "%d,%d\n", 1+i%17, 80+5*(i%17)+i%3)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	flags := []string{"--domain", "1:18", "--tau", "8", "--epsilon", "1", "--delta", "1e-6", "--center", "120"}
	out := filepath.Join(dir, "c.json")
	stdout, _ := must(t, append([]string{"regress", path, "--x", "age", "--y", "height", "-o", out, "--ledger", filepath.Join(dir, "l.db")}, flags...)...)
	if !strings.Contains(stdout, "n = 500") || !strings.Contains(stdout, "local person") {
		t.Error(stdout)
	}
	must(t, "show", out)
	_, stderr := must(t, append([]string{"regress", path, "--x", "age", "--y", "height", "--ledger", "none"}, append(flags, "--delta", "0.01")...)...)
	if !strings.Contains(stderr, "hardly privacy") {
		t.Errorf("no warning of δ > 1/n: %s", stderr)
	}
	stdout, _ = must(t, append([]string{"plan", "regression", "--n", "1e3,1e5"}, flags...)...)
	if !strings.Contains(stdout, "100000") {
		t.Error(stdout)
	}
	for _, args := range [][]string{
		{"regress", path, "--x", "age", "--y", "height"},
		append([]string{"regress", path, "--x", "age"}, flags...),
		append([]string{"regress", path, "--x", "age,height", "--y", "height"}, flags...),
		append([]string{"regress", path, "--x", "age", "--y", "height", "--steps", "odd"}, flags...),
		append([]string{"regress", path, "--x", "age", "--y", "height", "--steps", "paper"}, flags...),
		append([]string{"plan", "regression", "--n", "0"}, flags...),
	} {
		if code, _, stderr := call(t, args...); code != exitUsage {
			t.Errorf("%v: exit %d, %s", args, code, stderr)
		}
	}
}

// A person's rows make one report; a table with a column that tells people apart is refused until somebody says what a row is.
func TestRegressCountsPeople(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "visits.csv")
	var b strings.Builder
	b.WriteString("patient,age,height\n")
	for i := range 300 {
		fmt.Fprintf(&b, "p%d,%d,%d\n", i/3, 1+i%17, 80+5*(i%17))
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	flags := []string{"--x", "age", "--y", "height", "--domain", "1:18", "--tau", "8", "--epsilon", "1", "--delta", "1e-6", "--center", "120"}
	regress := func(more ...string) []string { return append(append([]string{"regress", path}, flags...), more...) }
	ledger := filepath.Join(dir, "l.db")
	if code, _, stderr := call(t, regress("--ledger", ledger)...); code != exitUsage || !strings.Contains(stderr, "--unit patient") {
		t.Errorf("an unnamed person column: exit %d, %s", code, stderr)
	}
	if exists(ledger) {
		t.Error("a ledger was opened for a refused call")
	}
	out, picture := filepath.Join(dir, "c.json"), filepath.Join(dir, "c.svg")
	stdout, _ := must(t, regress("--unit", "patient", "-o", out, "--plot", picture, "--ledger", ledger)...)
	if !strings.Contains(stdout, "n = 100,") || !strings.Contains(stdout, "local patient") {
		t.Error(stdout)
	}
	svg, err := os.ReadFile(picture)
	if err != nil || !strings.Contains(string(svg), ">age<") || !strings.Contains(string(svg), ">height<") {
		t.Errorf("the picture lacks the columns' names at its axes: %v", err)
	}
	stdout, _ = must(t, regress("--unit", "-", "--ledger", "none", "-o", filepath.Join(dir, "rows.json"))...)
	if !strings.Contains(stdout, "n = 300,") || !strings.Contains(stdout, "local row") {
		t.Error(stdout)
	}
	if code, _, stderr := call(t, regress("--unit", "patient", "--n", "300", "--ledger", "none")...); code != exitFailed || !strings.Contains(stderr, "100 people") {
		t.Errorf("another number of people: exit %d, %s", code, stderr)
	}
	if _, stderr := must(t, regress("--unit", "patient", "--epsilon", "40", "--ledger", "none")...); !strings.Contains(stderr, "ε = 40 protects hardly anybody") {
		t.Errorf("no warning of ε = 40: %s", stderr)
	}
	scattered := filepath.Join(dir, "scattered.csv")
	if err := os.WriteFile(scattered, []byte("patient,age,height\na,3,90\nb,4,100\na,5,110\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := call(t, append([]string{"regress", scattered, "--unit", "patient", "--ledger", ledger}, flags...)...); code != exitFailed || !strings.Contains(stderr, "scattered.csv:4") {
		t.Errorf("a person who comes back: exit %d, %s", code, stderr)
	}
}

func TestPlanRegressionSteps(t *testing.T) {
	flags := []string{"plan", "regression", "--n", "1000,1000000", "--domain", "1:18", "--tau", "8", "--epsilon", "1", "--delta", "1e-6", "--json"}
	read := func(more ...string) (out struct {
		Predictions []struct{ Error, Default float64 }
	}) {
		stdout, _ := must(t, append(flags, more...)...)
		if err := json.Unmarshal([]byte(stdout), &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	smooth, rough := read(), read("--smoothness", "0.5")
	for i, p := range smooth.Predictions {
		if p.Default < p.Error*(1-1e-9) || rough.Predictions[i].Error != p.Error {
			t.Errorf("%+v, %+v", p, rough.Predictions[i])
		}
	}
	if smooth.Predictions[0].Default != rough.Predictions[0].Default || smooth.Predictions[1].Default <= rough.Predictions[1].Default {
		t.Errorf("smoothness: %+v, %+v", smooth, rough)
	}
	for _, r := range []string{"0", "1.1", "NaN"} {
		if code, _, stderr := call(t, append(flags, "--smoothness", r)...); code != exitUsage {
			t.Errorf("--smoothness %s: exit %d, %s", r, code, stderr)
		}
	}
}

// openStream opens the stream "demo".
func openStream(t *testing.T, client *http.Client, url, token, more string) {
	t.Helper()
	if code := postStream(t, client, url, token, `{"name":"demo","space":"kernel:gauss:20%","domain":[0,1],"tau":0.7,"epsilon":1,"delta":1e-6,"people":10000`+more+`}`); code != 201 {
		t.Fatal(code)
	}
}

func postStream(t *testing.T, client *http.Client, url, token, body string) int {
	t.Helper()
	q, err := http.NewRequest("POST", url+"/v1/streams", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+token)
	q.Header.Set("Content-Type", "application/json")
	a, err := client.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	a.Body.Close()
	return a.StatusCode
}
