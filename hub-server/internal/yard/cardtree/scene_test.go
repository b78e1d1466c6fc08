package cardtree

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/card"
)

var update = flag.Bool("update", false, "write the golden files anew")

// began is when each scene begins. Each of its events comes half a second after the one before.
var began = time.Date(2026, 5, 7, 10, 0, 0, 0, time.UTC)

// scene makes the events of a trace, and the forest of them.
type scene struct {
	trace  *card.Trace
	clock  time.Time
	events []card.Event
	forest *client.CardForest
}

func newScene() *scene {
	s := &scene{trace: &card.Trace{ID: "tr_0123456789abcdef01234567", Session: "sess_1", Language: card.English}, clock: began, forest: client.NewCardForest()}
	s.forest.Apply(s.session(card.Opened, card.OpenedInner{ProtocolVersion: card.ProtocolVersion, Capabilities: card.Capabilities{Recovery: true}}))
	return s
}

func (s *scene) session(kind card.SessionKind, inner any) card.Event {
	return card.Opening{Session: "sess_1", Trace: s.trace.ID}.Tell(s.clock, kind, inner)
}

// in is the builder of a sub-agent, or of the conversation's own agent for "".
func (s *scene) in(agent string) card.Builder {
	s.clock = s.clock.Add(500 * time.Millisecond)
	return s.trace.At(s.clock, "run_0123456789abcdef").Sub(agent, "")
}

func (s *scene) take(e card.Event) {
	s.events = append(s.events, e)
	s.forest.Apply(e)
}

func ref(kind card.Kind, cardID, parent string) card.Ref {
	return card.Ref{ID: cardID, Kind: kind, Parent: parent}
}

func (s *scene) add(agent string, r card.Ref, payload any, hint *card.Hint) {
	s.take(s.in(agent).Add(r, payload, hint))
}

func (s *scene) say(agent string, r card.Ref, channel card.Channel, text string) {
	s.take(s.in(agent).Append(r, channel, 0, text))
}

func (s *scene) tick(r card.Ref, kind card.TickKind, inner any) {
	s.take(s.in("").Tick(r, kind, inner))
}

func (s *scene) end(agent string, r card.Ref, end card.End) { s.take(s.in(agent).Close(r, end)) }

func (s *scene) ask(agent, request, kind string, inner any) {
	s.take(s.in(agent).PromptUser(card.PromptPayload{RequestID: request, Kind: kind, Inner: encoded(inner)}))
}

func (s *scene) reply(request string, decision card.ReplyDecision, reason string) {
	s.take(s.in("").PromptReply(card.ReplyPayload{RequestID: request, Decision: decision, Reason: reason}))
}

var (
	turn    = ref(card.Turn, "turn_1", "")
	message = ref(card.Message, "msg_1", "turn_1")
	tool    = ref(card.Tool, "toolu_1", "msg_1")
)

// wholeTurn has everything that a turn may have, and has ended.
func wholeTurn(s *scene) {
	s.add("", turn, card.TurnPayload{TurnNo: 1}, &card.Hint{Summary: "写一封 mail about the interns"})
	s.add("", message, card.MessagePayload{Role: "assistant", Model: "m-1"}, nil)
	s.say("", message, card.ThinkingChannel, "First I look\nwhat is there.")
	s.say("", message, card.TextChannel, "Let me check what is there,\nthen I ask")
	s.say("", message, card.TextChannel, " the others.\n\n  - 今天我们看看怎么换行，一行放不下的时候\n  - two\n")
	s.end("", message, card.End{Status: card.OK})
	s.add("", tool, card.ToolPayload{Name: "Bash", Input: json.RawMessage(`{"command":"ls -la"}`), Phase: card.Executing}, nil)
	s.tick(tool, card.Progress, card.ProgressTick{ProgressPct: 0.5})
	s.end("", tool, card.End{Status: card.OK, Inner: card.ToolPayload{Output: "a.go\nb.go"}, Metrics: &card.Metrics{DurationMS: 120}})
	failing := ref(card.Tool, "toolu_2", "msg_1")
	s.add("", failing, card.ToolPayload{Name: "Read", Input: json.RawMessage(`{"path":"docs/a.md","limit":3}`), Phase: card.Executing}, nil)
	s.tick(failing, card.Note, card.NoteTick{Text: "the disk is slow", Severity: card.Warn})
	s.tick(failing, card.Intent, card.IntentTick{Intent: "reads the docs"})
	s.end("", failing, card.End{Status: card.Failed, Error: &card.ErrorInfo{Type: card.ToolTimeout, Message: "no answer for 120 s"}})
	agent := ref(card.Agent, "sub_1", "toolu_1")
	s.add("", agent, card.AgentPayload{Name: "planner", TaskPrompt: "Plan the mail"}, nil)
	plan := ref(card.Plan, "plan_1", "sub_1")
	s.add("sub_1", plan, card.PlanPayload{Goal: "a mail", Steps: []card.PlanStep{{StepID: "s1"}, {StepID: "s2"}}}, nil)
	first, second := ref(card.Step, "step_1", "plan_1"), ref(card.Step, "step_2", "plan_1")
	s.add("sub_1", first, card.StepPayload{StepID: "s1", SubagentType: "researcher", InputSummary: "who comes", Attempts: 2}, nil)
	s.end("sub_1", first, card.End{Status: card.OK, Inner: card.StepPayload{OutputSummary: "three people"}})
	s.add("sub_1", second, card.StepPayload{StepID: "s2", SubagentType: "writer"}, nil)
	s.end("sub_1", second, card.End{Status: card.Skipped})
	s.end("sub_1", plan, card.End{Status: card.OK})
	s.end("sub_1", agent, card.End{Status: card.Cancelled})
	odds(s)
	s.end("", turn, card.End{Status: card.OK, Metrics: &card.Metrics{DurationMS: 12345, CostUSD: 0.0023}})
}

