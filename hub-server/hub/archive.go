package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/archive"
	"github.com/switchyard-dev/switchyard/hub-server/internal/project/canonical"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/hub-server/internal/sqlstore"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// ArchivesVerdict is what VerifyArchives found.
type ArchivesVerdict struct {
	Archives int
	Events   int64
	Faults   []error // one for each archive that is not what the store says
}

// archiveLine is an archive as ListArchives prints it.
type archiveLine struct {
	Run    id.Run          `json:"run_id"`
	From   runlog.EventSeq `json:"from_seq"`
	To     runlog.EventSeq `json:"to_seq"`
	File   string          `json:"file"`
	Bytes  int64           `json:"payload_bytes"`
	SHA256 string          `json:"sha256"`
	At     time.Time       `json:"archived_at"`
}

// ListArchives prints what was archived, one JSON object a line. Hubs may run meanwhile.
func ListArchives(ctx context.Context, c Config, out io.Writer) error {
	lines := json.NewEncoder(out)
	return eachArchive(ctx, c, "", func(a sqlstore.Archived) error {
		return lines.Encode(archiveLine{a.Run, a.From, a.To, a.File, a.Payload, a.SHA256, a.At})
	})
}

// VerifyArchives reads every archive to its end and compares it with what the store recorded when it was written.
func VerifyArchives(ctx context.Context, c Config) (v ArchivesVerdict, err error) {
	err = eachArchive(ctx, c, "", func(a sqlstore.Archived) error {
		if err := verifyArchive(archive.Dir(c.ArchiveDir), a); err != nil {
			v.Faults = append(v.Faults, err)
			return nil
		}
		v.Archives++
		v.Events += a.Events
		return nil
	})
	return v, err
}

func verifyArchive(dir archive.Dir, a sqlstore.Archived) error {
	h, s, err := dir.Verify(a.File)
	if err != nil {
		return err
	}
	if h.Run != a.Run || h.From != a.From || h.To != a.To || s != a.Summary {
		return fmt.Errorf("%s: %w: it is whole, but not the file that the store has recorded", a.File, archive.ErrDamaged)
	}
	return nil
}

// ShowArchive prints the archived events of a run, one JSON object a line, each as GET /api/agent-runs/{run_id}/events has shown it in that
// view: lean or full.
func ShowArchive(ctx context.Context, c Config, run, view string, out io.Writer) error {
	asked, err := id.ParseRun(run)
	if err != nil {
		return fmt.Errorf("%q is not the id of a run: %w", run, err)
	}
	shown, err := canonical.ParseView(view)
	if err != nil {
		return err
	}
	dir, some := archive.Dir(c.ArchiveDir), false
	err = eachArchive(ctx, c, asked, func(a sqlstore.Archived) error {
		some = true
		if err := verifyArchive(dir, a); err != nil {
			return err
		}
		return dir.Read(a.File, func(h archive.Header, e archive.Event) error {
			p := canonical.Projection{View: shown, Agent: h.Agent, AgentChecksum: h.AgentChecksum}
			_, err := out.Write(append(canonical.OneLine(p.Append(nil, e.StoredEvent)), '\n'))
			return err
		})
	})
	if err == nil && !some {
		err = errors.New("nothing of this run was archived")
	}
	return err
}

func eachArchive(ctx context.Context, c Config, run id.Run, each func(sqlstore.Archived) error) error {
	store, err := sqlstore.OpenBeside(ctx, c.storeURL())
	if err != nil {
		return err
	}
	defer store.Close() //nolint:errcheck // it only read
	all, err := store.Archived(ctx, run)
	for _, a := range all {
		if err := each(a); err != nil {
			return err
		}
	}
	return err
}
