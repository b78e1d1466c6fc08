package account

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/shared/id"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var discard = slog.New(slog.DiscardHandler)

// newKeyring makes a key file in a folder of the test.
func newKeyring(t *testing.T) *Keyring {
	t.Helper()
	ring, err := OpenKeyring(filepath.Join(t.TempDir(), "keys.json"), discard)
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

func newIssuer(t *testing.T, now time.Time) *Issuer {
	t.Helper()
	return NewIssuer(newKeyring(t), func() time.Time { return now })
}

func testDevice() Device {
	return Device{ID: id.NewDevice(), User: id.NewUser(), Type: CLI, Name: "a", Family: newFamily()}
}

// memoryAttempts is an AttemptStore whose effect is a counter.
type memoryAttempts struct {
	answers map[Attempt]struct {
		request [32]byte
		answer  []byte
	}
}

func (m *memoryAttempts) key(a Attempt) Attempt {
	return Attempt{User: a.User, Route: a.Route, Key: a.Key}
}

func (m *memoryAttempts) PriorAnswer(_ context.Context, a Attempt, _ time.Time) ([]byte, error) {
	found, ok := m.answers[m.key(a)]
	if !ok {
		return nil, nil
	}
	return found.answer, a.SameRequest(found.request[:])
}

func (m *memoryAttempts) record(c Claim) {
	m.answers[m.key(c.Attempt)] = struct {
		request [32]byte
		answer  []byte
	}{c.Request, c.Answer}
}
