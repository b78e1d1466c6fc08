package up

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/home"
)

// stage is a state folder with stand-ins for both servers.
type stage struct {
	t      *testing.T
	config Config
	err    *safeBuffer
	stops  string
}

func newStage(t *testing.T, env ...string) *stage {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{"hub-server", "edge-server"} {
		if err := os.Symlink(self, filepath.Join(dir, program)); err != nil {
			t.Fatal(err)
		}
	}
	s := &stage{t: t, err: &safeBuffer{}, stops: filepath.Join(dir, "stops")}
	s.config = Config{
		State: filepath.Join(dir, "state"), Workspace: dir, HubAddr: "127.0.0.1:0", EdgeAddr: "127.0.0.1:0", Programs: dir,
		Environ: append(os.Environ(), append(env, "FAKE_STOPS="+s.stops)...), Yard: "bin/yard", WorkDir: dir, JSON: true, Err: s.err,
	}
	return s
}

// performance is a Run under way.
type performance struct {
	ready ready
	stop  context.CancelFunc
	done  chan error
}

// start runs until ready; stop it with end.
func (s *stage) start() *performance {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s.t.Cleanup(cancel)
	out, in := io.Pipe()
	p := &performance{stop: cancel, done: make(chan error, 1)}
	config := s.config
	config.Out = in
	go func() {
		err := Run(ctx, config)
		in.CloseWithError(errors.Join(err, io.EOF))
		p.done <- err
	}()
	if err := json.NewDecoder(out).Decode(&p.ready); err != nil {
		s.t.Fatalf("not ready: %v\n%s", err, s.err)
	}
	return p
}

func (p *performance) end(t *testing.T) {
	t.Helper()
	p.stop()
	if err := <-p.done; err != nil {
		t.Fatal(err)
	}
}

func (s *stage) read(names ...string) string {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(append([]string{s.config.State}, names...)...))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(data)
}

type safeBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}
func (b *safeBuffer) String() string { b.mu.Lock(); defer b.mu.Unlock(); return b.buf.String() }

func TestTheFirstStartMakesEverythingAndTheSecondGoesOnWithIt(t *testing.T) {
	s := newStage(t)
	first := s.start()
	login := s.read("login.txt")
	if !strings.HasPrefix(login, "user: ") || !strings.Contains(login, "\npassword: ") {
		t.Errorf("login.txt holds %q", login)
	}
	if info, err := os.Stat(filepath.Join(s.config.State, "login.txt")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode of login.txt: %v, %v", info.Mode(), err)
	}
	if kept, err := home.At(first.ready.YardHome).Login(); err != nil || kept.Hub != first.ready.Hub {
		t.Errorf("login of yard at %q, %v, want %q", kept.Hub, err, first.ready.Hub)
	}
	if first.ready.EdgeID != fakeEdgeID || first.ready.HubPID == 0 || first.ready.EdgePID == 0 {
		t.Errorf("ready: %+v", first.ready)
	}
	first.end(t)
	second := s.start()
	defer second.end(t)
	if s.read("login.txt") != login {
		t.Error("the second start has made another login")
	}
	if kept, err := home.At(second.ready.YardHome).Login(); err != nil || kept.Hub != second.ready.Hub {
		t.Errorf("login of yard at %q, %v, want the new address %q", kept.Hub, err, second.ready.Hub)
	}
	if old := s.read("logs", "hub.log.1"); !strings.Contains(old, "hub stopped") {
		t.Errorf("the log of the first start: %q", old)
	}
	if log := s.read("logs", "edge.log"); !strings.Contains(log, second.ready.Hub) {
		t.Errorf("the edge was not told the hub's new address: %q", log)
	}
}

