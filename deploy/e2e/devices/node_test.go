package devices

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
)

// node is a program with the TypeScript SDK, which does what it is told. It is used by one goroutine.
type node struct {
	t    *testing.T
	in   io.Writer
	out  *bufio.Reader
	late *time.Timer // ends a program that does not answer
}

// startNode starts the program of testdata where somebody has installed the package. It is gone when the test ends.
func startNode(t *testing.T) *node {
	t.Helper()
	const name = "devices.mjs"
	dir := npm.Pack(t).Outside
	source, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), source, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", name)
	var said bytes.Buffer
	cmd.Dir, cmd.Stderr = dir, &said
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(2*rig.Patience, func() { cmd.Process.Kill() }) //nolint:errcheck // so that a wait in vain ends
	n := &node{t: t, in: in, out: bufio.NewReader(out), late: late}
	t.Cleanup(func() {
		n.late.Stop()
		cmd.Process.Kill() //nolint:errcheck // it may have ended by itself
		cmd.Wait()         //nolint:errcheck // it was killed
		if t.Failed() && said.Len() > 0 {
			t.Logf("---- node said ----\n%s", &said)
		}
	})
	return n
}

// ask has the program do something.
func (n *node) ask(command string, input, answer any) {
	n.t.Helper()
	n.late.Reset(2 * rig.Patience)
	line, err := json.Marshal(map[string]any{"command": command, "input": input})
	if err != nil {
		n.t.Fatal(err)
	}
	if _, err := n.in.Write(append(line, '\n')); err != nil {
		n.t.Fatalf("tell node to %s: %v", command, err)
	}
	line, err = n.out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, answer)
	}
	if err != nil {
		n.t.Fatalf("node did not %s: %v", command, err)
	}
}

// snapshot is what a reducer of the TypeScript SDK has, with payloads as texts.
type snapshot struct {
	Records map[string]string `json:"records"`
	Marks   map[string]int64  `json:"marks"`
	Unread  map[string]int64  `json:"unread"`
}

// state is what the snapshot comes to.
func (s snapshot) state() state {
	records := map[string]json.RawMessage{}
	for key, text := range s.Records {
		records[key] = json.RawMessage(text)
	}
	return stateOf(records, s.Marks, s.Unread)
}

// reduce is what the TypeScript SDK makes of frames.
func (n *node) reduce(user string, frames []client.HubWebSocketFrame) state {
	n.t.Helper()
	type one struct {
		Type client.HubWebSocketFrameType `json:"type"`
		Raw  string                       `json:"raw"`
	}
	texts := make([]one, len(frames))
	for i, f := range frames {
		texts[i] = one{f.Type, string(f.Payload)}
	}
	var made snapshot
	n.ask("reduce", map[string]any{"user": user, "frames": texts}, &made)
	return made.state()
}

// follow lets a device of the TypeScript SDK follow until it sees its farewell; state waits for that.
func (n *node) follow(name string, device *rig.Device, start beginning, farewell string) {
	n.t.Helper()
	c, err := device.Keeper.Load()
	if err != nil {
		n.t.Fatal(err)
	}
	n.ask("follow", map[string]any{
		"name": name, "hub": device.Hub(), "cursor": start.cursor, "since": start.at.UnixMilli(), "farewell": farewell,
		"credentials": map[string]any{
			"access_token": c.AccessToken, "refresh_token": c.RefreshToken, "expires_at": c.ExpiresAt.UnixMilli(),
			"user_id": c.UserID, "username": c.Username, "device_id": c.DeviceID,
		},
	}, &struct{}{})
}

// state is what a device has when it has seen its farewell.
func (n *node) state(name string) state {
	n.t.Helper()
	var made snapshot
	n.ask("state", map[string]any{"name": name}, &made)
	return made.state()
}
