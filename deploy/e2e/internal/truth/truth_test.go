package truth_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/truth"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/run"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// play lets an agent say a few things and returns its account and the log that a flawless system makes of them.
func play(t *testing.T) (truth.Account, []truth.Entry) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "book")
	book, err := truth.Open(path, "go")
	if err != nil {
		t.Fatal(err)
	}
	args, result, sum := json.RawMessage(`{"b":1, "a":"<é>"}`), json.RawMessage(`[1,2]`), strings.Repeat("ab", 32)
	said := []truth.Item{
		{Kind: truth.Thought, Text: "hm"}, {Kind: truth.Text, Text: "one "}, {Kind: truth.Text, Text: "two"},
		{Kind: truth.Call, Text: "search", Value: args}, {Kind: truth.Result, Value: result}, {Kind: truth.Text, Text: "three"},
		{Kind: truth.Call, Text: "write"}, {Kind: truth.Failure, Code: "tool_failed", Text: "no disk"},
		{Kind: truth.Artifact, Text: sum}, {Kind: truth.Text, Text: "four"},
	}
	for _, i := range said {
		if err := book.Say(i); err != nil {
			t.Fatal(err)
		}
	}
	metrics, err := json.Marshal(book.Head())
	if err != nil {
		t.Fatal(err)
	}
	log := logOf(t,
		run.Delta{Channel: run.Thought, Text: "hm"}, run.Delta{Text: "one "}, run.Delta{Text: "two"},
		run.ToolCall{ID: "1", Name: "search", Args: args}, run.ToolResult{ID: "1", Result: result}, run.Delta{Text: "three"},
		run.ToolCall{ID: "2", Name: "write"}, run.ToolResult{ID: "2", Error: &event.ErrorObj{Code: "tool_failed", Message: "no disk"}},
		run.Artifact{ArtifactCreatedPayload: event.ArtifactCreatedPayload{Type: "file", Filename: "f", Checksum: sum}}, run.Delta{Text: "four"},
		run.Fact{Type: event.SessionMetrics, Payload: json.RawMessage(metrics)}, run.Done{},
	)
	if err := book.Close(); err != nil {
		t.Fatal(err)
	}
	return read(t, path)[0], log
}

func logOf(t *testing.T, events ...run.AgentEvent) []truth.Entry {
	t.Helper()
	n := run.New(run.Options{})
	var log []truth.Entry
	for _, e := range events {
		for _, row := range n.Step(e) {
			payload, err := row.Encode()
			if err != nil {
				t.Fatal(err)
			}
			log = append(log, truth.Entry{Seq: int64(len(log) + 1), Type: row.Type, Payload: payload})
		}
	}
	return log
}

func read(t *testing.T, path string) []truth.Account {
	t.Helper()
	accounts, err := truth.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return accounts
}

func TestAFlawlessLogEqualsItsAccount(t *testing.T) {
	account, log := play(t)
	if err := account.Equal(log, nil); err != nil {
		t.Error(err)
	}
	if err := account.HasPrefix(log, nil); err != nil {
		t.Error(err)
	}
	if err := truth.AsReported(log, nil); err != nil {
		t.Error(err)
	}
}

// The positive control of every test that compares: a log that lost, doubled or moved a single piece of content is found out.
func TestATamperedLogIsFoundOut(t *testing.T) {
	account, log := play(t)
	for i := range log {
		if !isContent(log[i].Type) {
			continue
		}
		mustDiffer(t, account, renumbered(slices.Delete(slices.Clone(log), i, i+1)), "lost", i)
		mustDiffer(t, account, renumbered(slices.Insert(slices.Clone(log), i, log[i])), "doubled", i)
		if i > 0 && isContent(log[i-1].Type) {
			moved := slices.Clone(log)
			moved[i-1], moved[i] = moved[i], moved[i-1]
			mustDiffer(t, account, renumbered(moved), "moved", i)
		}
		altered := slices.Clone(log)
		altered[i].Payload = json.RawMessage(strings.NewReplacer("o", "0", "2", "3", "s", "5", "ab", "ba", "h", "k").Replace(string(altered[i].Payload)))
		mustDiffer(t, account, altered, "altered", i)
	}
}

func TestAHoleInTheNumbersIsFoundOut(t *testing.T) {
	account, log := play(t)
	log[4].Seq = 6
	mustDiffer(t, account, log, "renumbered", 4)
}

func TestALogWithoutTheAgentsReportIsNotEqual(t *testing.T) {
	account, log := play(t)
	log = slices.DeleteFunc(log, func(e truth.Entry) bool { return e.Type == event.SessionMetrics })
	if err := account.Equal(renumbered(log), nil); err == nil {
		t.Error("nobody missed the report")
	}
}

func TestALogThatWasCutOffIsAPrefix(t *testing.T) {
	account, log := play(t)
	for n := range log {
		cut := log[:n]
		if !slices.ContainsFunc(cut, func(e truth.Entry) bool { return isContent(e.Type) }) {
			continue
		}
		if err := account.HasPrefix(cut, nil); err != nil {
			t.Errorf("first %d events: %v", n, err)
		}
		for i := range cut[:n-1] {
			if !isContent(cut[i].Type) || !isContent(cut[n-1].Type) {
				continue
			}
			if err := account.HasPrefix(renumbered(slices.Delete(slices.Clone(cut), i, i+1)), nil); err == nil {
				t.Errorf("first %d events without event %d passed", n, i+1)
			}
		}
	}
}

func TestALineThatAKillCutShortWasNotSaid(t *testing.T) {
	path := filepath.Join(t.TempDir(), "book")
	book, err := truth.Open(path, "go")
	if err != nil {
		t.Fatal(err)
	}
	defer book.Close()
	if err := book.Say(truth.Item{Kind: truth.Text, Text: "whole"}); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, append(whole, `{"kind":"text","te`...), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := read(t, path)[0]; len(got.Items) != 1 || got.Items[0].Text != "whole" {
		t.Errorf("got %+v", got)
	}
}

func isContent(t event.Type) bool {
	switch t {
	case event.MessageDelta, event.Thinking, event.ToolStarted, event.ToolCompleted, event.ToolFailed, event.ArtifactCreated:
		return true
	}
	return false
}

func renumbered(log []truth.Entry) []truth.Entry {
	for i := range log {
		log[i].Seq = int64(i + 1)
	}
	return log
}

func mustDiffer(t *testing.T, account truth.Account, log []truth.Entry, what string, i int) {
	t.Helper()
	if err := truth.AsReported(log, nil); err == nil {
		t.Errorf("event %d was %s and the agent's report did not show it", i+1, what)
	}
	if err := account.Equal(log, nil); err == nil {
		t.Errorf("event %d was %s and nobody noticed: %s", i+1, what, log[min(i, len(log)-1)].Payload)
	}
}
