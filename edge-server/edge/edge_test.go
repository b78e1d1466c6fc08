package edge_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/edge"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/supervise"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func config(t *testing.T, more ...string) edge.Config {
	t.Helper()
	c, err := edge.LoadConfig(append([]string{"EDGE_HOME=" + t.TempDir(), "EDGE_ADDR=127.0.0.1:0"}, more...))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAllFaultsOfTheConfigurationAreReportedTogether(t *testing.T) {
	_, err := edge.LoadConfig([]string{
		"EDGE_ADDR=0.0.0.0:80", "EDGE_HUB_URL=ftp://x", "EDGE_PLACES=0", "EDGE_JOURNAL_CAP=5", "EDGE_STOP_TIMEOUT=0s", "EDGE_RESEND_WINDOW=-1h",
		"EDGE_ORIGINS=http://localhost:5173,localhost",
	})
	if err == nil {
		t.Fatal("accepted")
	}
	for _, name := range []string{"EDGE_ADDR", "EDGE_HUB_URL", "EDGE_PLACES", "EDGE_JOURNAL_CAP", "EDGE_STOP_TIMEOUT", "EDGE_RESEND_WINDOW", "EDGE_ORIGINS"} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not in: %v", name, err)
		}
	}
}

func TestEffectiveConfigurationIsPrinted(t *testing.T) {
	var out strings.Builder
	if err := config(t, "EDGE_PLACES=7", "EDGE_LOG_LEVEL=debug").Print(&out); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"EDGE_PLACES=7\n", "EDGE_LOG_LEVEL=DEBUG\n", "EDGE_ADDR=127.0.0.1:0\n", "EDGE_RESEND_WINDOW=72h0m0s\n"} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("%q is not in:\n%s", line, out.String())
		}
	}
}

// enrolling answers enrolments; what it was asked goes to seen.
func enrolling(t *testing.T, status int, answer any, seen *map[string]string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/edge/enrol" || json.NewDecoder(r.Body).Decode(seen) != nil {
			status = http.StatusTeapot
		}
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestEnrolmentKeepsTheIdentityForTheOwnerOnly(t *testing.T) {
	c, name := config(t), id.NewEdge()
	var seen map[string]string
	hub := enrolling(t, http.StatusCreated, map[string]any{"edge_id": name, "credential": "sye_secret"}, &seen)
	got, err := edge.Enrol(t.Context(), c, hub, "token", "v1")
	if err != nil || got != name {
		t.Fatalf("got %s, %v", got, err)
	}
	if seen["token"] != "token" || seen["version"] != "v1" || seen["hostname"] == "" {
		t.Errorf("the hub saw %v", seen)
	}
	info, err := os.Stat(filepath.Join(c.Home, "edge.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("file is %v, %v", info, err)
	}
	if _, err := edge.Enrol(t.Context(), c, hub, "token", "v1"); err == nil || !strings.Contains(err.Error(), string(name)) {
		t.Errorf("second enrolment: %v", err)
	}
}

func TestFailedEnrolmentSaysWhatToDo(t *testing.T) {
	var seen map[string]string
	refused := enrolling(t, http.StatusUnprocessableEntity, map[string]any{"code": "enrolment_invalid", "detail": "No."}, &seen)
	nothing := enrolling(t, http.StatusCreated, map[string]any{}, &seen)
	for hub, want := range map[string]string{
		refused: "yard edge enrol", nothing: "edge id", "http://127.0.0.1:1": "does it run", "nonsense": "something like https://",
	} {
		c := config(t)
		if _, err := edge.Enrol(t.Context(), c, hub, "token", "v1"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want something about %q", hub, err, want)
		}
		if _, err := os.Stat(filepath.Join(c.Home, "edge.json")); err == nil {
			t.Errorf("%s: an identity was written", hub)
		}
	}
}

func TestEdgeThatIsNotEnrolledDoesNotStart(t *testing.T) {
	if err := edge.Run(t.Context(), config(t), "v1", slog.New(slog.DiscardHandler)); !errors.Is(err, edge.ErrNotEnrolled) {
		t.Errorf("got %v", err)
	}
}

// An edge whose hub is away starts all the same, says so, keeps a second one out, and stops when told.
func TestEdgeRunsWithoutItsHub(t *testing.T) {
	var seen map[string]string
	hub := enrolling(t, http.StatusCreated, map[string]any{"edge_id": id.NewEdge(), "credential": "sye_secret"}, &seen)
	c := config(t, "EDGE_HUB_URL=http://127.0.0.1:1")
	if _, err := edge.Enrol(t.Context(), c, hub, "token", "v1"); err != nil {
		t.Fatal(err)
	}
	log, lines := listening()
	running := supervise.NewGroup(context.Background())
	running.Go(func(ctx context.Context) error { return edge.Run(ctx, c, "v1", log) })
	select {
	case <-lines: // its home says where
	case <-time.After(10 * time.Second):
		t.Fatal("the local API does not listen")
	}
	h, err := edge.AskHealth(t.Context(), c)
	if err != nil || !h.Ready() || h.Uplink.State != "connecting" || h.Version != "v1" {
		t.Errorf("health is %+v, %v", h, err)
	}
	if runs, err := edge.AskRuns(t.Context(), c, ""); err != nil || len(runs.Items) != 0 {
		t.Errorf("runs are %+v, %v", runs, err)
	}
	if err := edge.Follow(t.Context(), c, 2, nil); fault.CodeOf(err) != fault.CursorAhead {
		t.Errorf("followed from the future on: %v", err)
	}
	if err := edge.Run(t.Context(), c, "v1", log); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a second edge: %v", err)
	}
	running.Cancel()
	if err := running.Wait(); err != nil {
		t.Error(err)
	}
}

// listening returns a logger and a channel that gets the address of the local API once it is logged.
func listening() (*slog.Logger, <-chan string) {
	addr := make(chan string, 1)
	return slog.New(slog.NewJSONHandler(logLines(func(line []byte) {
		var entry struct{ Msg, Addr string }
		if json.Unmarshal(line, &entry) == nil && entry.Addr != "" {
			addr <- entry.Addr
		}
	}), nil)), addr
}

// logLines is called with each line of a log.
type logLines func(line []byte)

func (f logLines) Write(line []byte) (int, error) {
	f(line)
	return len(line), nil
}
