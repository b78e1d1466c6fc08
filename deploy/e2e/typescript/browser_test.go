package typescript

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/browser"
	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/npm"
	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// profile is a browser whose tabs use the SDK, as somebody's web application on the hub's origin would.
type profile struct {
	*rig.Rig
	t       *testing.T
	browser *browser.Page
	origin  string
	writer  *rig.Device
	session string
}

func newProfile(t *testing.T) *profile {
	t.Helper()
	first := browser.Open(t) // before anything else: without a browser there is nothing to test
	sdk := filepath.Join(npm.Pack(t).Outside, "node_modules", "@switchyard", "client", "dist")
	hub := &url.URL{Scheme: "http"}
	site := httptest.NewServer(application(sdk, hub))
	t.Cleanup(site.Close)
	p := &profile{t: t, browser: first, origin: site.URL}
	p.Rig = rig.New(t, rig.Options{Env: []string{"HUB_ORIGINS=" + site.URL}})
	hub.Host = strings.TrimPrefix(p.HubURL(), "http://")
	p.writer = p.Device("writer", p.HubURL())
	p.session = p.writer.Group("demo")
	return p
}

// application serves the installed package, a page that uses it, and the hub, under one origin.
func application(sdk string, hub *url.URL) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/sdk/", http.StripPrefix("/sdk/", http.FileServer(http.Dir(sdk))))
	mux.Handle("/tab.html", http.FileServer(http.Dir("testdata")))
	mux.Handle("/", &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(hub) }})
	return mux
}

// tab opens one with the application in it.
func (p *profile) tab() *browser.Page {
	p.t.Helper()
	page := p.browser.Tab()
	page.Navigate(p.origin + "/tab.html")
	p.Eventually("the page is loaded", func() bool { return browser.Evaluate[bool](page, `window.loaded === true`) })
	return page
}

// view is what a tab tells of itself.
type view struct {
	Ready   bool     `json:"ready"`
	Leading bool     `json:"leading"`
	Kept    int      `json:"kept"` // cursors that it has written
	Known   int      `json:"known"`
	Texts   []string `json:"texts"`
	Ended   string   `json:"ended"`
	Digest  string   `json:"digest"`
}

func look(page *browser.Page) view { return browser.Evaluate[view](page, `look()`) }

func (p *profile) begin(page *browser.Page) {
	p.t.Helper()
	page.Do(`begin()`)
	p.Eventually("the tab is ready", func() bool { return look(page).Ready })
}

func (p *profile) say(text string) {
	p.t.Helper()
	p.writer.Post(p.session, client.MessageInput{ClientMsgID: string(id.NewMessage())[len("msg_"):], Content: rig.Text(text)})
}

func (p *profile) untilTold(page *browser.Page, texts ...string) {
	p.t.Helper()
	p.Eventually(fmt.Sprintf("the tab was told %q", texts), func() bool { return slices.Equal(look(page).Texts, texts) })
}

// connections is how many sockets the hub has open.
func (p *profile) connections() string {
	p.t.Helper()
	request, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, p.HubURL()+"/metrics", nil)
	if err != nil {
		p.t.Fatal(err)
	}
	answer, err := (&http.Client{Timeout: rig.Patience}).Do(request)
	if err != nil {
		p.t.Fatal(err)
	}
	defer answer.Body.Close()
	page, err := io.ReadAll(answer.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^\w*client_connections (\d+)$`).FindSubmatch(page)
	if found == nil {
		p.t.Fatal("the hub does not say how many sockets are open")
	}
	return string(found[1])
}

func TestTheTabsOfAProfileShareOneConnectionWhichOutlivesItsTab(t *testing.T) {
	t.Parallel()
	p := newProfile(t)
	a := p.tab()
	a.Do(fmt.Sprintf(`signIn(%q, %q)`, rig.Username, rig.Password))
	p.begin(a)
	b := p.tab()
	p.begin(b)
	if got := p.connections(); got != "1" {
		t.Fatalf("two tabs have %s connections", got)
	}

	p.say("one")
	p.untilTold(a, "one")
	p.untilTold(b, "one")
	p.Eventually("the leader has kept the cursor", func() bool { return look(a).Kept > 1 })
	leader, follower := look(a), look(b)
	if !leader.Leading || follower.Leading || follower.Kept != 0 || leader.Digest != follower.Digest {
		t.Errorf("the leader is %+v, the follower %+v", leader, follower)
	}

	a.Close()
	p.say("two")
	p.say("three")
	p.untilTold(b, "one", "two", "three")
	p.Eventually("the other tab leads and keeps the cursor", func() bool { v := look(b); return v.Leading && v.Kept > 0 })
	p.Eventually("there is one connection again", func() bool { return p.connections() == "1" })

	c := p.tab()
	p.begin(c)
	if known := look(c); known.Known != 3 || known.Leading || known.Kept != 0 {
		t.Errorf("a new tab is %+v", known)
	}
	p.say("four")
	p.untilTold(c, "four")
	if got := p.connections(); got != "1" {
		t.Errorf("three tabs have had %s connections", got)
	}
}

// A page runs tasks with fetch, since an EventSource sends no token in a header.
func TestAPageRunsATask(t *testing.T) {
	t.Parallel()
	p := newProfile(t)
	p.AddEdge("laptop", map[string]string{"worker": rig.Profile("events", p.Program("testagent"), "--scenes", "--pace", "20ms") + "kill_grace_secs: 1\n"})
	session := p.writer.Group("tasks", "worker")
	page := p.tab()
	page.Do(fmt.Sprintf(`signIn(%q, %q)`, rig.Username, rig.Password))
	page.Do(fmt.Sprintf(`void ask(%q, "Hi")`, session))
	p.Eventually("the page has heard the agent to its end", func() bool {
		return slices.Equal(browser.Evaluate[[]string](page, `window.heard`), []string{"Hello World!", "over"})
	})
}

func TestALogoutEndsAllTabs(t *testing.T) {
	t.Parallel()
	p := newProfile(t)
	a := p.tab()
	a.Do(fmt.Sprintf(`signIn(%q, %q)`, rig.Username, rig.Password))
	p.begin(a)
	b := p.tab()
	p.begin(b)
	devices, err := client.Decode[client.DeviceList](p.writer.API().ListDevices(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range devices.Items {
		if d.Name == "browser" {
			if _, err := client.Decode[client.Nothing](p.writer.API().RevokeDevice(t.Context(), d.ID)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, page := range []*browser.Page{a, b} {
		p.Eventually("the tab knows that its login is over", func() bool { return look(page).Ended != "" })
		t.Log(look(page).Ended)
	}
	p.Eventually("no connection is left", func() bool { return p.connections() == "0" })
}
