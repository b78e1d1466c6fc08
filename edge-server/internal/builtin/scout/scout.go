// Package scout is the agent that ships inside the edge: it reads the git history and the files of its workspace, says what it is doing while it
// does it, answers, and writes a report. It needs no key and no network, changes nothing, and says the same about the same repository. It
// speaks the lines of shared/agentline.
package scout

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/switchyard-dev/switchyard/shared/agentline"
	"github.com/switchyard-dev/switchyard/shared/bridge"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/supervise"
)

// Options of Run.
type Options struct {
	Dir  string        // the workspace
	Pace time.Duration // between two pieces of text; 0 writes them as fast as they are read
	Env  []string      // for git
}

const reportName = "report.md"

// Run reads one turn from in and answers it on out. The error is for stderr: nobody could be told, or the turn could not be read.
func Run(ctx context.Context, in io.Reader, out io.Writer, opts Options) error {
	stdin := bufio.NewReader(in)
	line, err := stdin.ReadBytes('\n')
	if err != nil && (len(line) == 0 || !errors.Is(err, io.EOF)) {
		return fmt.Errorf("read turn: %w", err)
	}
	turn, err := bridge.ParseTurn(line)
	if err != nil {
		return fmt.Errorf("read turn: %w", err)
	}
	w := agentline.NewWriter(out)
	s := session{
		voice: voice{w: w, pace: opts.Pace},
		tools: newToolbox(w, opts.Dir, opts.Env),
		asked: parseQuestion(turn.Message),
		ear:   &agentline.Ear{},
	}
	hearing := supervise.NewGroup(ctx) // it ends with stdin, at the latest with this process: nobody waits for it
	hearing.Go(func(context.Context) error { s.ear.Listen(stdin); return nil })
	defer s.tools.close()
	if err := s.work(ctx); err != nil {
		w.Fail("scout_failed", "Scout could not finish: "+err.Error(), true)
	}
	return errors.Join(w.Err(), ctx.Err())
}

// session is one turn.
type session struct {
	voice voice
	tools *toolbox
	asked question
	found findings
	ear   *agentline.Ear
}

// work looks, tells what it sees, and hands out the report.
func (s *session) work(ctx context.Context) error {
	if err := s.voice.think(ctx, "I am asked: "+s.asked.quote()+"\n"); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{s.lookAtFiles, s.lookAtHistory, s.lookAtFilesAskedFor, s.lookForWords, s.answer} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// answer says what was found, and once more where a person has said what else matters.
func (s *session) answer(ctx context.Context) error {
	if err := s.voice.think(ctx, "That is enough to answer.\n"); err != nil {
		return err
	}
	if _, err := s.hear(ctx); err != nil {
		return err
	}
	text := s.summary()
	for again := true; again; {
		err := s.voice.say(ctx, text)
		if err != nil {
			return err
		}
		if again, err = s.hear(ctx); err != nil {
			return err
		}
		text = s.summary()
	}
	s.voice.w.Artifact(reportName, "text/markdown; charset=utf-8", []byte(s.report(text)))
	s.voice.w.Metrics(map[string]any{"tool_calls": s.tools.calls, "commits_read": len(s.found.commits), "files_seen": s.found.listing.Files})
	s.voice.w.Done(text)
	return s.voice.w.Err()
}

// hear takes what a person has said meanwhile, and looks at what that names; false if nothing was said.
func (s *session) hear(ctx context.Context) (heard bool, err error) {
	for _, said := range s.ear.Steers() {
		if !heard {
			s.voice.w.EndMessage()
		}
		heard = true
		s.voice.w.Fact(event.SteerTaken, event.SteerTakenPayload{SteerID: said.SteerID})
		more := parseQuestion(said.Text)
		if err := s.voice.think(ctx, "I am told: "+more.quote()+"\n"); err != nil {
			return heard, err
		}
		s.asked.names, s.asked.words = more.names, more.words
		if err := errors.Join(s.lookAtFilesAskedFor(ctx), s.lookForWords(ctx)); err != nil {
			return heard, err
		}
	}
	return heard, nil
}
