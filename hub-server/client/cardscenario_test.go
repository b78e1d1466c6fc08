package client

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// A cardScenario is what a hub says of a trace and what a client must have made of it. api/card-scenarios.md says what each field means.
type cardScenario struct {
	Name  string
	Rule  string
	Steps []cardStep
	Want  cardOutcome
}

type cardStep struct {
	Take    json.RawMessage
	Verdict string
	Times   int
}

type cardOutcome struct {
	View        json.RawMessage
	Digest      string
	Roots       []string
	Below       map[string][]string
	Text        map[string]map[card.Channel]string
	Cursors     map[string]int64
	Visible     []string
	Interrupted []string
	MayWait     *bool `json:"may_wait"`
	Session     *struct {
		Model, Title string
		Members      []string
	}
	Error *card.ErrorType
}

type retryScenario struct {
	Rule     string
	Error    card.ErrorInfo
	Failures int
	WaitMS   []int64 `json:"wait_ms"`
}

func readCardScenarios(t *testing.T) (forests []cardScenario, retries []retryScenario) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "api", "card-scenarios.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Version int
		Forests []cardScenario
		Retries []retryScenario
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&file); err != nil {
		t.Fatal(err)
	}
	if file.Version != 1 || len(file.Forests) == 0 || len(file.Retries) == 0 {
		t.Fatalf("version %d, %d forests, %d retries", file.Version, len(file.Forests), len(file.Retries))
	}
	return file.Forests, file.Retries
}

var verdictNames = map[Verdict]string{Ignored: "ignored", Applied: "applied", Repeated: "repeated", Missed: "missed"}

// events are what the step takes: the same event so many times, each with the next number.
func (s cardStep) events(t *testing.T) []card.Event {
	t.Helper()
	var all []card.Event
	for i := range max(s.Times, 1) {
		e, err := card.Decode(s.Take)
		if err != nil {
			t.Fatal(err)
		}
		e.Envelope.Seq += card.Seq(i)
		all = append(all, e)
	}
	return all
}

func TestForestScenarios(t *testing.T) {
	forests, _ := readCardScenarios(t)
	for _, s := range forests {
		t.Run(s.Name, func(t *testing.T) {
			f := NewCardForest()
			for i, step := range s.Steps {
				for _, e := range step.events(t) {
					if got := verdictNames[f.Apply(e)]; got != step.Verdict {
						t.Errorf("step %d is %s, want %s", i+1, got, step.Verdict)
					}
				}
			}
			s.Want.compare(t, f)
		})
	}
}

func (want cardOutcome) compare(t *testing.T, f *CardForest) {
	t.Helper()
	view, err := event.Encode(f.view())
	if err != nil {
		t.Fatal(err)
	}
	if got, want := canonicalText(view), canonicalText(want.View); got != want {
		t.Errorf("the forest is\n%s\nwant\n%s", got, want)
	}
	if digest, err := f.Digest(); err != nil || digest != want.Digest {
		t.Errorf("digest is %s, %v, want %s", digest, err, want.Digest)
	}
	if got := cardIDs(f.Roots()); want.Roots != nil && !slices.Equal(got, want.Roots) {
		t.Errorf("roots are %q, want %q", got, want.Roots)
	}
	for parent, below := range want.Below {
		if got := cardIDs(f.Below(parent)); !slices.Equal(got, below) {
			t.Errorf("below %s are %q, want %q", parent, got, below)
		}
	}
	for cardID, channels := range want.Text {
		for channel, text := range channels {
			if got := f.Card(cardID).Text(channel); got != text {
				t.Errorf("%s of %s is %q, want %q", channel, cardID, got, text)
			}
		}
	}
	if got := f.Cursors(); want.Cursors != nil && !maps.Equal(got, want.Cursors) {
		t.Errorf("cursors are %v, want %v", got, want.Cursors)
	}
	want.comparePrompts(t, f)
	want.compareSession(t, f.Session())
}

func (want cardOutcome) comparePrompts(t *testing.T, f *CardForest) {
	t.Helper()
	var visible, interrupted []string
	for _, p := range f.Prompts() {
		if p.Visible() {
			visible = append(visible, p.RequestID)
		}
		if f.Interrupted(p) {
			interrupted = append(interrupted, p.RequestID)
		}
	}
	if want.Visible != nil && !slices.Equal(visible, want.Visible) {
		t.Errorf("visible are %q, want %q", visible, want.Visible)
	}
	if !slices.Equal(interrupted, want.Interrupted) {
		t.Errorf("interrupted are %q, want %q", interrupted, want.Interrupted)
	}
	if want.MayWait != nil && f.MayWait() != *want.MayWait {
		t.Errorf("may wait: %v", f.MayWait())
	}
}

func (want cardOutcome) compareSession(t *testing.T, got CardSession) {
	t.Helper()
	if w := want.Session; w != nil && (got.Model != w.Model || got.Title != w.Title || !slices.Equal(got.Members, w.Members)) {
		t.Errorf("session is %+v", got)
	}
	if (got.Error == nil) != (want.Error == nil) || got.Error != nil && got.Error.Type != *want.Error {
		t.Errorf("error is %+v", got.Error)
	}
}

func canonicalText(raw json.RawMessage) string {
	text, err := event.Canonical(raw)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func cardIDs(cards []*Card) []string {
	var ids []string
	for _, c := range cards {
		ids = append(ids, c.ID)
	}
	return ids
}

// A scenario that nobody has written cannot fail.
func TestForestScenariosShowEveryEvent(t *testing.T) {
	seen := map[any]bool{}
	forests, _ := readCardScenarios(t)
	for _, s := range forests {
		for _, step := range s.Steps {
			for _, e := range step.events(t) {
				seen[e.Type], seen[step.Verdict] = true, true
				var p struct{ Kind, Status, Channel string }
				if json.Unmarshal(e.Payload, &p) == nil {
					seen[card.TickKind(p.Kind)], seen[card.SessionKind(p.Kind)] = true, true
					seen[card.Status(p.Status)], seen[card.Channel(p.Channel)] = true, true
				}
			}
		}
	}
	var wanted []any
	for _, typ := range card.Types() {
		wanted = append(wanted, typ)
	}
	for _, kind := range card.SessionKinds() {
		wanted = append(wanted, kind)
	}
	for _, verdict := range verdictNames {
		wanted = append(wanted, verdict)
	}
	wanted = append(wanted, card.OK, card.Failed, card.Cancelled, card.Note, card.Progress, card.Heartbeat)
	for _, word := range append(wanted, card.TextChannel, card.ThinkingChannel, card.ToolInputChannel) {
		if !seen[word] {
			t.Errorf("no scenario has %s", word)
		}
	}
}

func TestAnOldQuestionMayHaveExpired(t *testing.T) {
	f := NewCardForest()
	asked := time.Date(2026, 5, 7, 10, 0, 0, 0, time.UTC)
	f.Apply(card.Event{
		Type: card.PromptUser, Envelope: card.Envelope{Seq: 1, Timestamp: asked},
		Payload: json.RawMessage(`{"request_id":"req_1","kind":"question","inner":{}}`),
	})
	p := f.Prompt(id.Request("req_1"))
	if p == nil || p.MayHaveExpired(asked.Add(7*24*time.Hour-time.Second)) || !p.MayHaveExpired(asked.Add(7*24*time.Hour)) {
		t.Errorf("%+v", p)
	}
}
