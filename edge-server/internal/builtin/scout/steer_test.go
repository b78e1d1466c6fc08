package scout

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/agentline"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// telling is stdout that says something to scout when a line passes.
type telling struct {
	bytes.Buffer
	stdin *io.PipeWriter
	at    map[string]agentline.Control // by what the line holds; each once
	wrong error
}

func (o *telling) Write(line []byte) (int, error) {
	for text, c := range o.at {
		if !strings.Contains(string(line), text) {
			continue
		}
		delete(o.at, text)
		told, err := c.Encode()
		if err == nil {
			_, err = o.stdin.Write(append(told, "{}\n"...))
		}
		if err == nil {
			_, err = o.stdin.Write([]byte("{}\n")) // what came before it is heard when this is read
		}
		if err != nil {
			o.wrong = err
		}
	}
	return o.Buffer.Write(line)
}

// TestWhatIsSaidWhileScoutWorksIsLookedAt tells it of a file before it answers, and of a word behind the answer.
func TestWhatIsSaidWhileScoutWorksIsLookedAt(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "plan.md"), []byte("one\nthe zebra\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	in, stdin := io.Pipe()
	out := &telling{stdin: stdin, at: map[string]agentline.Control{
		"First I look": {Type: agentline.Steer, SteerID: "steer_1", Text: "Look at plan.md too."},
		"report.md.":   {Type: agentline.Steer, SteerID: "steer_2", Text: "Find zebra."},
	}}
	turn, err := io.ReadAll(turnOf(t, "What is here?"))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		ended <- Run(context.WithoutCancel(t.Context()), in, out, Options{Dir: dir, Env: os.Environ()})
	}()
	if _, err := stdin.Write(turn); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil || out.wrong != nil {
		t.Fatal(err, out.wrong)
	}
	_ = stdin.Close()
	a := read(t, out.Bytes())
	if !slices.Contains(a.tools, "read_file") || a.tools[len(a.tools)-1] != "search" {
		t.Errorf("used %q", a.tools)
	}
	var taken []string
	for _, l := range a.lines {
		if event.Type(l.Type) == event.SteerTaken {
			taken = append(taken, string(l.Payload))
		}
	}
	if !slices.Equal(taken, []string{`{"steer_id":"steer_1"}`, `{"steer_id":"steer_2"}`}) {
		t.Errorf("took %q", taken)
	}
	last := a.lines[len(a.lines)-1]
	if !strings.Contains(a.text, "plan.md has 2 lines") || !strings.Contains(last.Answer, "zebra") || strings.Count(a.text, "The whole picture") != 2 {
		t.Errorf("answered %q", a.text)
	}
}
