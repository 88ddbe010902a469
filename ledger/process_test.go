package ledger

// Real processes: this test binary, started again with CURVEIL_LEDGER_HELPER set, releases under a cap while others do the
// same and while it is killed. A release here is a file, written after the debit, named after the debit's hash.

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/curveil/curveil/privacy"
)

// helper is what a helper process does. Its environment gives the ledger, the folder of the releases, a data set and a μ; it
// answers on standard output.
//
//	race   for each data set named on standard input, debit μ once: "won" or "refused"
//	count  debit, release and complete as often as standard input's one line says: "granted N refused M"
//	loop   debit, release and complete until killed; once refused, on the data set "free"
func helper(mode string) int {
	ctx := context.Background()
	mu, err := strconv.ParseFloat(os.Getenv("CURVEIL_LEDGER_MU"), 64)
	if err != nil {
		return complain(err)
	}
	l, err := Open(ctx, os.Getenv("CURVEIL_LEDGER_WHERE"))
	if err != nil {
		return complain(err)
	}
	defer l.Close()
	dir, dataset := os.Getenv("CURVEIL_LEDGER_DIR"), os.Getenv("CURVEIL_LEDGER_DATASET")
	fmt.Println("ready")
	input := bufio.NewScanner(os.Stdin)
	switch mode {
	case "race":
		for input.Scan() {
			won, err := releaseOnce(ctx, l, dir, input.Text(), privacy.GDP(mu))
			if err != nil {
				return complain(err)
			}
			fmt.Println(map[bool]string{true: "won", false: "refused"}[won])
		}
	case "count":
		input.Scan()
		n, err := strconv.Atoi(input.Text())
		if err != nil {
			return complain(err)
		}
		granted := 0
		for range n {
			won, err := releaseOnce(ctx, l, dir, dataset, privacy.GDP(mu))
			if err != nil {
				return complain(err)
			}
			if won {
				granted++
			}
		}
		fmt.Printf("granted %d refused %d\n", granted, n-granted)
	case "loop":
		for {
			won, err := releaseOnce(ctx, l, dir, dataset, privacy.GDP(mu))
			if err != nil {
				return complain(err)
			}
			if !won {
				dataset = "free"
			}
		}
	default:
		return complain(fmt.Errorf("unknown mode %q", mode))
	}
	return 0
}

func complain(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// releaseOnce is the life of a release: debit, noise, file, completion.
func releaseOnce(ctx context.Context, l *Ledger, dir, dataset string, mu privacy.GDP) (bool, error) {
	e := Entry{Dataset: dataset, Who: fmt.Sprintf("process %d", os.Getpid()), Verb: "mean", Statement: patients(mu)}
	receipt, err := l.Debit(ctx, e)
	var over *OverspendError
	if errors.As(err, &over) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	release := fmt.Appendf(nil, "%s %d %x\n", receipt.Hash, receipt.Seq, rand.Uint64())
	name := filepath.Join(dir, receipt.Hash)
	if err := os.WriteFile(name+".part", release, 0o600); err != nil {
		return false, err
	}
	if err := os.Rename(name+".part", name); err != nil {
		return false, err
	}
	return true, receipt.Complete(ctx, sha256.Sum256(release))
}

// process is a running helper.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Scanner
	stderr *strings.Builder
}

func start(t *testing.T, mode, where, dir, dataset string, mu float64) *process {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: exec.Command(exe), stderr: &strings.Builder{}}
	p.cmd.Env = append(os.Environ(), "CURVEIL_LEDGER_HELPER="+mode, "CURVEIL_LEDGER_WHERE="+where, "CURVEIL_LEDGER_DIR="+dir,
		"CURVEIL_LEDGER_DATASET="+dataset, fmt.Sprintf("CURVEIL_LEDGER_MU=%g", mu))
	p.cmd.Stderr = p.stderr
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewScanner(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.cmd.Process.Kill() })
	return p
}

// line reads a line of the helper's output; empty when it ended.
func (p *process) line() string {
	if !p.out.Scan() {
		return ""
	}
	return p.out.Text()
}

func (p *process) expect(t *testing.T, want string) {
	t.Helper()
	if got := p.line(); got != want {
		p.cmd.Wait()
		t.Fatalf("helper said %q, want %q: %s", got, want, p.stderr)
	}
}

