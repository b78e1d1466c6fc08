package card_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// everything does once what a builder can do.
func everything(b card.Builder, ref card.Ref) []card.Event {
	return []card.Event{
		b.Add(ref, struct{}{}, nil), b.Set(ref, struct{}{}), b.Append(ref, card.TextChannel, 0, "x"), b.Tick(ref, card.Intent, card.IntentTick{}),
		b.Close(ref, card.End{Status: card.OK}), b.PromptUser(card.PromptPayload{}), b.PromptReply(card.ReplyPayload{}),
	}
}

func TestEverythingASubAgentDoesCarriesItsID(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, want := newTrace().At(at, runID), card.MainAgent
		for range rapid.IntRange(0, 4).Draw(t, "depth") {
			agent := rapid.StringMatching(`(|main|sub_[a-z]{1,3})`).Draw(t, "agent")
			if agent != "" {
				want = agent
			}
			b = b.Sub(agent, rapid.SampledFrom([]card.Role{"", card.Worker, card.Orchestrator}).Draw(t, "role"))
		}
		kind := rapid.SampledFrom(card.Kinds()).Draw(t, "kind")
		for _, e := range everything(b, card.Ref{ID: "c_1", Kind: kind}) {
			expected := want
			if e.Type.OfCard() && kind == card.Agent {
				expected = "c_1"
			}
			if e.Envelope.AgentID != expected {
				t.Fatalf("%s of %s in %s carries %s", e.Type, kind, want, e.Envelope.AgentID)
			}
		}
	})
}

func TestEventsAreNumberedWithoutHolesOverAllAgents(t *testing.T) {
	trace := newTrace()
	main := trace.At(at, runID)
	var all []card.Event
	for _, b := range []card.Builder{main, main.Sub("a", ""), main, main.Sub("a", "").Sub("b", card.Worker)} {
		all = append(all, everything(b, card.Ref{ID: "x", Kind: card.Tool})...)
	}
	seen := map[id.Event]bool{}
	for i, e := range all {
		if e.Envelope.Seq != card.Seq(i+1) || e.Envelope.EventID != card.EventID(traceID, e.Envelope.Seq) || seen[e.Envelope.EventID] {
			t.Errorf("event %d has %d %s", i+1, e.Envelope.Seq, e.Envelope.EventID)
		}
		seen[e.Envelope.EventID] = true
		if _, err := id.ParseEvent(string(e.Envelope.EventID)); err != nil {
			t.Error(err)
		}
	}
	if trace.Last != card.Seq(len(all)) {
		t.Errorf("last is %d", trace.Last)
	}
}

func TestAgentsHaveTheirRoleAndCardsThatOfTheirKind(t *testing.T) {
	main := newTrace().At(at, runID)
	role := func(b card.Builder, kind card.Kind) card.Role {
		return b.Set(card.Ref{ID: "x", Kind: kind}, struct{}{}).Envelope.AgentRole
	}
	if role(main, card.Message) != card.Persona || role(main, card.Tool) != card.Worker || role(main, card.Plan) != card.Orchestrator {
		t.Error("the kind does not decide")
	}
	if sub := main.Sub("s", card.Worker); role(sub, card.Message) != card.Worker {
		t.Error("the agent does not decide")
	}
	if boss := main.Sub("boss", card.Orchestrator); role(boss, card.Agent) != card.Worker {
		t.Error("the card of another agent has the role of who speaks of it")
	}
	if main.PromptUser(card.PromptPayload{}).Envelope.AgentRole != card.Persona || main.Sub("s", "").PromptUser(card.PromptPayload{}).Envelope.AgentRole != card.Worker {
		t.Error("who asks has another role")
	}
}

func TestAFailedCardSaysWhy(t *testing.T) {
	ref := card.Ref{ID: "x", Kind: card.Tool}
	main := newTrace().At(at, runID)
	closed := func(end card.End) card.ClosePayload {
		body, err := main.Close(ref, end).Body()
		if err != nil {
			t.Fatal(err)
		}
		return *body.(*card.ClosePayload)
	}
	if got := closed(card.End{Status: card.Failed}); got.Error == nil || got.Error.Type != card.Internal || got.Error.UserMessage == "" {
		t.Errorf("%+v", got.Error)
	}
	if got := closed(card.End{Status: card.Failed, Error: &card.ErrorInfo{Type: card.RateLimit}}); !got.Error.Retryable || got.Error.UserMessage == "" {
		t.Errorf("%+v", got.Error)
	}
	if got := closed(card.End{Status: card.OK, Error: &card.ErrorInfo{Type: card.RateLimit}}); got.Error != nil {
		t.Errorf("%+v", got.Error)
	}
}

func TestATraceGoesOnFromItsCheckpoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		owns := rapid.SliceOfN(rapid.StringMatching(`(|s[0-3]|toolu_[0-9])`), 1, 40).Draw(t, "owns")
		cut := rapid.IntRange(0, len(owns)).Draw(t, "cut")
		run := func(cut int) string {
			trace, lines := newTrace(), []string{}
			for i, own := range owns {
				if i == cut {
					state, err := json.Marshal(trace)
					if err != nil {
						t.Fatal(err)
					}
					trace = new(card.Trace)
					if err := json.Unmarshal(state, trace); err != nil {
						t.Fatal(err)
					}
				}
				b := trace.At(at, runID)
				kind := []card.Kind{card.Step, card.Tool}[i%2]
				line, err := b.Add(card.Ref{ID: b.NewID(kind, own), Kind: kind}, struct{}{}, nil).Encode()
				if err != nil {
					t.Fatal(err)
				}
				lines = append(lines, string(line))
			}
			return strings.Join(lines, "")
		}
		if whole, cutOnce := run(-1), run(cut); whole != cutOnce {
			t.Fatalf("whole\n%s\ncut at %d\n%s", whole, cut, cutOnce)
		}
	})
}

func TestAnArtifactIsWhereItsIDSays(t *testing.T) {
	payload := card.ArtifactPayload{ArtifactRef: card.ArtifactRef{ArtifactID: "art_1", Name: "x.md"}, URI: "file:///tmp/x.md"}
	ref := card.Ref{ID: "art_1", Kind: card.Artifact}
	b := newTrace().At(at, runID)
	for _, e := range []card.Event{b.Add(ref, payload, nil), b.Set(ref, payload), b.Close(ref, card.End{Status: card.OK, Inner: payload})} {
		if text := string(e.Payload); !strings.Contains(text, `"uri":"artifact://art_1"`) || strings.Contains(text, "file:") {
			t.Errorf("%s: %s", e.Type, text)
		}
	}
}

func TestTheLanguageIsThatOfTheTrace(t *testing.T) {
	trace := newTrace()
	trace.Language = card.English
	turn := card.Ref{ID: "turn_1", Kind: card.Turn}
	if got := trace.At(at, runID).Add(turn, card.TurnPayload{TurnNo: 2}, nil).Hint.Title; got != "Turn 2" {
		t.Error(got)
	}
	failed := trace.At(at, runID).Close(turn, card.End{Status: card.Failed, Error: &card.ErrorInfo{Type: card.MaxTurns}})
	if want := card.NewError(card.MaxTurns, "", card.English).UserMessage; !strings.Contains(string(failed.Payload), want) {
		t.Error(string(failed.Payload))
	}
}

func TestCardIDsAreThoseOfTheScenarios(t *testing.T) {
	var ids card.IDs
	for i, c := range []struct {
		kind      card.Kind
		own, want string
	}{
		{card.Turn, "c1", "turn_c1"},
		{card.Message, "msg_1", "msg_1"},
		{card.Tool, "toolu_1", "toolu_1"},
		{card.Tool, "tu_main_1", "tu_main_1"},
		{card.Agent, "sub_e5", "sub_e5"},
		{card.Plan, "pln_xxx", "plan_pln_xxx"},
		{card.Step, "s1", "step_s1"},
		{card.Step, "s1", "step_s1~7"},
		{card.Artifact, "art_a1b2", "art_a1b2"},
		{card.System, "", "card_0000000000000009"},
		{card.Tool, "", "tool_000000000000000a"},
		{card.Agent, "main", "main~11"},
		{card.Tool, "msg_1", "tool_msg_1"},
		{card.Tool, "sub_e5", "sub_e5~13"},
		{card.Tool, "a~1", "a~1~14"},
		{card.Todo, "t\n1", "todo_29ebd23c6baab017"},
	} {
		if got := ids.Take(c.kind, c.own, card.Seq(i)); got != c.want {
			t.Errorf("%s %q is %s, want %s", c.kind, c.own, got, c.want)
		}
	}
}

func TestNoTwoCardsHaveOneID(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var ids card.IDs
		seen := map[string]bool{}
		for seq := range rapid.IntRange(1, 300).Draw(t, "cards") {
			kind := rapid.SampledFrom(append(card.Kinds(), "hologram")).Draw(t, "kind")
			own := rapid.OneOf(rapid.StringMatching(`(tool_|card_)?[a-c0]?(~[0-9])?`), rapid.String()).Draw(t, "own")
			got := ids.Take(kind, own, card.Seq(seq+1))
			if seen[got] || got == "" || got == card.MainAgent {
				t.Fatalf("%s %q became %q", kind, own, got)
			}
			seen[got] = true
		}
	})
}

func TestIDsOfManyCardsStaySmallAndMostlyPlain(t *testing.T) {
	var ids card.IDs
	seen, changed := map[string]bool{}, 0
	for seq := 1; seq <= 20_000; seq++ {
		own := fmt.Sprintf("toolu_%d", seq)
		got := ids.Take(card.Tool, own, card.Seq(seq))
		if seen[got] {
			t.Fatalf("%s is there twice", got)
		}
		seen[got] = true
		if got != own && seq <= 2000 {
			changed++
		}
		if seq != 10 && seq != 1000 && seq != 20_000 {
			continue
		}
		state, err := json.Marshal(ids)
		if err != nil {
			t.Fatal(err)
		}
		if bound := map[int]int{10: 250, 1000: 4000, 20_000: 7000}[seq]; len(state) > bound {
			t.Errorf("%d ids take %d bytes", seq, len(state))
		}
	}
	if changed > 60 {
		t.Errorf("%d of the first 2000 ids were changed without need", changed)
	}
	if err := json.Unmarshal([]byte(`{"filters":[""]}`), &ids); err == nil {
		t.Error("an empty filter is read")
	}
}
