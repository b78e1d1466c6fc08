package journal

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/run"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Phase is how far a run has come on this edge.
type Phase string

// Phases of a run. A crash in Intended leaves unknown whether a process was started.
const (
	Admitted Phase = "admitted" // recorded; nothing was started
	Intended Phase = "intended" // about to be started, perhaps started
	Started  Phase = "started"  // its process exists, or did
	Ended    Phase = "ended"    // its terminal is in the log, or the end of its process and the rest is the hub's (R21)
)

// Run is the admission record of a run.
type Run struct {
	ID        id.Run
	Start     wire.Command // the start command as it came
	Lease     wire.Lease   // the highest that was seen
	Phase     Phase
	Nonce     string // of the start, from Intended on
	PID       int    // of the agent, from Started on
	Cancelled bool   // a cancel was accepted
}

const (
	runFields  = `r.run, r.lease, r.phase, r.nonce, r.pid, r.cancelled, c.command`
	runTables  = ` FROM runs r JOIN commands c ON c.delivery = r.delivery`
	runColumns = runFields + runTables
)

func scanRun(scan func(...any) error) (r Run, err error) {
	var command []byte
	if err := scan(&r.ID, &r.Lease, &r.Phase, &r.Nonce, &r.PID, &r.Cancelled, &command); err != nil {
		return r, err
	}
	err = json.Unmarshal(command, &r.Start)
	return r, err
}

// FindRun returns the record of a run; false if it was never admitted here.
func (j *Journal) FindRun(ctx context.Context, r id.Run) (Run, bool, error) {
	found, err := query(ctx, j.db.readDB, scanRun, `SELECT `+runColumns+` WHERE r.run = ?`, string(r))
	if err != nil {
		return Run{}, false, fmt.Errorf("read run %s: %w", r, err)
	}
	if len(found) == 0 {
		return Run{}, false, nil
	}
	return found[0], true, nil
}

// OpenRuns returns the runs that have not ended, in the order of their admission.
func (j *Journal) OpenRuns(ctx context.Context) ([]Run, error) {
	found, err := query(ctx, j.db.readDB, scanRun, `SELECT `+runColumns+` WHERE r.ended_at IS NULL ORDER BY r.place`)
	if err != nil {
		return nil, fmt.Errorf("read open runs: %w", err)
	}
	return found, nil
}

// Intend records that the run is about to be started under the nonce. Only after it returned may a process be spawned.
func (j *Journal) Intend(ctx context.Context, r id.Run, nonce string) error {
	return j.record(ctx, func(tx *transaction) error {
		return tx.exec(`UPDATE runs SET phase = ?, nonce = ? WHERE run = ?`, string(Intended), nonce, string(r))
	})
}

// CommitStarted records that the process of the run exists, together with the events that say so.
func (j *Journal) CommitStarted(ctx context.Context, from Origin, pid int, events ...run.Candidate) error {
	return j.commitWith(ctx, from, func(tx *transaction) error {
		return tx.exec(`UPDATE runs SET phase = ?, pid = ? WHERE run = ?`, string(Started), pid, string(from.Scope.RunID))
	}, events)
}

// endRun marks the run of which this edge has nothing more to tell.
func (t *transaction) endRun(r id.Run, at time.Time) error {
	if err := t.exec(`UPDATE runs SET phase = ?, ended_at = ? WHERE run = ?`, string(Ended), at.UnixMicro(), string(r)); err != nil {
		return fmt.Errorf("end run: %w", err)
	}
	if err := t.exec(`DELETE FROM past_rows WHERE run = ?`, string(r)); err != nil {
		return fmt.Errorf("end run: %w", err)
	}
	return nil
}
