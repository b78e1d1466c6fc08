package trial_test

import (
	"context"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/edge-server/internal/process"
	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
	"github.com/switchyard-dev/switchyard/edge-server/internal/trial"
	"github.com/switchyard-dev/switchyard/shared/bridge"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// host is one for all tests, as in an edge.
var host = process.NewHost(slog.New(slog.DiscardHandler), process.DefaultLimits())

// agent is a program in sh.
func agent(t *testing.T, runtime profile.Runtime, script string) trial.Agent {
	t.Helper()
	return trial.Agent{
		Profile: profile.Profile{Runtime: runtime, Command: "sh", Args: []string{"-c", script}, Grace: 5 * time.Second, Streaming: true},
		Edge:    profile.Edge{Program: os.Args[0], Lookup: os.LookupEnv}, Dir: t.TempDir(),
	}
}

// shown is what a turn looked like.
type shown struct {
	trial.Result
	out, err string
}

// play plays a turn on a screen that is no terminal.
func play(ctx context.Context, t *testing.T, a trial.Agent, turn bridge.Turn, approver trial.Approver) shown {
	t.Helper()
	var out, errs syncBuilder
	screen := &trial.Screen{Out: &out, Err: &errs}
	result, err := a.Play(ctx, host, turn, approver, screen)
	if err != nil {
		t.Fatal(err)
	}
	screen.End(result, "try")
	return shown{result, out.String(), errs.String()}
}

func say(t *testing.T, a trial.Agent, message string) shown {
	t.Helper()
	return play(t.Context(), t, a, bridge.Turn{Message: message}, trial.Nobody{})
}

// syncBuilder is a strings.Builder that a test may read while it is written.
type syncBuilder struct {
	mu sync.Mutex
	b  strings.Builder
}

func (s *syncBuilder) Write(data []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(data)
}

func (s *syncBuilder) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func mustHold(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in:\n%s", part, text)
		}
	}
}
