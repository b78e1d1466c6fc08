package typescript

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/npm"
	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/durable"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// farewell is the last message of a test: who has seen it has seen everything.
const farewell = "that was all"

func TestTheSDKPassesItsOwnTestsAndTheSharedScenarios(t *testing.T) {
	if err := npm.Pack(t).Test(); err != nil {
		t.Fatal(err)
	}
}

// progress is one line of a program of testdata.
type progress struct {
	Events      int    `json:"events"`      // of the run
	Connections int    `json:"connections"` // with a new one
	Digest      string `json:"digest"`
	RunDigest   string `json:"runDigest"`
	Words       string `json:"words"`
	Cursor      string `json:"cursor"`

	Asked   string               `json:"asked"`   // the request of a question
	Told    int                  `json:"told"`    // questions
	Answers []card.ReplyDecision `json:"answers"` // to each of them
	Seq     card.Seq             `json:"seq"`     // of the trace
}

// A program that installed the package follows a run through a network that fails. What it has at the end is what the Go SDK has, to the byte.
func TestAProgramThatInstalledThePackageSeesWhatTheGoSDKSees(t *testing.T) {
	t.Parallel()
	outside := npm.Pack(t).Outside
	r := rig.New(t, rig.Options{})
	truth := r.NewTruth()
	r.AddEdge("laptop", map[string]string{"worker": r.TestAgent("--events", "700", "--rate", "200", "--tools", "--truth", truth.Path)})
	device := r.Device("node", r.Proxy.URL())
	lines := start(t, outside, "follow.mjs", device)
	lines.until("connected", func(p progress) bool { return p.Connections > 0 })

	watching := r.Device("go", r.HubURL()).Watch()
	watching.UntilConnected(1)
	writer := r.Device("writer", r.HubURL())
	session := writer.Group("demo", "worker")
	run := writer.Run(session, "@worker go")
	for _, events := range []int{20, 50, 90} {
		lines.until("events", func(p progress) bool { return p.Events >= events })
		r.Proxy.Cut()
		lines.until("another connection", func(p progress) bool { return p.Connections > 0 })
	}
	writer.UntilState(run, client.RunStateCompleted)
	watching.UntilSettled(run)
	last := writer.Post(session, client.MessageInput{ClientMsgID: string(id.NewMessage())[len("msg_"):], Content: rig.Text(farewell)})
	r.Eventually("the last message", func() bool { _, there := watching.Message(last.MessageID); return there })

	end := lines.until("the end", func(p progress) bool { return p.Digest != "" })
	log := writer.Log(run)
	truth.MustEqual("go", log)
	if want := client.LogDigest(log); end.RunDigest != want {
		t.Errorf("the run's log is %s in Node, %s in the hub", end.RunDigest, want)
	}
	if want := watching.Everything(); end.Digest != want {
		t.Errorf("everything is %s in Node, %s in Go", end.Digest, want)
	}
	if end.Cursor == "" || end.Words == "" {
		t.Errorf("cursor %q, words %q", end.Cursor, end.Words)
	}
}

// program is one that prints lines of JSON.
type program struct {
	t      *testing.T
	cmd    *exec.Cmd
	lines  *bufio.Scanner
	stderr *bytes.Buffer
}

// start runs a program of testdata in the folder of an outsider, as a device. It is gone when the test ends.
func start(t *testing.T, dir, name string, device *rig.Device) *program {
	t.Helper()
	return startIn(t, dir, name, device, "")
}

// startIn is start; the program is about one conversation.
func startIn(t *testing.T, dir, name string, device *rig.Device, session string) *program {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	// In one step: a program that was started a moment ago may be reading it.
	if err := durable.Replace(filepath.Join(dir, name), source); err != nil {
		t.Fatal(err)
	}
	credentials, err := device.Keeper.Load()
	if err != nil {
		t.Fatal(err)
	}
	input, err := json.Marshal(map[string]any{
		"hub": device.Hub(), "farewell": farewell, "session": session,
		"credentials": map[string]any{
			"access_token": credentials.AccessToken, "refresh_token": credentials.RefreshToken, "expires_at": credentials.ExpiresAt.UnixMilli(),
			"user_id": credentials.UserID, "username": credentials.Username, "device_id": credentials.DeviceID,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return launch(t, dir, bytes.NewReader(input), nil, "node", name)
}

func launch(t *testing.T, dir string, stdin io.Reader, env []string, name string, args ...string) *program {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Stdin, cmd.Env = dir, stdin, append(os.Environ(), env...)
	p := &program{t: t, cmd: cmd, stderr: &bytes.Buffer{}}
	cmd.Stderr = p.stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(2*rig.Patience, func() { cmd.Process.Kill() }) //nolint:errcheck // so that a wait in vain ends
	t.Cleanup(func() {
		late.Stop()
		cmd.Process.Kill() //nolint:errcheck // it may have ended by itself
		cmd.Wait()         //nolint:errcheck // it was killed, or waited for
		if t.Failed() && p.stderr.Len() > 0 {
			t.Logf("---- %s said ----\n%s", name, p.stderr)
		}
	})
	p.lines = bufio.NewScanner(out)
	p.lines.Buffer(nil, 1<<20)
	return p
}

// until reads lines up to one that ok looks for.
func (p *program) until(what string, ok func(progress) bool) (line progress) {
	p.t.Helper()
	for p.lines.Scan() {
		line = progress{}
		if err := json.Unmarshal(p.lines.Bytes(), &line); err != nil {
			p.t.Fatalf("%s: %v", p.lines.Text(), err)
		}
		if ok(line) {
			return line
		}
	}
	p.t.Fatalf("%s: the program has ended, or it took too long; its last line is %+v", what, line)
	return line
}
