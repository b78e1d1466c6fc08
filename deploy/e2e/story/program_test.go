package story

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/omni"
)

// beside is what the program of docs/protocols/omni.md leaves out.
const beside = `package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"` + sdk + `"
	"github.com/switchyard-dev/switchyard/shared/omni"
)

func run(ctx context.Context, c *client.Client, session string) error {
BLOCK	return nil
}

func main() {
	var login client.Credentials
	err := json.NewDecoder(os.Stdin).Decode(&login)
	if err == nil {
		var c *client.Client
		if c, err = client.New(client.Options{Hub: os.Getenv("HUB"), Keeper: client.NewMemoryKeeper(login)}); err == nil {
			err = run(context.Background(), c, os.Getenv("SESSION"))
		}
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
`

// The ten lines of Go that docs/protocols/omni.md shows have an agent do something that somebody has to allow.
func TestTheProgramOfThePageOfMessagesWorks(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(rig.Root(), "docs", "protocols", "omni.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, block, found := strings.Cut(string(page), "```go\n")
	block, _, _ = strings.Cut(block, "```\n")
	if !found {
		t.Fatal("the page has no Go")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(strings.Replace(beside, "BLOCK", block, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(dir, "program"), filepath.Join(dir, "main.go"))
	build.Dir = filepath.Join(rig.Root(), "deploy", "e2e")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	r := rig.New(t, rig.Options{})
	profile := rig.Profile("events", r.Program("testagent"), "--scenes", "--pace", "20ms")
	r.AddEdge("laptop", map[string]string{"worker": profile + "permission: true\nkill_grace_secs: 1\n", "broken": rig.Profile("events", "false")})
	device := r.Device("program", r.HubURL())
	login, err := device.Keeper.Load()
	if err != nil {
		t.Fatal(err)
	}
	in, err := json.Marshal(login)
	if err != nil {
		t.Fatal(err)
	}
	start := func(agent string) ([]byte, error) {
		program := exec.CommandContext(t.Context(), filepath.Join(dir, "program"))
		program.Env = append(os.Environ(), "HUB="+r.HubURL(), "SESSION="+device.Group("demo", agent))
		program.Stdin = strings.NewReader(string(in))
		return program.CombinedOutput()
	}
	out, err := start("worker")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if !strings.Contains(string(out), "Name:Bash") || !strings.Contains(lines[len(lines)-1], "{Role:assistant Text:It is gone.") {
		t.Errorf("it printed\n%s", out)
	}
	out, err = start("broken")
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 || !regexp.MustCompile(`(?m)^run_[0-9a-f]{16} failed: .*\)$`).Match(out) {
		t.Errorf("with an agent that fails: %v\n%s", err, out)
	}
}

// A program that has given a task goes on with the run that takes an answer to the agent, because the edge was gone meanwhile.
func TestAProgramIsToldWhatContinuesItsRun(t *testing.T) {
	t.Parallel()
	a := newAsking(t, patient, `{"n":1}`)
	session, ctx := a.b.Session(a.session), t.Context()
	died := false
	answer := client.WithUpdates(func(u client.OmniUpdate) {
		if u.Approval == nil || died {
			return
		}
		died = true
		a.edge.Kill()
		a.edge.Start()
		if err := session.Approve(ctx, u.Approval.RequestID, omni.Allow, ""); err != nil {
			t.Errorf("answer: %v", err)
		}
	})
	last := ""
	for m, err := range session.Run(ctx, client.TextTask(order), answer) {
		if err != nil {
			t.Fatal(err)
		}
		if body, _ := m.Body(); m.IsCompleteModelMessage() {
			if text, is := body.(omni.TextPayload); is && text.Role == omni.Assistant {
				last = text.Text
			}
		}
	}
	if !died || !strings.Contains(last, `1 used {"n":1}`) {
		t.Errorf("the last that it was told is %q", last)
	}
	a.expectUsed(`{"n":1}`)
}
