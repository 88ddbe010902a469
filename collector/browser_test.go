package collector

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/curveil/curveil/regression"
)

const chromium = "/usr/bin/chromium"

// browser starts Chromium, or skips where there is none; CI has one.
func browser(t *testing.T) context.Context {
	t.Helper()
	if _, err := os.Stat(chromium); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("CI needs Chromium: Debian's package chromium")
		}
		t.Skip("no Chromium here (Debian's package chromium)")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.UserDataDir(t.TempDir()))
	allocator, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancelTab := chromedp.NewContext(allocator)
	t.Cleanup(cancelTab)
	ctx, cancelTime := context.WithTimeout(ctx, 60*time.Second)
	t.Cleanup(cancelTime)
	return ctx
}

// faults collects what goes wrong in the page, and what it fetches.
type faults struct {
	mu       sync.Mutex
	errors   []string
	requests []string
}

func watch(t *testing.T, ctx context.Context) *faults {
	t.Helper()
	f := &faults{}
	err := chromedp.Listen(ctx, func(event any) {
		f.mu.Lock()
		defer f.mu.Unlock()
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			f.errors = append(f.errors, fmt.Sprintf("%s line %d of %s", e.ExceptionDetails.Text, e.ExceptionDetails.LineNumber, e.ExceptionDetails.URL))
		case *runtime.EventConsoleAPICalled:
			if e.Type == "error" {
				f.errors = append(f.errors, fmt.Sprint(e.Args))
			}
		case *log.EventEntryAdded:
			if e.Entry.Level == "error" {
				f.errors = append(f.errors, e.Entry.Text+" "+e.Entry.URL)
			}
		case *network.EventRequestWillBeSent:
			f.requests = append(f.requests, e.Request.URL)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, log.Enable, cdp.Empty{}); err != nil {
		t.Fatal(err)
	}
	return f
}

// inPage runs an action, which must succeed.
func inPage[T any](t *testing.T, ctx context.Context, a chromedp.Action[T]) T {
	t.Helper()
	v, err := chromedp.Run(ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func attribute(t *testing.T, ctx context.Context, query, name string) string {
	t.Helper()
	return inPage(t, ctx, chromedp.AttributeValue(chromedp.CSS(query), name)).Value
}

func TestLivePage(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	ctx := browser(t)
	s := start(t, HandlerConfig{})
	stream := testStream(t, "heights")
	stream.XLabel, stream.YLabel = "age in years", "height in cm"
	create(t, s.c, Definition{Stream: stream, People: 1000})
	f := watch(t, ctx)
	// The page's events within reach of the test.
	if _, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
		Source: `const original = EventSource; window.EventSource = function (address) { return window.source = new original(address); };`}); err != nil {
		t.Fatal(err)
	}
	const curve = "#panels svg path.curve"
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(375, 667, chromedp.EmulateScale(2), chromedp.EmulateMobile, chromedp.EmulatePortrait),
		chromedp.Navigate(s.url+"/streams/heights"), chromedp.WaitVisible(chromedp.CSS(curve))); err != nil {
		t.Fatal(err)
	}
	// The curve moves as reports arrive.
	seen := map[string]bool{attribute(t, ctx, curve, "d"): true}
	remote, err := NewRemote(s.url, "heights")
	if err != nil {
		t.Fatal(err)
	}
	model, err := remote.Model(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	client, err := regression.NewClient(model, regression.ClientConfig{Ledger: &counting{1000}})
	if err != nil {
		t.Fatal(err)
	}
	sent := 0
	for range 3 {
		for range 20 {
			if _, err := remote.Contribute(t.Context(), client, []float64{float64(sent%20) / 20}, 1, nil); err != nil {
				t.Fatal(err)
			}
			sent++
		}
		shown := fmt.Sprintf(`document.getElementById("count").textContent === "%d"`, sent)
		if _, err := chromedp.Run(ctx, chromedp.Poll[bool](shown, chromedp.WithPollingTimeout(10*time.Second))); err != nil {
			t.Fatalf("after %d reports the page does not show them: %v", sent, err)
		}
		now := attribute(t, ctx, curve, "d")
		if seen[now] {
			t.Errorf("after %d reports the curve has not moved", sent)
		}
		seen[now] = true
	}
	// How far so many reports can have taken it is on the page.
	want := strconv.FormatFloat(model.Stream.Reach(int64(sent)), 'g', 2, 64)
	if got := inPage(t, ctx, chromedp.Evaluate[string](`document.getElementById("reach").textContent`)); got != want {
		t.Errorf("the page says that %d reports take the curve %s, want %s", sent, got, want)
	}

	wide := inPage(t, ctx, chromedp.Evaluate[int](`document.scrollingElement.scrollWidth`))
	inner := inPage(t, ctx, chromedp.Evaluate[int](`window.innerWidth`))
	// Text in the picture is scaled with it.
	smallest := inPage(t, ctx, chromedp.Evaluate[float64](`Math.min(...[...document.querySelectorAll("main *")].filter(e => e.textContent.trim()).map(e => {
		const svg = e.ownerSVGElement; const k = svg ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1;
		return k * parseFloat(getComputedStyle(e).fontSize); }))`))
	band := attribute(t, ctx, "#panels svg path.area", "d")
	status := inPage(t, ctx, chromedp.Text(chromedp.CSS("#status")))
	if inner != 375 || wide > inner {
		t.Errorf("at phone width the page is %d wide in a window of %d", wide, inner)
	}
	if smallest < 12 {
		t.Errorf("smallest text has %.1f px", smallest)
	}
	if band == "" || status != "live" {
		t.Errorf("band %q, status %q", band, status)
	}
	// A band that is cut at the frame is said to be, no other is; with one report of a flat curve it is.
	cut := func() (shown, said bool) {
		shown = inPage(t, ctx, chromedp.Evaluate[bool](`/ (12|254)\.0[LZ]/.test(document.querySelector("#panels svg path.area").getAttribute("d"))`))
		return shown, inPage(t, ctx, chromedp.Evaluate[bool](`document.getElementById("cut").offsetHeight > 0`))
	}
	if shown, said := cut(); shown != said {
		t.Errorf("the band is cut: %v; said: %v", shown, said)
	}
	inPage(t, ctx, chromedp.Evaluate[bool](`source.dispatchEvent(new MessageEvent("curve", {data: JSON.stringify({at: 1, reach: 1,
		panels: [{x: [0, 0.5, 1], value: [0, 0.1, 0], low: [-9, -9, -9], high: [9, 9, 9]}]})}))`))
	if shown, said := cut(); !shown || !said {
		t.Errorf("a wide band is cut: %v; said: %v", shown, said)
	}
	if path := os.Getenv("CURVEIL_SCREENSHOT"); path != "" {
		png := inPage(t, ctx, chromedp.FullScreenshot(100))
		if err := os.WriteFile(path, png, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := chromedp.Do(ctx, chromedp.Navigate(s.url+"/"), chromedp.WaitVisible(chromedp.CSS(`a[href="/streams/heights"]`))); err != nil {
		t.Fatal(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.errors) > 0 {
		t.Errorf("errors in the page: %q", f.errors)
	}
	for _, url := range f.requests {
		if !strings.HasPrefix(url, s.url+"/") {
			t.Errorf("the page fetched %s", url)
		}
	}
	if len(f.requests) < 4 {
		t.Errorf("only %d requests seen: %q", len(f.requests), f.requests)
	}
}
