package contentchain_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/shared/contentchain"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/run"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The definition, spelled out once more and without the code under test.
func TestChainIsWhatItsDefinitionSays(t *testing.T) {
	var c contentchain.Chain
	c.Text("he")
	c.Text("llo")
	if err := c.Call("search", json.RawMessage(`{"b": 1, "a": "<é>"}`)); err != nil {
		t.Fatal(err)
	}
	var head [32]byte
	link := func(kind byte, content string) {
		inner := sha256.Sum256([]byte(content))
		head = sha256.Sum256(slices.Concat(head[:], []byte{kind}, inner[:]))
	}
	link('t', "hello")
	args := sha256.Sum256([]byte(`{"a":"<é>","b":1}`))
	link('c', "search\x00"+hex.EncodeToString(args[:]))
	if got, want := c.Head(), (contentchain.Head{ContentChain: hex.EncodeToString(head[:]), Items: 2}); got != want {
		t.Fatalf("got %+v, want %+v", got, want)
	}
}

// said is one thing that an agent says, in the words of the runtimes and of the chain.
type said struct {
	event run.AgentEvent
	chain func(*contentchain.Chain)
}

func sayings() *rapid.Generator[said] {
	return rapid.Custom(func(t *rapid.T) said {
		words := rapid.StringN(0, 20, 60).Draw(t, "text")
		quoted, _ := json.Marshal(words)
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
			return said{run.Delta{Text: words}, func(c *contentchain.Chain) { c.Text(words) }}
		case 1:
			return said{run.Delta{Channel: run.Thought, Text: words}, func(c *contentchain.Chain) { c.Thought(words) }}
		case 2:
			return said{run.ToolCall{Name: "t", Args: quoted}, func(c *contentchain.Chain) { _ = c.Call("t", quoted) }}
		case 3:
			sum := event.TextChecksum(words)
			created := event.ArtifactCreatedPayload{Type: "file", Filename: "f", Checksum: sum}
			return said{run.Artifact{ArtifactCreatedPayload: created}, func(c *contentchain.Chain) { c.Artifact(sum) }}
		default:
			return said{run.StateChange{State: "busy"}, func(*contentchain.Chain) {}}
		}
	})
}

func TestLogOfARunHasTheChainOfItsAgentHoweverDeltasWereMerged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var agent, log contentchain.Chain
		n := run.New(run.Options{})
		var rows []run.Candidate
		for _, s := range rapid.SliceOf(sayings()).Draw(t, "run") {
			s.chain(&agent)
			rows = append(rows, n.Step(s.event)...)
		}
		for _, row := range merged(t, rows) {
			payload, err := row.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if err := log.Event(row.Type, payload, nil); err != nil {
				t.Fatal(err)
			}
		}
		if agent.Head() != log.Head() {
			t.Fatalf("agent %+v, log %+v", agent.Head(), log.Head())
		}
	})
}

func merged(t *rapid.T, rows []run.Candidate) []run.Candidate {
	var out []run.Candidate
	for _, row := range rows {
		if len(out) > 0 && rapid.Bool().Draw(t, "merge") {
			if joined, ok := run.Merge(out[len(out)-1], row); ok {
				out[len(out)-1] = joined
				continue
			}
		}
		out = append(out, row)
	}
	return out
}

func TestChainNoticesLossRepetitionAndOrder(t *testing.T) {
	chain := func(say func(*contentchain.Chain)) string {
		var c contentchain.Chain
		say(&c)
		return c.Head().ContentChain
	}
	right := chain(func(c *contentchain.Chain) { c.Text("a"); c.ResultChecksum("x"); c.Text("b") })
	wrong := map[string]func(*contentchain.Chain){
		"lost":          func(c *contentchain.Chain) { c.Text("a"); c.Text("b") },
		"repeated":      func(c *contentchain.Chain) { c.Text("a"); c.ResultChecksum("x"); c.ResultChecksum("x"); c.Text("b") },
		"moved":         func(c *contentchain.Chain) { c.Text("a"); c.Text("b"); c.ResultChecksum("x") },
		"other channel": func(c *contentchain.Chain) { c.Thought("a"); c.ResultChecksum("x"); c.Text("b") },
		"other kind":    func(c *contentchain.Chain) { c.Text("a"); c.Artifact("x"); c.Text("b") },
		"failed":        func(c *contentchain.Chain) { c.Text("a"); c.Failure("x", ""); c.Text("b") },
	}
	for name, say := range wrong {
		if chain(say) == right {
			t.Errorf("%s: not noticed", name)
		}
	}
}

func TestArgumentsAreReadFromTheirBlob(t *testing.T) {
	var whole, spilled contentchain.Chain
	if err := whole.Call("t", json.RawMessage(`{"a":1}`)); err != nil {
		t.Fatal(err)
	}
	payload, err := event.Encode(event.ToolStartedPayload{
		ToolCallID: "1", ToolName: "t", Arguments: json.RawMessage(`{}`), ArgumentsBlob: &event.BlobRef{SHA256: "x", Size: 7},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := spilled.Event(event.ToolStarted, payload, nil); err == nil {
		t.Error("a blob that cannot be opened was ignored")
	}
	open := func(event.BlobRef) ([]byte, error) { return []byte(`{"a":1}`), nil }
	if err := spilled.Event(event.ToolStarted, payload, open); err != nil {
		t.Fatal(err)
	}
	if whole.Head() != spilled.Head() {
		t.Error("another chain")
	}
}

func TestReportedHead(t *testing.T) {
	if h, ok := contentchain.Reported(json.RawMessage(`{"items":3,"content_chain":"ab","more":1}`)); !ok || h.Items != 3 {
		t.Errorf("%+v, %v", h, ok)
	}
	for _, payload := range []string{`{}`, `[]`, `{"items":3}`, ``} {
		if h, ok := contentchain.Reported(json.RawMessage(payload)); ok {
			t.Errorf("%s: %+v", payload, h)
		}
	}
}

func FuzzEventNeverPanics(f *testing.F) {
	f.Add(string(event.MessageDelta), []byte(`{"delta":"x"}`))
	f.Add(string(event.ToolStarted), []byte(`{"tool_name":"x","arguments":[1]}`))
	f.Fuzz(func(t *testing.T, kind string, payload []byte) {
		var c contentchain.Chain
		before := c.Head()
		if err := c.Event(event.Type(kind), payload, nil); err != nil && c.Head() != before {
			t.Fatal("an event that could not be read moved the chain")
		}
	})
}
