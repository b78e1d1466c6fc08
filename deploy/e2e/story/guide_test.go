package story

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
)

var update = flag.Bool("update", false, "write what was recorded into docs/client-guide.md")

// guideBlock is a block of the page that this test plays: a script for a shell beside a hub, or what was recorded after it.
var guideBlock = regexp.MustCompile("(?s)<!-- (with a hub|recorded): (\\w+) -->\n```\\w*\n(.*?)```\n")

// guide plays docs/client-guide.md against a real hub: the scripts in one shell, the sockets by hand, as somebody would who has no SDK.
type guide struct {
	t       *testing.T
	s       *scene
	shell   io.Writer
	said    *bufio.Reader
	names   *plainNames
	socket  *websocket.Conn
	cursor  string // of the newest frame that was read
	outputs map[string]string
}

// The page must say what a hub really says. -update writes it anew.
func TestTheClientGuideIsWhatAHubSays(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("curl is missing")
		}
		t.Skip("curl is missing: it plays the guide's commands")
	}
	page := filepath.Join(rig.Root(), "docs", "client-guide.md")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	g := newGuide(t)
	played := guideBlock.ReplaceAllStringFunc(string(text), func(block string) string {
		m := guideBlock.FindStringSubmatch(block)
		kind, name, body := m[1], m[2], m[3]
		if kind == "with a hub" {
			g.outputs[name] = g.run(body)
			return block
		}
		got := g.recorded(name)
		if placeless(body) == placeless(got) {
			return block
		}
		if !*update {
			t.Errorf("%s: the page says\n%s\nthe hub says\n%s", name, body, got)
		}
		return strings.TrimSuffix(block, body+"```\n") + got + "```\n"
	})
	if len(g.outputs) < 5 {
		t.Fatalf("only %d parts of the page were played", len(g.outputs))
	}
	if *update {
		if err := os.WriteFile(page, []byte(played), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// What the page shows of the Go SDK must be a program.
func TestTheGoOfTheClientGuideCompiles(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(rig.Root(), "docs", "client-guide.md"))
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```go\n(.*?)```\n").FindStringSubmatch(string(text))
	if block == nil {
		t.Fatal("the page has no Go")
	}
	program := filepath.Join(t.TempDir(), "main.go")
	source := "package main\n\nimport (\n\"context\"\n\"fmt\"\n\n\"" + sdk + "\"\n)\n\n" +
		"func follow(ctx context.Context, password string) error {\n" + block[1] + "return nil\n}\n\nfunc main() { fmt.Println(follow(context.Background(), \"\")) }\n"
	if err := os.WriteFile(program, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", os.DevNull, program)
	build.Dir = filepath.Join(rig.Root(), "deploy", "e2e")
	if out, err := build.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s\n%s", err, out, source)
	}
}

// placeless is a recording without the places of its frames. Which frames of a run make one step, and so which of them has the cursor, is a matter
// of moments, and so is whether the edge or the agent speaks first once an answer has reached the agent.
func placeless(recording string) string {
	lines := strings.Split(places.ReplaceAllString(recording, ""), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

var places = regexp.MustCompile(`,"cursor":"[^"]*"|"(event_)?seq(_id)?":\d+,|"id":"evt_\d+",`)

func newGuide(t *testing.T) *guide {
	t.Helper()
	r := rig.New(t, rig.Options{})
	g := &guide{t: t, s: &scene{Rig: r, t: t}, names: newPlainNames(), outputs: map[string]string{}}
	book := filepath.Join(t.TempDir(), "book")
	g.s.edge = r.AddEdge("laptop", map[string]string{"worker": askingProfile(r.Program("bridgeagent"), book, patient, `{"command":"ls"}`)})
	r.Owner().AgentID("worker")
	shell := exec.CommandContext(t.Context(), "sh", "-eu")
	shell.Dir = t.TempDir()
	shell.Env = append(os.Environ(), "hub="+r.HubURL(), "user="+rig.Username, "password="+rig.Password)
	in, err := shell.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := shell.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); shell.Wait() })
	g.shell, g.said = in, bufio.NewReader(out)
	g.run("exec 2>&1") // what goes wrong is shown
	return g
}

// over is what the shell says behind each script.
const over = "-- over --"