func TestACrashBetweenPasswordAndLoginLocksNobodyOut(t *testing.T) {
	s := newStage(t)
	s.start().end(t)
	if err := os.Remove(filepath.Join(s.config.State, "yard", "login.json")); err != nil {
		t.Fatal(err)
	}
	s.start().end(t)
	if err := os.RemoveAll(filepath.Join(s.config.State, "yard")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(s.config.State, "login.txt")); err != nil {
		t.Fatal(err)
	}
	s.config.Out = io.Discard
	err := Run(t.Context(), s.config)
	if err == nil || !strings.Contains(err.Error(), "has a user already") {
		t.Errorf("without any login left: %v", err)
	}
}

func TestTheEdgeStopsBeforeTheHub(t *testing.T) {
	s := newStage(t)
	s.start().end(t)
	if order, err := os.ReadFile(s.stops); err != nil || string(order) != "edge\nhub\n" {
		t.Errorf("stopped in the order %q, %v", order, err)
	}
}

func TestAServerThatDiesIsReportedWithItsLastWordsAndStopsTheOther(t *testing.T) {
	for _, c := range []struct{ env, want string }{
		{"FAKE_HUB=dies", "hub-server has stopped by itself (exit status 3)\nIts last words, of state/logs/hub.log:\n  last words"},
		{"FAKE_EDGE=dies", "edge-server has stopped by itself (exit status 3)"},
	} {
		s := newStage(t, c.env)
		s.config.Out = io.Discard
		if err := Run(t.Context(), s.config); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.env, err)
		}
	}
	s := newStage(t, "FAKE_EDGE=dies later") // again and again
	p := s.start()
	err := <-p.done
	if err == nil || !strings.Contains(err.Error(), "later words") {
		t.Errorf("later: %v", err)
	}
	if order, _ := os.ReadFile(s.stops); string(order) != "hub\n" {
		t.Errorf("stopped: %q", order)
	}
}

