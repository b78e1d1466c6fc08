package story

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// window is a terminal with a program in it.
type window struct {
	t             *testing.T
	cmd           *exec.Cmd
	master        *os.File
	tty           *os.File
	before        unix.Termios
	reading, work sync.WaitGroup
	screen        *vt.Emulator
	mu            sync.Mutex // of the screen, but for what it answers
	whole         []byte     // everything that was written
	ended         chan struct{}
}

// openWindow starts yard in a terminal.
func (h *home) openWindow(columns, rows int, args ...string) *window {
	h.t.Helper()
	w := &window{t: h.t, screen: vt.NewEmulator(columns, rows), ended: make(chan struct{})}
	var err error
	if w.master, w.tty, err = pty.Open(); err != nil {
		h.t.Fatalf("open a terminal: %v", err)
	}
	w.size(columns, rows)
	w.before = w.settings()
	w.cmd = exec.Command(filepath.Join(h.bin, "yard"), args...)
	w.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + h.t.TempDir(), "LANG=C.UTF-8", "TERM=xterm-256color", "YARD_HOME=" + filepath.Join(h.state, "yard")}
	w.cmd.Stdin, w.cmd.Stdout, w.cmd.Stderr = w.tty, w.tty, w.tty
	w.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := w.cmd.Start(); err != nil {
		h.t.Fatalf("start yard: %v", err)
	}
	w.reading.Go(func() { io.Copy(w, w.master) })     //nolint:errcheck // ends with the terminal
	w.work.Go(func() { io.Copy(w.master, w.screen) }) //nolint:errcheck // what a terminal answers when it is asked
	w.work.Go(func() {
		w.cmd.Wait() //nolint:errcheck // how it ended is asked of ProcessState
		close(w.ended)
	})
	h.t.Cleanup(w.close)
	return w
}

func (w *window) close() {
	w.cmd.Process.Kill() //nolint:errcheck // it may have ended
	<-w.ended
	w.tty.Close() // with the last one that has it open, the reading ends
	w.reading.Wait()
	w.screen.InputPipe().(io.Closer).Close() // ends what it answers; its own Close is not safe beside a Read
	w.master.Close()
	w.work.Wait()
	if w.t.Failed() {
		w.t.Logf("---- the screen ----\n%s", w.seen())
	}
}

// Write takes what the program draws.
func (w *window) Write(data []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.whole = append(w.whole, data...)
	return w.screen.Write(data)
}

// seen is what stands on the screen.
func (w *window) seen() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.screen.String()
}

// size gives the terminal another size, as a window that is dragged.
func (w *window) size(columns, rows int) {
	w.t.Helper()
	w.mu.Lock()
	w.screen.Resize(columns, rows)
	w.mu.Unlock()
	if err := pty.Setsize(w.master, &pty.Winsize{Cols: uint16(columns), Rows: uint16(rows)}); err != nil {
		w.t.Fatalf("resize: %v", err)
	}
}

func (w *window) settings() unix.Termios {
	w.t.Helper()
	now, err := unix.IoctlGetTermios(int(w.tty.Fd()), unix.TCGETS)
	if err != nil {
		w.t.Fatalf("read the terminal's settings: %v", err)
	}
	return *now
}

// typed types, as from a keyboard.
func (w *window) typed(keys string) {
	w.t.Helper()
	if _, err := w.master.WriteString(keys); err != nil {
		w.t.Fatalf("type: %v", err)
	}
}

// waitFor returns when text stands on the screen.
func (w *window) waitFor(text string) {
	w.t.Helper()
	for deadline := time.Now().Add(rig.Patience); !strings.Contains(w.seen(), text); {
		select {
		case <-w.ended:
			w.t.Fatalf("yard ended before %q was on the screen:\n%s", text, w.seen())
		case <-time.After(10 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("%q is not on the screen:\n%s", text, w.seen())
		}
	}
}

// mustLeaveCleanly checks that the program ends well and leaves the terminal as it was.
func (w *window) mustLeaveCleanly() {
	w.t.Helper()
	select {
	case <-w.ended:
	case <-time.After(yardPatience):
		w.t.Fatalf("yard goes on")
	}
	if code := w.cmd.ProcessState.ExitCode(); code != 0 {
		w.t.Errorf("yard ended with code %d", code)
	}
	if now := w.settings(); now != w.before {
		w.t.Errorf("the terminal was %+v, now it is %+v", w.before, now)
	}
	w.eventually("the terminal is as it was", func() bool {
		for on, off := range map[string]string{"\x1b[?1049h": "\x1b[?1049l", "\x1b[?25l": "\x1b[?25h", "\x1b[?2004h": "\x1b[?2004l", "\x1b[?1004h": "\x1b[?1004l"} {
			if written := w.written(); strings.LastIndex(written, on) > strings.LastIndex(written, off) {
				return false
			}
		}
		return true
	})
}

func (w *window) written() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.whole)
}

