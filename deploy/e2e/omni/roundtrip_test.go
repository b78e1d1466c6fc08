package omni

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/play"
	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/omni"
)

// oddities are objects of providers that every encoder would write another way.
func oddities() []string {
	return []string{
		`{}`, `{"signature":"EqQBCkYIBxgCKkB+/=="}`, `{"b":1.0,"a":1e400,"a":-0,"c":1E+2}`, "{ \"x\" : [ 1 ,\t{\"y\":null} ] , \"\" :true}",
		`{"k":"\u003c<\/\u2028","\u006b":"\ud83d\ude00 é 信"}`, strings.Repeat(`{"d":`, 20) + `[]` + strings.Repeat(`}`, 20),
		`{"encrypted_content":"` + strings.Repeat("gAAAA+/=", 1800) + `"}`,
	}
}

// attachedTo is a part that has each of them on a thought, a message and a call.
func attachedTo(objects []string) (part play.Part, want []string) {
	for i, object := range objects {
		call := fmt.Sprintf("c%d", i)
		part = append(part,
			play.Act{Kind: play.Think, Text: "Hm. "}, play.Act{Kind: play.Rest, Fidelity: object},
			play.Act{Kind: play.Say, Text: "So. "}, play.Act{Kind: play.End, Fidelity: object},
			play.Act{Kind: play.Call, Call: call, Tool: "Bash", Value: command, Fidelity: object},
			play.Act{Kind: play.Return, Call: call, Tool: "Bash", Text: "ok"},
		)
		want = append(want, object, object, object)
	}
	return part, want
}

// TestFidelityIsTheSameAtBothEnds has a process attach objects to what it says, and reads them from the log, the stream, the history and the traces:
// at its own hub, and at another that hears of it over the bus.
func TestFidelityIsTheSameAtBothEnds(t *testing.T) {
	t.Run("one hub", func(t *testing.T) { fidelityIsKept(t, newStage(t)) })
	t.Run("two hubs", func(t *testing.T) { fidelityIsKept(t, newWideStage(t)) })
}

func fidelityIsKept(t *testing.T, s *stage) {
	t.Helper()
	a := s.newAudience(t, 3)
	var want []string
	for half := range slices.Chunk(oddities(), 4) { // a message has 64 KiB at most
		part, attached := attachedTo(half)
		want = append(want, attached...)
		a.play(part)
	}
	a.play(closing)
	a.agree()
	var logged []string
	for _, run := range a.runs {
		for _, e := range s.reader.Log(run) {
			var p struct {
				Fidelity event.Opaque `json:"fidelity"`
			}
			if err := json.Unmarshal(e.Payload, &p); err != nil {
				t.Fatal(err)
			}
			logged = append(logged, string(p.Fidelity))
		}
	}
	same(t, "log", logged, want)
	same(t, "stream", fidelities(t, a.stream.messages), want)
	same(t, "history", fidelities(t, a.history()), want)
	for name, file := range s.terminal().export(a.session) {
		same(t, name, fidelities(t, linesOf(t, file)), want)
	}
}

// same compares what is there with what has been attached.
func same(t *testing.T, where string, got, want []string) {
	t.Helper()
	if got = slices.DeleteFunc(got, func(f string) bool { return f == "" }); !slices.Equal(got, want) {
		t.Errorf("the %s has\n%.2000q\nwant\n%.2000q", where, got, want)
	}
}

// fidelities are those of complete messages, in their order.
func fidelities(t *testing.T, messages []omni.Message) (all []string) {
	t.Helper()
	for _, m := range messages {
		body, err := m.Body()
		if err != nil {
			t.Fatal(err)
		}
		switch b := body.(type) {
		case omni.TextPayload:
			all = append(all, string(b.Fidelity))
		case omni.ThinkingPayload:
			all = append(all, string(b.Fidelity))
		case omni.ToolCallPayload:
			all = append(all, string(b.Fidelity))
		}
	}
	return all
}

// history is what somebody reads who only asks for pages.
func (a *audience) history() (all []omni.Message) {
	a.t.Helper()
	for page, err := range a.s.reader.Session(a.session).Messages(a.t.Context(), "0") {
		if err != nil {
			a.t.Fatalf("read history: %v", err)
		}
		for _, m := range page.Messages {
			all = append(all, m.Message)
		}
	}
	return all
}