// odds are the kinds of cards that are seldom.
func odds(s *scene) {
	done := func(r card.Ref, payload any) {
		s.add("", r, payload, nil)
		s.end("", r, card.End{Status: card.OK})
	}
	done(ref(card.Artifact, "art_1", "toolu_1"), card.ArtifactPayload{ArtifactRef: card.ArtifactRef{
		ArtifactID: "art_1", Name: "report.md", MIMEType: "text/markdown", SizeBytes: 4212}})
	done(ref(card.MemoryOp, "card_1", "turn_1"), card.MemoryOpPayload{Op: "compact", Subject: "notes", Bytes: 4096})
	done(ref(card.Budget, "card_2", "turn_1"), card.BudgetPayload{
		Kind: "warning", Spent: &card.Amount{Tokens: 900}, Limit: &card.Amount{Tokens: 1000, USD: 0.5, Calls: 3},
	})
	done(ref(card.Todo, "todo_1", "turn_1"), card.TodoPayload{Subject: "Write tests", Status: "completed", Owner: "main"})
	done(ref(card.Team, "card_3", "turn_1"), card.TeamPayload{TeamName: "press", Members: []string{"a", "b"}})
	thought := ref(card.Thinking, "thk_1", "turn_1")
	s.add("", thought, card.ThinkingPayload{}, nil)
	s.say("", thought, card.ThinkingChannel, "Hm.\nYes.")
	s.end("", thought, card.End{Status: card.OK})
	s.add("", ref("hologram", "card_4", "turn_1"), map[string]any{"depth": 3}, &card.Hint{Summary: "newer than this program"})
	e := s.in("").Add(ref(card.System, "card_5", ""), card.SystemPayload{Topic: "edge_offline", Summary: "The machine is away", ActionHint: "start it"}, nil)
	e.Envelope.Severity = card.Warn
	s.take(e)
}

// underWayTurn is in the middle of things.
func underWayTurn(s *scene) {
	s.add("", turn, card.TurnPayload{TurnNo: 1}, nil)
	s.add("", message, card.MessagePayload{}, nil)
	s.say("", message, card.TextChannel, "1\n2\n3\n4\n5\n6\n7\n8\n9")
	s.say("", message, card.ToolInputChannel, `{"command":"echo `+strings.Repeat("long ", 40)+`"`)
	s.add("", tool, card.ToolPayload{Name: "Fetch", Phase: card.Executing}, nil)
	s.tick(tool, card.Heartbeat, card.HeartbeatTick{Stage: "begins"})
	s.tick(tool, card.Progress, card.ProgressTick{Stage: "fetching", ProgressPct: 0.45, ItemsProcessed: 120, ItemsTotal: 300, Unit: "pages", ETAMS: 12000})
	queued := ref(card.Tool, "toolu_2", "msg_1")
	s.add("", queued, card.ToolPayload{Name: "Write", Phase: card.Queued}, nil)
	thought := ref(card.Message, "msg_2", "turn_1")
	s.add("", thought, card.MessagePayload{}, nil)
	s.say("", thought, card.ThinkingChannel, "one\ntwo\nthree\nfour")
}

// askingTurn waits for people.
func askingTurn(s *scene) {
	s.add("", turn, card.TurnPayload{TurnNo: 1}, nil)
	s.add("", tool, card.ToolPayload{Name: "Bash", Phase: card.PermissionWait}, nil)
	s.ask("", "req_1", "permission", card.Permission{ToolName: "Bash", ToolInput: "rm -r a\nrm -r b", Message: "Tidies up."})
	agent := ref(card.Agent, "sub_1", "turn_1")
	s.add("", agent, card.AgentPayload{Name: "planner"}, nil)
	s.ask("sub_1", "req_2", "question", map[string]any{
		"question": "Which branch?", "options": []map[string]string{{"label": "main"}, {"label": "next", "description": "not out yet"}},
	})
	s.ask("", "req_3", "plan_review", map[string]any{"plan_id": "p1", "goal": "a mail", "steps": []map[string]any{{"id": "s1", "description": "read"}}})
	s.ask("", "req_4", "step_decision", map[string]any{"scope": "step", "step_id": "s2", "reason": "rate limit", "allow_retry": true})
	s.ask("", "req_5", "permission", card.Permission{ToolName: "Read"})
	s.reply("req_5", card.Approved, "go on")
	s.ask("", "req_6", "poem", map[string]any{"about": "spring"})
	s.reply("req_6", card.TimedOut, "")
}

func golden(t *testing.T, name string, lines []string) {
	t.Helper()
	path, got := filepath.Join("testdata", name), strings.Join(lines, "\n")+"\n"
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (go test -update writes it anew):\n%s", path, got)
	}
}
