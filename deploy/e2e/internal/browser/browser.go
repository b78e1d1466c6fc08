// Package browser drives a real browser in system tests: what a page can do there is what people's pages can do.
package browser

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// programs are the names under which systems have the browser.
var programs = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}

// patience is how long one act in a page may take on a loaded machine.
const patience = 60 * time.Second

// Page is one tab of a browser of its own: no cookie, no cache, no extension. It is used by one goroutine at a time.
type Page struct {
	t   *testing.T
	ctx context.Context //nolint:containedctx // chromedp keeps the tab in it
}

// Open starts a browser with an empty page. It is gone when the test ends. Without a browser on this machine the test is skipped.
func Open(t *testing.T) *Page {
	t.Helper()
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(find(t)), chromedp.UserDataDir(t.TempDir()))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // root has none; it shows pages of our own hub alone
	}
	browser, closeBrowser := chromedp.NewExecAllocator(context.Background(), options...)
	tab, closeTab := chromedp.NewContext(browser)
	t.Cleanup(func() {
		if err := chromedp.Cancel(tab); err != nil { // which waits for the browser's end
			t.Errorf("end the browser: %v", err)
		}
		closeTab()
		closeBrowser()
	})
	if err := chromedp.Do(tab, chromedp.Navigate("about:blank")); err != nil { // the browser lasts as long as the context of the first act
		t.Fatalf("start the browser: %v", err)
	}
	return &Page{t: t, ctx: tab}
}

func find(t *testing.T) string {
	t.Helper()
	for _, name := range programs {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no browser here: scripts/test-services.sh installs Chromium")
	return ""
}

// Navigate shows another address.
func (p *Page) Navigate(url string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Navigate(url)); err != nil {
		p.t.Fatalf("browser: open %s: %v", url, err)
	}
}

// Do runs a script in the page.
func (p *Page) Do(script string) { Evaluate[chromedp.Void](p, script) }

// Evaluate runs a script in the page and returns its value, or that of the promise that it returns.
func Evaluate[T any](p *Page, script string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("browser: %v in\n%s", err, script)
	}
	return value
}

// Tab opens another tab of the same browser, with an empty page.
func (p *Page) Tab() *Page {
	p.t.Helper()
	tab, closeTab := chromedp.NewContext(p.ctx)
	p.t.Cleanup(closeTab)
	if err := chromedp.Do(tab, chromedp.Navigate("about:blank")); err != nil {
		p.t.Fatalf("open a tab: %v", err)
	}
	return &Page{t: p.t, ctx: tab}
}

// Close closes a tab that Tab has opened, as a person would.
func (p *Page) Close() {
	p.t.Helper()
	if err := chromedp.Cancel(p.ctx); err != nil {
		p.t.Fatalf("close the tab: %v", err)
	}
}
