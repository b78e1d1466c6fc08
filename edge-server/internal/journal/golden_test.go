package journal_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/internal/journal"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

var update = flag.Bool("update", false, "write the golden files again")

const (
	goldenRun      id.Run      = "run_00112233445566aa"
	goldenDelivery id.Delivery = "dlv_01890a5d-ac96-774b-bcce-b302099a8057"
)

// A journal that an earlier version wrote opens and says what it said then. Its file changes only together with the format number.
func TestJournalOfFormatOneIsRead(t *testing.T) {
	file := filepath.Join("testdata", "format1.db")
	if *update {
		writeGolden(t, file)
	}
	content, err := os.ReadFile(file)
	must(t, err)
	home := t.TempDir()
	must(t, os.WriteFile(filepath.Join(home, "journal.db"), content, 0o600))
	j := open(t, options(home))
	must(t, j.Verify(t.Context()))
	s := j.State()
	if s.Floor != 1 || s.Head != 3 || s.Committed() != 2 || len(s.Incarnation) != 16 {
		t.Errorf("state is %+v", s)
	}
	found := rows(t, j.Journal, 1)
	if len(found) != 3 || string(found[1].Payload) != `{"state":"<b> \u2028"}` || found[2].Type != event.Wire(event.RunCompleted) {
		t.Errorf("rows are %+v", found)
	}
	if r, known, err := j.FindRun(t.Context(), goldenRun); !known || err != nil || r.Phase != journal.Ended || r.Nonce != "nonce" || r.Lease != 7 {
		t.Errorf("run is %+v %v %v", r, known, err)
	}
	if r, known, err := j.Receipt(t.Context(), goldenDelivery); !known || err != nil || r.Status != wire.Accepted {
		t.Errorf("receipt is %+v %v %v", r, known, err)
	}
	if v, err := j.AgentSession(t.Context(), journal.Dialogue{Session: "sess_1", Agent: "agent_1", Profile: "p"}); v != "s-1" || err != nil {
		t.Errorf("agent session is %q, %v", v, err)
	}
}

func writeGolden(t *testing.T, file string) {
	t.Helper()
	opts := options(t.TempDir())
	opts.Now = func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }
	j := open(t, opts)
	ctx := t.Context()
	c := wire.Command{DeliveryID: goldenDelivery, Kind: wire.Start, RunID: goldenRun, Lease: 7, Body: json.RawMessage(`{}`), Signature: "00"}
	must(t, j.AnswerStart(ctx, c, wire.CommandReceipt{DeliveryID: c.DeliveryID, RunID: c.RunID, Status: wire.Accepted}))
	must(t, j.Intend(ctx, goldenRun, "nonce"))
	must(t, j.KeepAgentSession(ctx, journal.Dialogue{Session: "sess_1", Agent: "agent_1", Profile: "p"}, "s-1"))
	must(t, j.Commit(ctx, origin(goldenRun), state("a"), state("<b> \u2028")))
	chain, _, err := j.ChainAt(ctx, 2)
	must(t, err)
	j.PutCommitted(wire.CommitReceipt{Incarnation: j.State().Incarnation, Seq: 2, Chain: chain, Epoch: "0011223344556677", Signature: "00"})
	must(t, j.Commit(ctx, origin(goldenRun), completed()))
	must(t, j.stop())
	content, err := os.ReadFile(filepath.Join(opts.Home, "journal.db"))
	must(t, err)
	must(t, os.MkdirAll(filepath.Dir(file), 0o755))
	must(t, os.WriteFile(file, content, 0o600))
}

func TestJournalOfANewerFormatIsLeftAlone(t *testing.T) {
	opts := options(t.TempDir())
	j := open(t, opts)
	j.SetFormat(t, 2)
	must(t, j.stop())
	if _, err := journal.Open(t.Context(), opts); err == nil {
		t.Error("a newer format was opened")
	}
}
