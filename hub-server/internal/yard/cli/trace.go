package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/talk"
	"github.com/switchyard-dev/switchyard/shared/omni"
	"github.com/switchyard-dev/switchyard/shared/omni/trace"
)

type traceCmd struct {
	Export traceExportCmd `cmd:"" help:"Write the traces of a conversation into files."`
	Verify traceVerifyCmd `cmd:"" help:"Hold files to the conversation that they are of."`
	Replay traceReplayCmd `cmd:"" help:"Show what a trace says."`
	Import traceImportCmd `cmd:"" help:"Make a conversation of a trace, to be read."`
}

type traceReplayCmd struct {
	Files []string `arg:"" name:"file" help:"The files of one conversation, its main session's first."`
	Speed float64  `placeholder:"N" help:"As it happened, N times as fast; no pause is longer than 3 s."`
}

// Help is shown below the usage.
func (traceReplayCmd) Help() string {
	return `Needs no hub. What sub-agents said is shown where the first file points at them. With --json each message is a line, as the file has it.

Examples:
  yard trace replay traces/*.jsonl | less
  yard trace replay --speed 10 sess_0190b4c2_001.jsonl`
}

// longestPause is what nobody waits longer than.
const longestPause = 3 * time.Second

// Run shows the messages of files.
func (c traceReplayCmd) Run(s *session) error {
	if c.Speed < 0 {
		return misused("--speed is how many times as fast: 1, 10, 0.5")
	}
	var lines []omni.Message
	for _, name := range c.Files {
		some, err := s.readTrace(name, false)
		if err != nil {
			return err
		}
		lines = append(lines, some...)
	}
	if joined, err := trace.Join(lines); err == nil {
		lines = joined
	}
	teller := screen.NewTraceTeller(s.Out, s.style)
	for i, m := range lines {
		if i > 0 && c.Speed > 0 {
			if err := s.pause(m.Time().Sub(lines[i-1].Time()), c.Speed); err != nil {
				return err
			}
		}
		if err := s.show(m, teller); err != nil {
			return err
		}
	}
	return nil
}

// show shows a message, or gives its line as the file has it.
func (s *session) show(m omni.Message, teller *screen.TraceTeller) error {
	if !s.json {
		return teller.Message(m)
	}
	_, err := s.Out.Write(m.WithoutOrigin().Line())
	return err
}

// pause waits as long as it was, so many times as fast.
func (s *session) pause(was time.Duration, speed float64) error {
	wait := time.NewTimer(min(longestPause, time.Duration(float64(max(0, was))/speed)))
	defer wait.Stop()
	select {
	case <-wait.C:
		return nil
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
}

// readTrace reads the lines of a file. What is wrong with it is told and passed over, or, if strict, an error; a last line that was cut off is none.
func (s *session) readTrace(name string, strict bool) (lines []omni.Message, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // only read
	var wrong []error
	for line, err := range trace.Read(file) {
		switch problem := line.Wrong(); {
		case err != nil:
			return nil, fmt.Errorf("%s: %w", name, err)
		case errors.Is(problem, trace.ErrTorn), problem != nil && !strict && line.Err != nil:
			fmt.Fprintln(s.Err, s.style.Yellow("●"), screen.Clean(fmt.Sprintf("%s:%d: %v; passed over", name, line.Number, problem)))
		case problem != nil && strict && len(wrong) < mostWrong:
			wrong = append(wrong, fmt.Errorf("%s:%d: %w", name, line.Number, problem))
		case problem == nil || !strict:
			lines = append(lines, line.Message)
		}
	}
	return lines, errors.Join(wrong...)
}

// mostWrong is how many wrong lines of a file are named.
const mostWrong = 10

type traceImportCmd struct {
	Files []string `arg:"" name:"file" help:"The files of one conversation: those of its main session in their order, and those of its sub-agents."`
	Name  string   `placeholder:"NAME" help:"What the conversation is called (default: as the first thing said in it begins)."`
}

// Help is shown below the usage.
func (traceImportCmd) Help() string {
	return `The conversation can be read everywhere, searched and shown to others, and nothing can be said in it. Its own traces are these files, byte for
byte: yard trace export gives them back.

Examples:
  yard trace import session-2026-07-18-09-30-00-a1b2c3d4_*.jsonl
  yard trace import --name "last week" traces/*.jsonl`
}

// Run brings the files to the hub, which takes all of them or none.
func (c traceImportCmd) Run(s *session) error {
	var all bytes.Buffer
	var lines []omni.Message
	for _, name := range c.Files {
		some, err := s.readTrace(name, true)
		if err != nil {
			return err
		}
		for _, m := range some {
			all.Write(m.Line())
		}
		lines = append(lines, some...)
	}
	if _, err := trace.Join(lines); err != nil {
		return fmt.Errorf("these files do not make a conversation: %w", err)
	}
	return s.with(func(h *hub) error {
		params := &client.ImportTraceParams{IdempotencyKey: talk.Key()}
		made, err := client.Decode[client.ImportedTrace](h.API().ImportTraceWithBody(s.ctx, params, "application/x-ndjson", &all))
		if err != nil {
			return err
		}
		if c.Name != "" {
			_, err := client.Decode[client.Session](h.API().UpdateSessionInfo(s.ctx, made.SessionID, client.SessionInfoInput{Name: &c.Name}))
			if err != nil {
				return fmt.Errorf("%s is there, and has no name of yours: %w", made.SessionID, err)
			}
		}
		return s.print(made, func() error {
			return s.say("%s, %d lines; `yard messages %s` shows it", made.SessionID, len(lines), made.SessionID)
		})
	})
}
