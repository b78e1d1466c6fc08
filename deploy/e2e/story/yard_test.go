package story

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/truth"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// home is a machine on which a person has typed `yard up`: a hub, an edge with the shipped agents, and terminals.
type home struct {
	t     *testing.T
	bin   string
	state string
	edge  string // address of the edge's local API
	up    *rig.Process
}

// yardPatience is how long one command may take.
const yardPatience = 60 * time.Second

func newHome(t *testing.T) *home {
	t.Helper()
	h := &home{t: t, bin: rig.Programs(t), state: filepath.Join(t.TempDir(), "state"), edge: rig.FreeAddr(t)}
	h.start()
	return h
}

func (h *home) start() {
	h.t.Helper()
	h.up = h.yard("up", "--state", h.state, "--workspace", rig.Root(), "--hub-addr", "127.0.0.1:0", "--edge-addr", h.edge, "--json-ready")
	h.up.WaitFor(`"took_ms"`)
}

// interrupt is Ctrl-C.
func (h *home) interrupt() {
	h.t.Helper()
	h.up.Signal(syscall.SIGINT)
	if code := h.up.Wait(yardPatience); code != 0 {
		h.t.Errorf("yard up ended with code %d", code)
	}
}

func (h *home) yard(args ...string) *rig.Process {
	h.t.Helper()
	return rig.Start(h.t, "yard "+strings.Join(args, " "), []string{"YARD_HOME=" + filepath.Join(h.state, "yard")}, filepath.Join(h.bin, "yard"), args...)
}

// ask runs a command that answers in JSON.
func ask[T any](h *home, args ...string) (answer []T) {
	h.t.Helper()
	p := h.yard(append([]string{"--json"}, args...)...)
	if code := p.Wait(yardPatience); code != 0 {
		h.t.Fatalf("yard %q ended with code %d", args, code)
	}
	for line := range strings.Lines(p.Out().String()) {
		var one T
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			h.t.Fatalf("yard %q printed %q: %v", args, line, err)
		}
		answer = append(answer, one)
	}
	return answer
}

// terminal is a device that watches. Its processes may be killed; what they printed counts together.
type terminal struct {
	home   *home
	device string
	now    *rig.Process
	before string // what earlier processes have printed
}

func (h *home) watch(device string) *terminal {
	h.t.Helper()
	w := &terminal{home: h, device: device}
	w.open()
	return w
}

func (w *terminal) open() {
	w.home.t.Helper()
	w.now = w.home.yard("--device", w.device, "--json", "watch")
	w.now.WaitFor(`"link":"up"`)
}

func (w *terminal) kill() {
	w.now.Kill()
	w.before += w.now.Out().String()
}

// seen returns the different frames in the order of first sight, and what they come to.
func (w *terminal) seen() (keys []string, reduced *client.Reducer) {
	w.home.t.Helper()
	reduced = client.NewReducer()
	for line := range strings.Lines(w.before + w.now.Out().String()) {
		var frame client.HubWebSocketFrame
		if !strings.HasSuffix(line, "\n") || json.Unmarshal([]byte(line), &frame) != nil || client.Key(frame) == "" {
			continue // cut short by a kill, or about the connection
		}
		switch verdict := reduced.Apply(frame); verdict {
		case client.Applied:
			keys = append(keys, client.Key(frame))
		case client.Repeated:
		default:
			w.home.t.Errorf("%s: %s came as %v", w.device, client.Key(frame), verdict)
		}
	}
	return keys, reduced
}

