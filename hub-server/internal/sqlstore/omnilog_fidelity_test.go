package sqlstore

import (
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/omnilog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/run"
)

// What a provider attached is in the messages byte for byte as it was in the rows of the edge, and so is what lies beside the log.
func TestFidelityAndBlobsComeOutOfTheStoreAsTheyWentIn(t *testing.T) {
	const verbatim = "{ \"b\" : 1.0,\t\"a\":1e400, \"b\":\"<\\u003c\\/\\u2028é\\u0000\" }"
	eachRecord(t, func(t *testing.T, r *record) {
		j, n := launched(t, r)
		j.answer(t, r, "accepted", "")
		kept := event.NewFidelity([]byte(verbatim))
		keep := func(value []byte) (event.BlobRef, error) {
			return event.BlobRef{SHA256: string(r.put(t, j.edge, value)), Size: int64(len(value))}, nil
		}
		agent := run.New(run.Options{})
		for _, e := range []run.AgentEvent{
			run.Fact{Type: event.SessionInit, Payload: event.SessionInitPayload{AgentSessionID: "s", SystemPrompt: strings.Repeat("Be brief. ", 100)}},
			run.Delta{Channel: run.Thought, Text: "hm", Last: true, Fidelity: kept},
			run.Delta{Text: "Two.", Last: true, Fidelity: kept},
			run.ToolCall{ID: "a", Name: "look", Fidelity: kept},
			run.ToolResult{ID: "a", Images: []string{"data:image/png;base64," + strings.Repeat("aGlo", 100)}},
			run.Done{},
		} {
			for _, c := range agent.Step(e) {
				c, err := c.Spill(200, keep)
				if err != nil {
					t.Fatal(err)
				}
				j.write(t, n.ID, event.Wire(c.Type), c.Payload)
			}
		}
		j.flush(t, r)
		stream := strings.Join(told(t, r.fresh(), n.Session, omnilog.FromTheBeginning, 1<<20), "\n")
		if got := strings.Count(stream, `"fidelity":`+verbatim+"}"); got != 3 {
			t.Errorf("%d of 3 came out as they went in:\n%s", got, stream)
		}
		for _, want := range []string{`"system_prompt":"Be brief. Be`, `"images":["data:image/png;base64,aGlo`} {
			if !strings.Contains(stream, want) {
				t.Errorf("no %s in\n%s", want, stream)
			}
		}
	})
}
