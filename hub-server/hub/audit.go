package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/audit"
	"github.com/switchyard-dev/switchyard/hub-server/internal/sqlstore"
)

// AuditSeq numbers the entries of the audit log from 1.
type AuditSeq = audit.Seq

// AuditVerdict is what an audit log proves.
type AuditVerdict = audit.Verdict

// VerifyAudit checks the audit log with the keys in HUB_KEYS_FILE. Hubs may run meanwhile.
func VerifyAudit(ctx context.Context, c Config) (AuditVerdict, error) {
	store, err := sqlstore.OpenBeside(ctx, c.storeURL()) // before the keys: if HUB_HOME is wrong, neither is there
	if err != nil {
		return AuditVerdict{}, err
	}
	defer store.Close() //nolint:errcheck // it only read
	keys, err := account.ReadKeyFile(c.KeysFile)
	if err != nil {
		return AuditVerdict{}, keysError(err)
	}
	signer, err := audit.NewSigner(keys.Receipts)
	if err != nil {
		return AuditVerdict{}, keysError(err)
	}
	return audit.Verify(ctx, sqlstore.NewAudit(store, nil), signer)
}

// entryLine is an entry of the audit log as ListAudit prints it.
type entryLine struct {
	Seq    AuditSeq  `json:"seq"`
	At     time.Time `json:"at"`
	Act    audit.Act `json:"act"`
	User   string    `json:"user,omitempty"`
	Target string    `json:"target,omitempty"`
	Detail string    `json:"detail,omitempty"`
}

// ListAudit prints the entries behind after, one JSON object a line. Whether they are what was written is for VerifyAudit to say.
func ListAudit(ctx context.Context, c Config, after AuditSeq, out io.Writer) error {
	store, err := sqlstore.OpenBeside(ctx, c.storeURL())
	if err != nil {
		return err
	}
	defer store.Close() //nolint:errcheck // it only read
	const page = 500
	log, lines := sqlstore.NewAudit(store, nil), json.NewEncoder(out)
	for {
		entries, err := log.Entries(ctx, after, page)
		if err != nil {
			return fmt.Errorf("read audit log: %w", err)
		}
		for _, e := range entries {
			if err := lines.Encode(entryLine{e.Seq, e.At, e.Act, string(e.User), e.Target, e.Detail}); err != nil {
				return err
			}
			after = e.Seq
		}
		if len(entries) < page {
			return nil
		}
	}
}
