package typescript

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/npm"
	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/omni"
	"github.com/switchyard-dev/switchyard/shared/supervise"
)

// shears is a way to the hub that cuts each stream of messages after some bytes.
type shears struct {
	http.ResponseWriter
	left int
}

func (s *shears) Write(b []byte) (int, error) {
	if len(b) > s.left {
		_, _ = s.ResponseWriter.Write(b[:s.left])
		_ = http.NewResponseController(s.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	s.left -= len(b)
	return s.ResponseWriter.Write(b)
}

func (s *shears) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// cutting returns such a way, and how often it has cut.
func cutting(t *testing.T, hub string) (string, *atomic.Int32) {
	t.Helper()
	target, err := url.Parse(hub)
	if err != nil {
		t.Fatal(err)
	}
	cuts := new(atomic.Int32)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, FlushInterval: -1}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/stream") {
			cuts.Add(1)
			w = &shears{w, 700 + rand.IntN(1000)} //nolint:gosec // a length
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { site.CloseClientConnections(); site.Close() })
	return site.URL, cuts
}

// toldTo is what one client was told of a run.
type toldTo struct {
	all, whole string // digests
	count      int
	breaches   error
}

// told has a client of the Go SDK give the task that all give.
func told(ctx context.Context, c *client.Client, session string) (got toldTo, err error) {
	var stream []omni.Message
	for m, err := range c.Session(session).Run(ctx, client.TextTask("@worker go"), client.WithKey("the-same"), client.From("0")) {
		if err != nil {
			return got, err
		}
		stream = append(stream, m)
	}
	all, whole := sha256.New(), sha256.New()
	for _, m := range stream {
		all.Write(m.Line())
		if !m.IsPartial() {
			whole.Write(m.Line())
		}
	}
	return toldTo{hex.EncodeToString(all.Sum(nil)), hex.EncodeToString(whole.Sum(nil)), len(stream), omni.CheckStream(stream)}, nil
}

// history is the digest of what REST has of a conversation.
func history(t *testing.T, c *client.Client, session string) string {
	t.Helper()
	whole := sha256.New()
	for page, err := range c.Session(session).Messages(t.Context(), "0") {
		if err != nil {
			t.Fatal(err)
		}
		for _, placed := range page.Messages {
			whole.Write(placed.Message.Line())
		}
	}
	return hex.EncodeToString(whole.Sum(nil))
}

// Programs of both SDKs follow one run over streams that are cut a thousand times in all. Each was told the same to the byte, fragments included, and
// without them it is what history has.
func TestBothSDKsAreToldTheSameOverAThousandCuts(t *testing.T) {
	t.Parallel()
	outside := npm.Pack(t).Outside
	r := rig.New(t, rig.Options{})
	r.AddEdge("laptop", map[string]string{"worker": r.TestAgent("--events", "400", "--rate", "300", "--tools")})
	way, cuts := cutting(t, r.HubURL())
	session := r.Device("owner", r.HubURL()).Group("demo", "worker")

	const programs = 4
	var inNode []*program
	for range programs {
		inNode = append(inNode, startIn(t, outside, "messages.mjs", r.Device("node", way), session))
	}
	inGo := make([]toldTo, programs)
	group := supervise.NewGroup(t.Context())
	for i := range inGo {
		device := r.Device("go", way)
		group.Go(func(ctx context.Context) (err error) {
			inGo[i], err = told(ctx, device.Client, session)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	want := inGo[0]
	if want.breaches != nil || want.count < 400 {
		t.Errorf("%d messages: %v", want.count, want.breaches)
	}
	for _, got := range inGo {
		if got != want {
			t.Errorf("told %+v, another %+v", got, want)
		}
	}
	for _, p := range inNode {
		end := p.until("the end of the run", func(p progress) bool { return p.Digest != "" })
		if end.Digest != want.all || end.RunDigest != want.whole || end.Events != want.count || end.Seq != 0 {
			t.Errorf("in Node %+v, in Go %+v", end, want)
		}
	}
	if got := history(t, r.Device("reader", r.HubURL()).Client, session); got != want.whole {
		t.Errorf("history is %s, the streams without fragments are %s", got, want.whole)
	}
	n := cuts.Load()
	t.Logf("%d cuts, %d messages", n, want.count)
	if n < 1000 {
		t.Errorf("only %d connections were cut", n)
	}
}

// failing is the profile of an agent that ends with an error.
var failing = rig.Profile("events", "false")

// prelude is what the program of docs/protocols/omni.md leaves out.
const prelude = `import { Client, isCompleteModelMessage, login, MemoryKeeper } from "@switchyard/client";
const { HUB: hub, LOGIN: username, PASSWORD: password, AGENT: agent } = process.env;
const client = new Client({ hub, keeper: new MemoryKeeper(await login(hub, { username, password, device: { type: "cli", name: "docs" } })) });
const { id: session } = await client.api.createGroupSession({ body: { name: "docs", member_ids: [agent] } });
`

func TestTheExamplesOfTasksWork(t *testing.T) {
	t.Parallel()
	outside := npm.Pack(t).Outside
	r := newTalking(t)
	r.AddEdge("desktop", map[string]string{"broken": failing})
	device := r.Device("writer", r.HubURL())
	env := []string{"HUB=" + r.HubURL(), "LOGIN=" + rig.Username, "PASSWORD=" + rig.Password, "AGENT=" + device.AgentID("worker")}
	page, err := os.ReadFile(filepath.Join(rig.Root(), "docs", "protocols", "omni.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(page), "```ts\n")
	block, _, _ = strings.Cut(block, "```\n")
	for name, c := range map[string]struct{ program, last string }{
		"readme.mjs": {example(t, "Messages and tasks"), "It is gone."},
		"docs.mjs":   {prelude + block, "model_msg { type: 'text', role: 'assistant', text: 'It is gone.' }"},
	} {
		if err := os.WriteFile(filepath.Join(outside, name), []byte(c.program), 0o600); err != nil {
			t.Fatal(err)
		}
		p, last := launch(t, outside, nil, env, "node", name), ""
		for p.lines.Scan() {
			last = p.lines.Text()
		}
		if err := p.cmd.Wait(); err != nil || last != c.last {
			t.Errorf("%s: %v, the last that it printed is %q", name, err, last)
		}
		// A later setting of a variable counts.
		p = launch(t, outside, nil, append(slices.Clone(env), "AGENT="+device.AgentID("broken")), "node", name)
		for p.lines.Scan() { // to the end, before Wait
		}
		if err := p.cmd.Wait(); err == nil || !strings.Contains(p.stderr.String(), "TaskError: run_") {
			t.Errorf("%s whose agent fails: %v\n%s", name, err, p.stderr)
		}
	}
}

func TestAProgramInNodeSteersARunAndStopsOne(t *testing.T) {
	t.Parallel()
	outside := npm.Pack(t).Outside
	r := rig.New(t, rig.Options{})
	profile := rig.Profile("events", r.Program("testagent"), "--scenes", "--pace", "20ms")
	r.AddEdge("laptop", map[string]string{"worker": profile + "controls: [steer, retry_now, compact]\nkill_grace_secs: 1\n"})
	device := r.Device("node", r.HubURL())
	end := startIn(t, outside, "controls.mjs", device, device.Group("demo", "worker")).until("the end", func(p progress) bool { return p.Digest != "" })
	want := "I am listening.|You say: Slower.|They talked.|You say: Enough.|request_end\nThat went well.|request_end\nI am listening.|abort cancelled\nfalse"
	if end.Words != want {
		t.Errorf("it has seen\n%s\nwant\n%s", end.Words, want)
	}
}