// Two processes race for the last of the budget: exactly one wins.
func TestRaceOfProcesses(t *testing.T) {
	onBothAtOnce(t, func(t *testing.T, where string) {
		l := open(t, where)
		dir := t.TempDir()
		const mu, rounds = 0.6, 25
		a, b := start(t, "race", where, dir, "", mu), start(t, "race", where, dir, "", mu)
		a.expect(t, "ready")
		b.expect(t, "ready")
		wins := map[string]int{}
		for i := range rounds {
			dataset := fmt.Sprintf("round %d", i)
			mustCap(t, l, dataset, privacy.GDP(1))
			mustDebit(t, l, entry(dataset, privacy.GDP(0.8))) // 0.6 is left: √(1−0.64)
			fmt.Fprintln(a.in, dataset)
			fmt.Fprintln(b.in, dataset)
			ra, rb := a.line(), b.line()
			if !(ra == "won" && rb == "refused" || ra == "refused" && rb == "won") {
				t.Fatalf("round %d: %q and %q %s %s", i, ra, rb, a.stderr, b.stderr)
			}
			wins[map[bool]string{true: "a", false: "b"}[ra == "won"]]++
			s, err := l.Show(t.Context(), dataset)
			if err != nil {
				t.Fatal(err)
			}
			if s.Spent != privacy.Guarantee(privacy.GDP(1)) {
				t.Fatalf("round %d: spent %v of 1", i, s.Spent)
			}
		}
		t.Logf("wins: %v", wins)
		mustVerify(t, l)
	})
}

// Eight processes, 200 releases each, against a cap for 1580 of the 1600: the cap is spent exactly.
func TestManyProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("many processes: left out with -short")
	}
	onBothAtOnce(t, func(t *testing.T, where string) {
		l := open(t, where)
		dir := t.TempDir()
		const processes, each = 8, 200
		mustCap(t, l, "d", privacy.ZCDP(7.9)) // 1580·0.1² = 2·7.9
		var ps []*process
		for range processes {
			ps = append(ps, start(t, "count", where, dir, "d", 0.1))
		}
		for _, p := range ps {
			p.expect(t, "ready")
		}
		begin := time.Now()
		for _, p := range ps {
			fmt.Fprintln(p.in, each)
		}
		granted := 0
		for _, p := range ps {
			var g, r int
			if _, err := fmt.Sscanf(p.line(), "granted %d refused %d", &g, &r); err != nil || g+r != each {
				p.cmd.Wait()
				t.Fatalf("%v, %d granted, %d refused: %s", err, g, r, p.stderr)
			}
			granted += g
		}
		t.Logf("%d releases by %d processes in %v", granted, processes, time.Since(begin).Round(time.Millisecond))
		if granted != 1580 {
			t.Errorf("%d releases were granted, want 1580", granted)
		}
		s, err := l.Show(t.Context(), "d")
		if err != nil {
			t.Fatal(err)
		}
		if s.Debits != 1580 || s.Unreleased != 0 || s.Fits != privacy.Guarantee(privacy.GDP(0)) {
			t.Errorf("%+v", s)
		}
		mustVerify(t, l)
		checkReleases(t, l, dir, "d")
	})
}