func TestScoutsWorkIsTheSameOnTwoTerminalsThoughOneIsKilledInTheMiddle(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	a, b := h.watch("a"), h.watch("b")
	send := h.yard("--device", "c", "--json", "send", "--session", "demo", "@scout what changed here in the last 20 commits?")
	a.now.WaitFor(`"agent.stream"`)
	a.kill()
	a.open()
	if code := send.Wait(yardPatience); code != 0 {
		t.Fatalf("send ended with code %d", code)
	}
	task := ask[client.AgentTaskList](h, "runs")[0].Items[0]
	for _, w := range []*terminal{a, b} {
		w.now.WaitFor(fmt.Sprintf(`"agent.done %s"`, task.ID))
		w.now.WaitFor(fmt.Sprintf(`"message.new %s"`, task.FinalMessageID))
	}
	log := ask[client.RunEvent](h, "events", task.ID)
	keysA, reducedA := a.seen()
	keysB, reducedB := b.seen()
	if !slices.Equal(keysA, keysB) || reducedA.Digest() != reducedB.Digest() {
		t.Errorf("terminals saw different things:\n%s", rig.Diff(keysA, keysB))
	}
	if got, want := reducedA.RunDigest(task.ID), client.LogDigest(log); got != want {
		t.Errorf("terminals saw the log as %s, it is %s", got, want)
	}
	if err := truth.AsReported(rig.Entries(log), nil); err != nil {
		t.Error(err)
	}
	mustShowWork(t, log)
	h.mustFetchReport(task.ID)
}

// mustShowWork checks that scout thought, used tools and wrote an answer in pieces.
func mustShowWork(t *testing.T, log []client.RunEvent) {
	t.Helper()
	count := map[event.Type]int{}
	for _, e := range log {
		count[event.Type(e.EventType)]++
	}
	for _, typ := range []event.Type{event.Thinking, event.ToolStarted, event.ToolCompleted, event.MessageDelta, event.ArtifactCreated, event.RunCompleted} {
		if count[typ] == 0 {
			t.Errorf("the log has no %s", typ)
		}
	}
	if count[event.ToolStarted] != count[event.ToolCompleted]+count[event.ToolFailed] {
		t.Errorf("tools do not pair: %v", count)
	}
}

func (h *home) mustFetchReport(run string) {
	h.t.Helper()
	artifacts := ask[client.ArtifactList](h, "artifacts", run)[0].Items
	if len(artifacts) != 1 {
		h.t.Fatalf("the run has %d artifacts, want the report", len(artifacts))
	}
	path := filepath.Join(h.t.TempDir(), "report.md")
	if code := h.yard("artifact", "get", artifacts[0].ID, "--output", path).Wait(yardPatience); code != 0 {
		h.t.Fatalf("artifact get ended with code %d", code)
	}
	report, err := os.ReadFile(path)
	if err != nil || int64(len(report)) != artifacts[0].Size || !strings.HasPrefix(string(report), "# ") {
		h.t.Errorf("the report has %d bytes (%v), want %d of Markdown", len(report), err, artifacts[0].Size)
	}
}

// A second start goes on with what the first one left: the login, the conversations, the edge; and Ctrl-C leaves no process.
func TestASecondStartGoesOnWhereTheFirstStopped(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	if code := h.yard("send", "--session", "demo", "@scout hello").Wait(yardPatience); code != 0 {
		t.Fatalf("send ended with code %d", code)
	}
	before := ask[client.AgentTaskList](h, "runs")[0].Items
	h.interrupt()
	mustBeGone(t, h.up.Out().String())
	h.start()
	after := ask[client.AgentTaskList](h, "runs")[0].Items
	if len(before) != 1 || len(after) != 1 || before[0].ID != after[0].ID {
		t.Errorf("runs before %v, after %v", before, after)
	}
	if code := h.yard("send", "--session", "demo", "@scout once more").Wait(yardPatience); code != 0 {
		t.Errorf("send after the second start ended with code %d", code)
	}
	if sessions := ask[client.SessionList](h, "sessions")[0].Items; len(sessions) != 1 {
		t.Errorf("there are %d conversations, want one", len(sessions))
	}
	h.interrupt()
}

// mustBeGone checks the processes that `yard up --json-ready` has named.
func mustBeGone(t *testing.T, ready string) {
	t.Helper()
	var pids struct {
		Hub  int `json:"hub_pid"`
		Edge int `json:"edge_pid"`
	}
	if err := json.Unmarshal([]byte(ready), &pids); err != nil || pids.Hub == 0 || pids.Edge == 0 {
		t.Fatalf("yard up printed %q (%v)", ready, err)
	}
	for _, pid := range []int{pids.Hub, pids.Edge} {
		if err := syscall.Kill(pid, 0); err == nil {
			t.Errorf("process %d is still there", pid)
		}
	}
}