func (w *window) eventually(what string, so func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(rig.Patience); !so(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("not so: %s\n%q", what, w.written())
		}
	}
}

// guard says something that would clear a screen, and asks before it goes on.
const guard = `read -r turn
printf '%s\n' '{"type":"partial","text":"Wait\u001b[2J\u001b]0;mine\u0007 a moment. "}'
printf '%s\n' '{"type":"permission_request","request_id":"1","tool_name":"Bash","input":{"command":"ls -l"}}'
read -r answer
case $answer in
*'"behavior":"allow"'*) printf '%s\n' '{"type":"partial","text":"\nSo it is allowed."}' ;;
*) printf '%s\n' '{"type":"partial","text":"\nSo it is forbidden."}' ;;
esac
printf '%s\n' '{"type":"result","text":""}'
`

// employ gives the edge of a home the agent guard, and waits until it can be asked.
func (h *home) employ() {
	h.t.Helper()
	dir := filepath.Join(h.state, "edge", "profiles")
	files := map[string]string{"guard.sh": guard, "guard.yaml": "command: sh\nargs: [\"{{PROFILE_DIR}}/guard.sh\"]\npermission: true\nstreaming: true\n"}
	for _, name := range []string{"guard.sh", "guard.yaml"} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			h.t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(files[name]), 0o600); err != nil {
			h.t.Fatal(err)
		}
	}
	for deadline := time.Now().Add(rig.Patience); ; time.Sleep(100 * time.Millisecond) {
		for _, a := range ask[client.AgentList](h, "agents")[0].Items {
			if a.Name == "guard" && a.Online {
				return
			}
		}
		if time.Now().After(deadline) {
			h.t.Fatal("guard never came")
		}
	}
}

// A person at a full screen sees what is said elsewhere, asks an agent, answers what it asks, on a desk and on a phone, and leaves. Beside it stands a
// screen of cards, which shows the same.
func TestAPersonWorksOnTheFullScreenOfARealTerminal(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.employ()
	w := h.openWindow(80, 24, "tui")
	w.waitFor("● live")
	if code := h.yard("--device", "b", "send", "--session", "demo", "早上好，大家好").Wait(yardPatience); code != 0 {
		t.Fatalf("send ended with code %d", code)
	}
	w.waitFor("早上好，大家好")
	tree := h.openWindow(90, 30, "cards", "--session", "demo")
	tree.waitFor("● live")
	w.typed("\r@guard may I?\r")
	w.waitFor("guard asks")
	w.waitFor("]0;mine") // seen, and not obeyed
	w.waitFor(`{"command":"ls -l"}`)
	tree.waitFor("? waits for an answer")
	tree.waitFor("]0;mine")
	tree.waitFor("? the agent asks to use Bash")
	tree.waitFor("allow|deny")
	w.size(40, 20)
	w.waitFor("Ctrl-O answers")
	w.typed("\x0f")
	w.waitFor("a allow")
	w.typed("a")
	w.waitFor("So it is allowed.")
	tree.waitFor("So it is allowed.")
	tree.eventually("nothing is asked any more", func() bool { return !strings.Contains(tree.seen(), "yard answer") })
	tree.typed("\x03")
	tree.mustLeaveCleanly()
	w.size(100, 30)
	w.waitFor("Conversations")
	w.waitFor("So it is allowed.")
	w.eventually("what was said can be found", func() bool { return len(ask[client.MessageList](h, "search", "大家")[0].Items) == 1 })
	w.typed("/大家\r")
	w.waitFor("1 say “大家”")
	w.typed("\r")
	w.waitFor("▌  早上好，大家好")
	w.typed("G")
	w.eventually("everything is read", func() bool {
		now := ask[client.SessionList](h, "sessions")[0].Items[0]
		return now.LastReadSeq == now.LastSeq
	})
	w.typed("\x03")
	w.mustLeaveCleanly()
	h.interrupt()
}

// A full screen that is ended from outside, or whose login ends, leaves the terminal as it was.
func TestAFullScreenThatIsEndedLeavesTheTerminalAsItWas(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		w := h.openWindow(60, 20, "tui")
		w.waitFor("● live")
		if err := w.cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		w.mustLeaveCleanly()
	}
	w := h.openWindow(60, 20, "tui")
	w.waitFor("● live")
	h.up.Signal(syscall.SIGINT)
	w.waitFor("○ offline since")
	h.up.Wait(yardPatience)
	w.typed("\x11")
	w.mustLeaveCleanly()
}
