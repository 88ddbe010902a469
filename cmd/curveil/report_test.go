package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

const chromium = "/usr/bin/chromium"

// inBrowser loads the page in Chromium, at the width, moves the pointer over its
// first picture, and returns the document as it then stands. Messages on the
// console, such as script errors, fail the test.
func inBrowser(t *testing.T, page string, width string) string {
	t.Helper()
	if _, err := os.Stat(chromium); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("CI needs Chromium: Debian's package chromium")
		}
		t.Skip("no Chromium here (Debian's package chromium)")
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	moved := filepath.Join(t.TempDir(), "moved.html")
	move := `<script>{const c=document.querySelector("canvas"),b=c.getBoundingClientRect();
c.dispatchEvent(new PointerEvent("pointermove",{clientX:b.left+b.width*.5,clientY:b.top+b.height*.4}));
document.body.dataset.wide=document.documentElement.scrollWidth>window.innerWidth;}</script>`
	if err := os.WriteFile(moved, append(text, move...), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--user-data-dir="+t.TempDir(),
		"--enable-logging=stderr", "--window-size="+width+",900", "--dump-dom", "file://"+moved)
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	if err := cmd.Run(); err != nil {
		t.Fatalf("chromium: %v\n%s", err, log.String())
	}
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, "CONSOLE") {
			t.Errorf("the page complains: %s", line)
		}
	}
	return out.String()
}

func TestReportPage(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	dir := t.TempDir()
	rel, page := filepath.Join(dir, "m.json"), filepath.Join(dir, "m.html")
	must(t, "mean", cohort(t), "--bound", "5", "--mu", "1", "--space", "legendre:3", "-o", rel, "--dataset", "page",
		"--x-label", `age </script><b>`, "--unit-name", "child")
	must(t, "report", rel, "-o", page)
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if found := regexp.MustCompile(`(src|href)="?https?:|url\(|@import|fetch\(`).FindString(string(text)); found != "" {
		t.Errorf("the page reaches out: %q", found)
	}
	if !strings.Contains(string(text), `content="default-src 'none'`) {
		t.Error("the browser is not told to refuse all loading")
	}
	if strings.Contains(string(text), "</script><b>") {
		t.Error("a label gets out of its place")
	}
	read := regexp.MustCompile(`(?s)<p class="read">(.*?)</p>`)
	for _, width := range []string{"1000", "500"} {
		document := inBrowser(t, page, width)
		got := read.FindStringSubmatch(document)
		if got == nil || !strings.Contains(got[1], "value ") || !strings.Contains(got[1], "of the privacy noise") {
			t.Errorf("width %s: under the pointer: %q", width, got)
		}
		if !strings.Contains(document, `data-wide="false"`) {
			t.Errorf("width %s: the page is wider than the screen", width)
		}
		for _, want := range []string{"per child", "at most 69 %", "curveil eval release.json"} {
			if !strings.Contains(document, want) {
				t.Errorf("width %s: the page lacks %q", width, want)
			}
		}
	}
	points := filepath.Join(dir, "p.csv")
	if err := os.WriteFile(points, []byte("x,y\n"+strings.Repeat("0.2,0.3\n0.5,0.7\n0.8,0.1\n", 100)), 0o644); err != nil {
		t.Fatal(err)
	}
	d := filepath.Join(dir, "d.json")
	must(t, "density", points, "--columns", "x,y", "--bounds", "0:1,0:1", "--rho", "1", "-o", d)
	must(t, "report", d, "-o", page)
	if got := read.FindStringSubmatch(inBrowser(t, page, "1000")); got == nil || !strings.Contains(got[1], "density ") {
		t.Errorf("density: under the pointer: %q", got)
	}

	// A track, read off in the plane, and three releases on one page, on a telephone.
	track := filepath.Join(dir, "track.csv")
	var rows strings.Builder
	rows.WriteString("time,lat,lon\n")
	for i := range 61 {
		fmt.Fprintf(&rows, "%d,%.5f,%.5f\n", 1211058000+60*i, 37.77+0.0005*float64(i), -122.42+0.0003*float64(i%20))
	}
	if err := os.WriteFile(track, []byte(rows.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	c := filepath.Join(dir, "c.json")
	must(t, "curve", track, "--rho", "0.01", "--window", "1211058000:1211061600", "--every", "60", "--max-gap", "90", "--origin", "37.77,-122.42",
		"-o", filepath.Join(dir, "private.csv"), "--release", c)
	must(t, "report", c, rel, d, "-o", page)
	document := inBrowser(t, page, "500")
	if got := read.FindAllStringSubmatch(document, -1); len(got) != 3 || !strings.Contains(got[0][1], "nearest place of the track, time (UTC) = 2008-05-17 2") {
		t.Errorf("three releases: under the pointer: %q", got)
	}
	for _, want := range []string{"60 % if they are 3.58 m apart", "2008-05-17T21:00:00Z to 2008-05-17T22:00:00Z", "<title>Private releases</title>", `data-wide="false"`} {
		if !strings.Contains(document, want) {
			t.Errorf("three releases: the page lacks %q", want)
		}
	}
}
