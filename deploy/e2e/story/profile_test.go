package story

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// parrot is the profile of an agent that always says the same.
func parrot(word string) string {
	return fmt.Sprintf("command: sh\nargs:\n  - -c\n  - |\n    read -r turn\n    printf '{\"type\":\"result\",\"text\":%q}\\n'\n", word)
}

func (h *home) profilePath(name string) string {
	return filepath.Join(h.state, "edge", "profiles", name+".yaml")
}

func (h *home) writeProfile(name, text string) {
	h.t.Helper()
	path := h.profilePath(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// until asks the same question until the answer is the one that is waited for.
func (h *home) until(what string, ok func() bool) {
	h.t.Helper()
	began := time.Now()
	for !ok() {
		if time.Since(began) > yardPatience {
			h.t.Fatalf("%s: waited %s in vain", what, yardPatience)
		}
	}
	h.t.Logf("%s after %s", what, time.Since(began).Round(time.Millisecond))
}

// untilAgent waits until `yard agents` shows the agent as online or offline.
func (h *home) untilAgent(name string, online bool) {
	h.t.Helper()
	h.until(fmt.Sprintf("agent %s online: %t", name, online), func() bool {
		return slices.ContainsFunc(ask[client.AgentList](h, "agents")[0].Items, func(a client.Agent) bool {
			return a.Name == name && a.Online == online
		})
	})
}

// health is what `edge-server health` prints.
func (h *home) health() string {
	h.t.Helper()
	env := []string{"EDGE_HOME=" + filepath.Join(h.state, "edge"), "EDGE_ADDR=" + h.edge}
	p := rig.Start(h.t, "edge-server health", env, filepath.Join(h.bin, "edge-server"), "health")
	if code := p.Wait(yardPatience); code != 0 {
		h.t.Fatalf("edge-server health ended with code %d", code)
	}
	return p.Out().String()
}

// mustSay sends a message and waits for the agent's answer.
func (h *home) mustSay(message, want string) {
	h.t.Helper()
	p := h.yard("send", "--session", "birds", message)
	if code := p.Wait(yardPatience); code != 0 || !strings.Contains(p.Out().String(), want) {
		h.t.Errorf("%q ended with code %d, want the answer %q:\n%s", message, code, want, p.Out())
	}
}

func TestFileInTheFolderIsAnAgentWithoutARestart(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.writeProfile("parrot", parrot("hello from the first"))
	h.untilAgent("parrot", true)
	h.mustSay("@parrot hi", "hello from the first")

	h.writeProfile("parrot", "comand: sh\n")
	h.until("the fault is shown", func() bool { return strings.Contains(h.health(), "did you mean command?") })
	h.mustSay("@parrot hi again", "hello from the first") // the last good version

	h.writeProfile("parrot", parrot("hello from the second"))
	h.until("the fault is gone", func() bool { return !strings.Contains(h.health(), "did you mean command?") })
	h.mustSay("@parrot and now", "hello from the second")

	if err := os.Remove(h.profilePath("parrot")); err != nil {
		t.Fatal(err)
	}
	h.untilAgent("parrot", false)
	waiting := h.yard("send", "--session", "birds", "@parrot are you there")
	h.until("the run waits", func() bool {
		return slices.ContainsFunc(ask[client.AgentTaskList](h, "runs")[0].Items, func(task client.AgentTask) bool { return task.State == client.RunStateWaitingEdge })
	})
	h.writeProfile("parrot", parrot("hello, I am back"))
	if code := waiting.Wait(yardPatience); code != 0 || !strings.Contains(waiting.Out().String(), "hello, I am back") {
		t.Errorf("what waited ended with code %d:\n%s", code, waiting.Out())
	}
	h.interrupt()
}