// checkReleases: every file of the folder is a release whose debit is in the history, and completed releases have their file.
func checkReleases(t *testing.T, l *Ledger, dir string, datasets ...string) (files, unreleased int) {
	t.Helper()
	debits := map[string]Event{}
	for _, dataset := range datasets {
		events, err := l.History(t.Context(), dataset)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if e.Kind == Debited {
				debits[e.Hash] = e
				if e.ReleasedBy == 0 {
					unreleased++
				}
			}
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range entries {
		name, part := strings.CutSuffix(f.Name(), ".part")
		e, ok := debits[name]
		if !ok {
			t.Errorf("release %s has no debit", f.Name())
			continue
		}
		if part {
			continue
		}
		files++
		data, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(data)
		if e.ReleasedBy != 0 && e.Release != hex.EncodeToString(sum[:]) {
			t.Errorf("release %s is not the one recorded", name)
		}
		delete(debits, name)
	}
	for name, e := range debits {
		if e.ReleasedBy != 0 {
			t.Errorf("release %s is recorded and missing", name)
		}
	}
	return files, unreleased
}

// Processes are killed at random points of their releases, 200 times: nothing was released without a debit, no cap is exceeded, the
// chain holds.
func TestKill(t *testing.T) {
	if testing.Short() {
		t.Skip("many processes: left out with -short")
	}
	onBothAtOnce(t, func(t *testing.T, where string) {
		const kills, workers = 200, 4
		l := open(t, where)
		dir := t.TempDir()
		// The cap holds 40 releases; what comes after goes to a data set without one.
		mustCap(t, l, "d", privacy.ZCDP(0.002))
		const mu = 0.01
		// A helper lives for a few releases, however slow this machine is: between none and twelve undisturbed ones.
		begin := time.Now()
		const trial = 5
		for range trial {
			if _, err := releaseOnce(t.Context(), l, dir, "free", mu); err != nil {
				t.Fatal(err)
			}
		}
		life := min(max(12*time.Since(begin)/trial, 10*time.Millisecond), 200*time.Millisecond)
		killed := make(chan struct{}, kills)
		for range kills {
			killed <- struct{}{}
		}
		close(killed)
		var work sync.WaitGroup
		begin = time.Now()
		for w := range workers {
			rng := rand.New(rand.NewPCG(uint64(w), 77))
			work.Go(func() {
				for range killed {
					p := start(t, "loop", where, dir, "d", mu)
					if p.line() != "ready" {
						p.cmd.Wait()
						t.Errorf("helper did not start: %s", p.stderr)
						return
					}
					time.Sleep(time.Duration(rng.Int64N(int64(life))))
					p.cmd.Process.Kill()
					p.cmd.Wait()
					if s := p.stderr.String(); s != "" {
						t.Errorf("helper complained: %s", s)
					}
				}
			})
		}
		work.Wait()
		settle(t, l, "d", "free")
		files, unreleased := checkReleases(t, l, dir, "d", "free")
		s, err := l.Show(t.Context(), "d")
		if err != nil {
			t.Fatal(err)
		}
		free, err := l.Show(t.Context(), "free")
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d kills in %v: %d debits, %d releases, %d spent and not released", kills, time.Since(begin).Round(time.Millisecond), s.Debits+free.Debits, files, unreleased)
		// Helpers turn to the other data set only when the cap is spent.
		if s.Debits > 40 || s.Debits < 40 && free.Debits > trial {
			t.Errorf("%d debits and %v under a cap for 40, %d elsewhere", s.Debits, s.Spent, free.Debits-trial)
		}
		if int64(unreleased) != s.Unreleased+free.Unreleased || files == 0 || unreleased == 0 {
			t.Errorf("%d releases, %d unreleased, the ledger says %d and %d", files, unreleased, s.Unreleased, free.Unreleased)
		}
		mustVerify(t, l)
	})
}

// settle waits until a server has finished what killed clients had sent it: a
// COMMIT that has arrived is carried out, and would come between two readings.
func settle(t *testing.T, l *Ledger, datasets ...string) {
	t.Helper()
	last := ""
	for quiet := 0; quiet < 10; quiet++ {
		now := ""
		for _, name := range datasets {
			s, err := l.Show(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			now += s.Head
		}
		if now != last {
			quiet, last = 0, now
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func BenchmarkDebit(b *testing.B) {
	for _, kind := range []string{"sqlite", "postgres"} {
		b.Run(kind, func(b *testing.B) {
			where := filepath.Join(b.TempDir(), "l.db")
			if kind == "postgres" {
				where = postgresURL(b)
			}
			l := open(b, where)
			mustCap(b, l, "d", privacy.GDP(1e3))
			for b.Loop() {
				mustDebit(b, l, entry("d", privacy.GDP(1e-3)))
			}
		})
	}
}

func BenchmarkVerify(b *testing.B) {
	l := open(b, filepath.Join(b.TempDir(), "l.db"))
	for range 1000 {
		mustDebit(b, l, entry("d", privacy.GDP(1e-3)))
	}
	for b.Loop() {
		mustVerify(b, l)
	}
}

func BenchmarkHistory(b *testing.B) {
	l := open(b, filepath.Join(b.TempDir(), "l.db"))
	for range 1000 {
		mustDebit(b, l, entry("d", privacy.GDP(1e-3)))
	}
	for b.Loop() {
		if _, err := l.History(b.Context(), "d"); err != nil {
			b.Fatal(err)
		}
	}
}