// run plays a script and returns what it prints.
func (g *guide) run(script string) string {
	g.t.Helper()
	fmt.Fprintf(g.shell, "%s\necho; echo '%s'\n", script, over)
	var out strings.Builder
	for {
		line, err := g.said.ReadString('\n')
		if strings.HasSuffix(line, over+"\n") {
			return strings.TrimSpace(out.String()) + "\n"
		}
		out.WriteString(line)
		if err != nil {
			g.t.Fatalf("the shell ended: %v\n%s\nafter\n%s", err, out.String(), script)
		}
	}
}

// recorded is what came of a part of the page, with plain names.
func (g *guide) recorded(name string) string {
	g.t.Helper()
	switch name {
	case "connect":
		g.connect("")
		g.outputs[name] = g.frames("auth.ok")
	case "asked":
		g.outputs[name] = g.frames("notification.new")
		g.socket.CloseNow()
	case "resumed":
		g.connect(g.cursor)
		g.outputs[name] = g.frames("message.new")
		g.socket.CloseNow()
	case "reset":
		g.connect("garbage")
		g.outputs[name] = g.frames("auth.ok")
		g.socket.CloseNow()
	}
	return g.names.apply(g.outputs[name])
}

func (g *guide) connect(cursor string) {
	g.t.Helper()
	address := strings.Replace(g.s.HubURL(), "http", "ws", 1) + "/client/ws"
	if cursor != "" {
		address += "?cursor=" + url.QueryEscape(cursor)
	}
	header := http.Header{"Authorization": {"Bearer " + strings.TrimSpace(g.run(`echo "$token"`))}}
	socket, _, err := websocket.Dial(g.t.Context(), address, &websocket.DialOptions{HTTPHeader: header})
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() { socket.CloseNow() })
	g.socket = socket
}

// frames reads to the first frame of a type. Who is online is left out: it depends on who else is.
func (g *guide) frames(last client.HubWebSocketFrameType) string {
	g.t.Helper()
	ctx, cancel := context.WithTimeout(g.t.Context(), rig.Patience)
	defer cancel()
	var all strings.Builder
	for {
		_, text, err := g.socket.Read(ctx)
		if err != nil {
			g.t.Fatalf("waiting for %s: %v, after\n%s", last, err, all.String())
		}
		var f client.HubWebSocketFrame
		if err := json.Unmarshal(text, &f); err != nil {
			g.t.Fatal(err)
		}
		if f.Cursor != "" {
			g.cursor = f.Cursor
		}
		if !strings.HasPrefix(string(f.Type), "device.") {
			all.Write(append(text, '\n'))
		}
		if f.Type == last {
			return all.String()
		}
	}
}

// plainNames gives what differs from hub to hub the same names everywhere: ids are counted by kind, times are one time.
type plainNames struct{ known map[string]string }

func newPlainNames() *plainNames { return &plainNames{map[string]string{}} }

var (
	anyID     = regexp.MustCompile(`\b(user|dev|edge|agent|sess|msg|art|conn|dlv|run|evt|req|trace)_[0-9a-f-]{16,}`)
	anyTime   = regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)
	anySum    = regexp.MustCompile(`\b[0-9a-f]{64}\b`)
	anyTrace  = regexp.MustCompile(`\b[0-9a-f]{32}\b`)
	anyFolder = regexp.MustCompile(`(workDir\\*":\\*")[^"\\]*`)
	secrets   = regexp.MustCompile(`"(access_token|refresh_token|epoch|cursor)":"([^"]*)"`)
)

func (p *plainNames) apply(text string) string {
	text = secrets.ReplaceAllStringFunc(text, func(field string) string {
		m := secrets.FindStringSubmatch(field)
		return fmt.Sprintf("%q:%q", m[1], p.count(m[1], " ", m[2]))
	})
	text = anyID.ReplaceAllStringFunc(text, func(id string) string {
		kind, _, _ := strings.Cut(id, "_")
		return p.count(kind, "_", id)
	})
	text = anySum.ReplaceAllString(text, "5f3a…")
	text = anyTrace.ReplaceAllString(text, "4bf9…")
	text = anyFolder.ReplaceAllString(text, "${1}/home/ada/work")
	return anyTime.ReplaceAllString(text, "2026-01-02T03:04:05Z")
}

// count names the n-th thing of a kind.
func (p *plainNames) count(kind, between, name string) string {
	if _, known := p.known[name]; !known {
		p.known[" "+kind] += "i"
		p.known[name] = fmt.Sprintf("%s%s%d", strings.ReplaceAll(kind, "_", " "), between, len(p.known[" "+kind]))
	}
	return p.known[name]
}
