package cards_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/project/cards"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

var update = flag.Bool("update", false, "write the answers in testdata/scenario again")

const (
	trace   = "tr_0123456789abcdef01234567"
	session = "sess_01890000-0000-7000-8000-000000000001"
)

// A scenario is a file of facts, each followed by the events that it adds to the trace:
//
//	run.started run_… {…}        an event of a run, 100 ms after the one before
//	+2s                          time passes
//	whole text                   the text that the next event has in a blob
//	message msg_… text           a message of a person that asks no agent
//	run run_… key=value…         says more of a run before its first event: asked, agent, parent, trigger
//	< …                          an event of the trace, written by -update
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/scenario/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(want))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != string(want) {
				t.Errorf("%s differs; if that is meant, run with -update\n got:\n%s\nwant:\n%s", file, got, want)
			}
		})
	}
}

// play returns the scenario with the events that its facts add.
func play(t *testing.T, script string) string {
	t.Helper()
	var out strings.Builder
	p := &player{state: cards.New(trace, session, card.English), runs: map[string]cards.Run{}, now: time.Date(2026, 5, 7, 10, 0, 0, 0, time.UTC)}
	for line := range strings.Lines(script) {
		if strings.HasPrefix(line, "<") {
			continue
		}
		out.WriteString(line)
		for _, f := range p.line(t, strings.TrimSpace(line)) {
			fmt.Fprintf(&out, "< %s\n", readable(t, f))
		}
	}
	return out.String()
}

// player turns lines of a scenario into facts.
type player struct {
	state *cards.State
	runs  map[string]cards.Run
	now   time.Time
	place int64
	whole string
}

func (p *player) line(t *testing.T, line string) []cards.Frame {
	t.Helper()
	first, rest, _ := strings.Cut(line, " ")
	name, rest, _ := strings.Cut(rest, " ")
	switch {
	case first == "" || first[0] == '#':
		return nil
	case first[0] == '+':
		d, err := time.ParseDuration(first[1:])
		if err != nil {
			t.Fatal(err)
		}
		p.now = p.now.Add(d)
		return nil
	case first == "whole":
		p.whole = strings.TrimPrefix(line, "whole ")
		return nil
	case first == "run":
		p.describe(t, name, rest)
		return nil
	case first == "message":
		return p.apply(t, cards.Fact{Message: &cards.Message{ID: id.Message("msg_" + idOf(name)), Text: rest}})
	}
	run, known := p.runs[name]
	if !known {
		run = cards.Run{ID: runOf(name), Agent: "scout", Trigger: "msg_1"}
	}
	f := cards.Fact{Run: run, Event: event.Type(first), Payload: json.RawMessage(rest), Whole: p.whole}
	p.whole = ""
	return p.apply(t, f)
}

func (p *player) apply(t *testing.T, f cards.Fact) []cards.Frame {
	t.Helper()
	p.place++
	p.now = p.now.Add(100 * time.Millisecond)
	f.Place, f.At, f.Recorded = p.place, p.now, p.now
	state, err := cards.Restore(p.state.Encode()) // as if a hub had restarted between any two facts
	if err != nil {
		t.Fatal(err)
	}
	p.state = state
	return p.state.Apply(f)
}

func (p *player) describe(t *testing.T, name, rest string) {
	t.Helper()
	run := cards.Run{ID: runOf(name), Agent: "scout", Trigger: "msg_1"}
	var more struct{ Agent, Parent, Asked, Trigger *string }
	if err := json.Unmarshal([]byte(rest), &more); err != nil {
		t.Fatalf("%s: %v", rest, err)
	}
	for _, set := range []struct {
		value *string
		to    func(string)
	}{
		{more.Agent, func(s string) { run.Agent = s }},
		{more.Parent, func(s string) { run.Parent = runOf(s) }},
		{more.Asked, func(s string) { run.Asked = s }},
	} {
		if set.value != nil {
			set.to(*set.value)
		}
	}
	if more.Trigger != nil {
		run.Trigger = ""
	}
	p.runs[name] = run
}

// readable is an event in one short line: its number, what it does, to which card below which, by whom, and its payload.
func readable(t *testing.T, f cards.Frame) string {
	t.Helper()
	if !bytes.HasSuffix(f.Bytes, []byte("\n")) || bytes.Count(f.Bytes, []byte("\n")) != 1 {
		t.Fatalf("not one line: %q", f.Bytes)
	}
	var e card.Event
	if err := json.Unmarshal(f.Bytes, &e); err != nil {
		t.Fatal(err)
	}
	v := e.Envelope
	if v.Seq != f.Seq {
		t.Fatalf("event %d says %d", f.Seq, v.Seq)
	}
	out := fmt.Sprintf("%d %s", v.Seq, e.Type)
	if v.CardID != "" {
		out += fmt.Sprintf(" %s %s", v.CardKind, v.CardID)
	}
	if v.ParentCardID != "" {
		out += " under " + v.ParentCardID
	}
	if v.AgentID != card.MainAgent {
		out += " by " + v.AgentID
	}
	if v.Severity != card.Info && v.Severity != "" {
		out += " " + string(v.Severity)
	}
	out += " " + string(e.Payload)
	if e.Hint != nil {
		out += " hint " + compact(t, e.Hint)
	}
	if e.Metrics != nil {
		out += " metrics " + compact(t, e.Metrics)
	}
	return out
}

func compact(t *testing.T, v any) string {
	t.Helper()
	raw, err := event.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
