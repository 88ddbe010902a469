package ledger

// A PostgreSQL server for the tests: started from the installed binaries on loopback, with a data folder of its own
// that is removed afterwards. Debian: apt-get install -y postgresql-15.

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// server is the one server of this test binary; it starts with the first test that needs it.
var server struct {
	once    sync.Once
	err     error
	missing bool
	dir     string
	port    int
	credit  *syscall.Credential
	log     *os.File
	process *exec.Cmd
	bin     string
	schemas int
}

// postgresURL returns the URL of an empty schema of its own.
func postgresURL(t testing.TB) string {
	t.Helper()
	server.once.Do(func() { server.err = startServer() })
	if server.missing && os.Getenv("CI") != "true" {
		t.Skipf("no PostgreSQL: %v (apt-get install -y postgresql-15)", server.err)
	}
	if server.err != nil {
		t.Fatalf("PostgreSQL: %v", server.err)
	}
	server.schemas++
	name := fmt.Sprintf("t%d", server.schemas)
	db, err := sql.Open("pgx", serverURL(""))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("CREATE SCHEMA " + name); err != nil {
		t.Fatal(err)
	}
	return serverURL(name)
}

func serverURL(schema string) string {
	u := fmt.Sprintf("postgres://curveil@127.0.0.1:%d/postgres?sslmode=disable", server.port)
	if schema != "" {
		u += "&search_path=" + schema
	}
	return u
}

func binaries() (string, error) {
	var dirs []string
	if out, err := exec.Command("pg_config", "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(out)))
	}
	dirs = append(dirs, "/usr/lib/postgresql/15/bin")
	for _, dir := range dirs {
		if _, err := os.Stat(filepath.Join(dir, "initdb")); err == nil {
			if _, err := os.Stat(filepath.Join(dir, "postgres")); err == nil {
				return dir, nil
			}
		}
	}
	return "", fmt.Errorf("initdb and postgres are in none of %q", dirs)
}

func startServer() (err error) {
	if server.bin, err = binaries(); err != nil {
		server.missing = true
		return err
	}
	if server.dir, err = os.MkdirTemp("", "curveil-postgres-"); err != nil {
		return err
	}
	if os.Getuid() == 0 {
		// The server refuses to run as root; the package brings a user.
		u, err := user.Lookup("postgres")
		if err != nil {
			server.missing = true
			return fmt.Errorf("tests run as root and there is no user postgres: %w", err)
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		server.credit = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(server.dir, uid, gid); err != nil {
			return err
		}
	}
	initdb := exec.Command(filepath.Join(server.bin, "initdb"), "-D", dataDir(), "-U", "curveil", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	initdb.Dir, initdb.SysProcAttr = server.dir, &syscall.SysProcAttr{Credential: server.credit}
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	if server.log, err = os.CreateTemp("", "curveil-postgres-*.log"); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server.port = listener.Addr().(*net.TCPAddr).Port
	listener.Close()
	return launch()
}

func dataDir() string { return filepath.Join(server.dir, "data") }

// launch runs the server and waits until it answers.
func launch() error {
	p := exec.Command(filepath.Join(server.bin, "postgres"), "-D", dataDir(), "-h", "127.0.0.1", "-p", strconv.Itoa(server.port), "-k", server.dir)
	p.Dir, p.Stdout, p.Stderr = server.dir, server.log, server.log
	// Should this process die, its server stops at once too.
	p.SysProcAttr = &syscall.SysProcAttr{Credential: server.credit, Pdeathsig: syscall.SIGQUIT}
	started := make(chan error)
	go func() {
		// The death signal follows the thread that started the server: keep it for as long as the server runs.
		runtime.LockOSThread()
		err := p.Start()
		started <- err
		if err == nil {
			p.Wait()
		}
	}()
	if err := <-started; err != nil {
		return err
	}
	server.process = p
	db, err := sql.Open("pgx", serverURL(""))
	if err != nil {
		return err
	}
	defer db.Close()
	for range 300 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		err = db.PingContext(ctx)
		cancel()
		if err == nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	server.log.Seek(0, io.SeekStart)
	text, _ := io.ReadAll(server.log)
	return fmt.Errorf("the server does not answer: %w\n%s", err, text)
}

// halt sends the server's own process a signal and waits until the port is free: SIGINT for a fast shutdown, SIGQUIT for an
// immediate one that leaves recovery to the next start.
func halt(signal syscall.Signal) {
	if server.process == nil {
		return
	}
	server.process.Process.Signal(signal)
	for range 200 {
		if server.process.Process.Signal(syscall.Signal(0)) != nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	server.process = nil
}

func stopServer() {
	halt(syscall.SIGINT)
	if server.dir != "" {
		os.RemoveAll(server.dir)
	}
	if server.log != nil {
		server.log.Close()
		os.Remove(server.log.Name())
	}
}