func TestAServerThatIsKilledIsStartedAgainAndTheOtherRunsOn(t *testing.T) {
	s := newStage(t)
	p := s.start()
	defer p.end(t)
	if err := syscall.Kill(p.ready.HubPID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(20 * time.Second)
	for {
		var now record
		if err := json.Unmarshal([]byte(s.read("up.json")), &now); err == nil && now.HubPID != p.ready.HubPID {
			if now.EdgePID != p.ready.EdgePID {
				t.Errorf("the edge was started again too")
			}
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the hub was not started again")
		}
		time.Sleep(10 * time.Millisecond) // between two looks at a file
	}
}

func TestASecondOneOnTheSameStateIsRefused(t *testing.T) {
	s := newStage(t)
	p := s.start()
	defer p.end(t)
	second := s.config
	second.Out = io.Discard
	err := Run(t.Context(), second)
	if err == nil || !strings.Contains(err.Error(), "run on state already ("+p.ready.Hub) {
		t.Errorf("error %v", err)
	}
}

func TestMissingProgramsAreNamed(t *testing.T) {
	s := newStage(t)
	s.config.Programs, s.config.Out = t.TempDir(), io.Discard
	if err := Run(t.Context(), s.config); err == nil || !strings.Contains(err.Error(), "`make build` makes it") {
		t.Errorf("error %v", err)
	}
	s.config.Workspace = "/nowhere"
	if err := Run(t.Context(), s.config); err == nil || !strings.Contains(err.Error(), "--workspace names another") {
		t.Errorf("error %v", err)
	}
}

func TestAHubThatWouldSpeakTLSIsNotStartedHere(t *testing.T) {
	s := newStage(t)
	s.config.Out = io.Discard
	s.config.Environ = append(s.config.Environ, "HUB_TLS_CERT=/etc/hub.pem")
	if err := Run(t.Context(), s.config); err == nil || !strings.Contains(err.Error(), "HUB_TLS_CERT is set") {
		t.Errorf("error %v", err)
	}
}

func TestServersThatWereLeftBehindAreStopped(t *testing.T) {
	s := newStage(t)
	s.start().end(t)
	left := exec.Command(filepath.Join(s.config.Programs, "edge-server"))
	left.Env = append(os.Environ(), "FAKE_STOPS="+s.stops, "EDGE_HOME="+filepath.Join(s.config.State, "edge"))
	if err := left.Start(); err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	go func() { left.Wait(); close(gone) }()
	record, _ := json.Marshal(record{PID: 1, EdgePID: left.Process.Pid, HubPID: os.Getpid()}) // the latter is no hub-server
	if err := os.WriteFile(filepath.Join(s.config.State, "up.json"), record, 0o600); err != nil {
		t.Fatal(err)
	}
	s.start().end(t)
	select {
	case <-gone:
	case <-time.After(10 * time.Second):
		left.Process.Kill()
		t.Error("the edge of an earlier start still runs")
	}
}

func TestASecondInterruptionKills(t *testing.T) {
	s := newStage(t, "FAKE_EDGE=lingers")
	p := s.start()
	p.stop()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	again := time.NewTicker(echo / 2)
	defer again.Stop()
	for {
		select {
		case err := <-p.done:
			if err != nil {
				t.Error(err)
			}
			return
		case <-again.C:
			syscall.Kill(os.Getpid(), syscall.SIGINT)
		case <-ctx.Done():
			t.Fatal("it still runs")
		}
	}
}

func TestTheNextFreePortIsTakenAndSaid(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	var said safeBuffer
	s := &state{Config: Config{Err: &said}}
	got, err := s.free("hub", taken.Addr().String(), "")
	if err != nil || got == taken.Addr().String() {
		t.Fatalf("address %q, %v", got, err)
	}
	if !strings.Contains(said.String(), "is in use, so the hub takes") {
		t.Errorf("said %q", said.String())
	}
	if next, err := s.free("edge", got, got); err != nil || next == got {
		t.Errorf("an address that is as good as taken: %q, %v", next, err)
	}
	for _, bad := range []string{"8080", "127.0.0.1:http", "127.0.0.1:70000", "999.0.0.1:80"} {
		if _, err := s.free("hub", bad, ""); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	for addr, want := range map[string]string{"0.0.0.0:80": "127.0.0.1:80", ":80": "127.0.0.1:80", "[::]:80": "127.0.0.1:80", "10.0.0.1:80": "10.0.0.1:80"} {
		if got := dialable(addr); got != want {
			t.Errorf("dialable(%q) = %q, want %q", addr, got, want)
		}
	}
}

func TestAUserNameIsWhatAHubTakes(t *testing.T) {
	for name, want := range map[string]string{
		"ada": "ada", "Ada.Lovelace": "ada.lovelace", `CORP\ada`: "ada", "_x": "x", "": "dev", "ÄÖ": "dev", "a b": "ab", strings.Repeat("a", 70): strings.Repeat("a", 64),
	} {
		if got := sanitise(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	if a, b := newPassword(), newPassword(); a == b || len(a) != 27 {
		t.Errorf("passwords %q, %q", a, b)
	}
}

func TestTheBannerSaysWhatToTypeNext(t *testing.T) {
	dir := t.TempDir()
	s := &state{Config: Config{State: filepath.Join(dir, ".switchyard"), WorkDir: dir, Workspace: dir, Yard: "bin/yard"}, hubURL: "http://127.0.0.1:8080", started: time.Now()}
	s.home = home.At(s.dir("yard"))
	s.fresh = &account{"ada", "secret"}
	for _, want := range []string{
		"address   http://127.0.0.1:8080\n", "login     ada, password secret (also in .switchyard/login.txt)\n",
		"\n  bin/yard watch\n", "\n  bin/yard --device b send --session demo \"@scout what changed here in the last 20 commits?\"\n",
	} {
		if got := s.banner("scout"); !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	s.home = home.At("/elsewhere/yard")
	if got := s.banner("scout"); !strings.Contains(got, "\n  YARD_HOME=/elsewhere/yard bin/yard watch\n") {
		t.Errorf("another home:\n%s", got)
	}
}