func linesOf(t *testing.T, file []byte) (all []omni.Message) {
	t.Helper()
	for line := range bytes.Lines(file) {
		m, err := omni.Decode(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, m)
	}
	return all
}

// terminal is yard, logged in to the hub of a stage.
type terminal struct {
	*stage
	home string
}

func (s *stage) terminal() *terminal {
	s.T.Helper()
	y := &terminal{stage: s, home: filepath.Join(s.T.TempDir(), "yard")}
	login := rig.StartReading(s.T, rig.Password+"\n", "yard login", y.env(), s.Program("yard"), "login", "--hub", s.at, "--user", rig.Username)
	if code := login.Wait(rig.Patience); code != 0 {
		s.T.Fatalf("yard login ended with code %d", code)
	}
	return y
}

func (y *terminal) env() []string { return []string{"YARD_HOME=" + y.home} }

// yard runs a command, which has to succeed, and returns what it prints.
func (y *terminal) yard(args ...string) string {
	y.T.Helper()
	p := rig.Start(y.T, "yard "+args[0], y.env(), y.Program("yard"), args...)
	if code := p.Wait(rig.Patience); code != 0 {
		y.T.Fatalf("yard %q ended with code %d", args, code)
	}
	return p.Out().String()
}

// export writes the traces of a conversation and returns the files by their names.
func (y *terminal) export(session string) map[string][]byte {
	y.T.Helper()
	dir := y.T.TempDir()
	y.yard("trace", "export", session, "--dir", dir)
	y.yard("trace", "verify", dir)
	files := map[string][]byte{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		y.T.Fatalf("read traces: %v", err)
	}
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) != ".jsonl" {
			continue
		}
		if files[entry.Name()], err = os.ReadFile(filepath.Join(dir, entry.Name())); err != nil {
			y.T.Fatalf("read trace: %v", err)
		}
	}
	return files
}

// TestTracesMakeTheRoundTrip plays all scenes: log, stream, trace, import, stream and trace again.
func TestTracesMakeTheRoundTrip(t *testing.T) {
	s := newStage(t)
	all := scenes()
	a := s.newAudience(t, len(all)+1)
	for _, sc := range all {
		a.play(sc.part, sc.answers...)
	}
	a.play(closing)
	a.agree()
	kept := func(of []omni.Message) []omni.Message {
		return slices.DeleteFunc(slices.Clone(of), omni.Message.IsPartial)
	}
	sameLines(t, "history", a.history(), kept(a.stream.messages))

	y := s.terminal()
	files := y.export(a.session)
	main := files[a.session+"_001.jsonl"]
	sameLines(t, "trace", linesOf(t, main), slices.DeleteFunc(slices.Clone(a.stream.messages), func(m omni.Message) bool { return !m.InTrace() }))
	if len(files) < 3 {
		t.Errorf("%d files of a conversation with two sub-agents", len(files))
	}

	args := []string{"--json", "trace", "import"}
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, path)
	}
	slices.Sort(args[3:])
	var made client.ImportedTrace
	if err := json.Unmarshal([]byte(y.yard(args...)), &made); err != nil {
		t.Fatal(err)
	}
	again := y.export(made.SessionID)
	if len(again) != len(files) {
		t.Errorf("%d files came back of %d", len(again), len(files))
	}
	for name, content := range files {
		if !bytes.Equal(again[name], content) {
			t.Errorf("%s came back as\n%s\nit was\n%s", name, again[name], content)
		}
	}
	imported := &audience{t: t, s: s, session: made.SessionID}
	sameSet(t, imported.history(), kept(a.stream.messages))
}

func sameLines(t *testing.T, what string, got, want []omni.Message) {
	t.Helper()
	if g, w := strings.Split(text(got), "\n"), strings.Split(text(want), "\n"); !slices.Equal(g, w) {
		t.Errorf("the %s is not what was streamed:\n%s", what, rig.Diff(w, g))
	}
}

// sameSet is sameLines for streams in which sub-agents speak at other moments.
func sameSet(t *testing.T, got, want []omni.Message) {
	t.Helper()
	g, w := strings.Split(text(got), "\n"), strings.Split(text(want), "\n")
	slices.Sort(g)
	slices.Sort(w)
	if !slices.Equal(g, w) {
		t.Errorf("what was imported is not what was streamed:\n%s", rig.Diff(w, g))
	}
}

func text(of []omni.Message) string {
	var b strings.Builder
	for _, m := range of {
		b.Write(m.Line())
	}
	return b.String()
}
