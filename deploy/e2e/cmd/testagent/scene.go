package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/play"
	"github.com/switchyard-dev/switchyard/shared/agentline"
	"github.com/switchyard-dev/switchyard/shared/bridge"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// stage is where a scene is played: one turn with the person at the other end. Which scene it is the words of the message say.
type stage struct {
	ctx    context.Context
	in     *bufio.Reader
	stdout io.Writer
	out    *agentline.Writer
	turn   bridge.Turn
	pace   time.Duration // between two signs of life
	cue    string        // file that is waited for instead, and taken away; "" for none
	ended  bool          // how the turn ends has been said
}

// scene is a part that the agent can play. Its session is named after it, so that it is taken up where its process was lost.
type scene struct {
	name string
	word string // in the message
	play func(*stage) error
}

// scenes are the five of S0 §13, then one for every other thing that shows as a card or asks. The first one is played when no word is in the message.
func scenes() []scene {
	return []scene{
		{"hello", "Hi", (*stage).hello},
		{"files", "List files", (*stage).files},
		{"search", "Search", (*stage).search},
		{"plan", "调研", (*stage).plan},
		{"fetch", "Fetch", (*stage).fetch},
		{"thoughts", "Think", (*stage).thoughts},
		{"manner", "How", (*stage).manner},
		{"kinds", "Show everything", (*stage).kinds},
		{"question", "Ask me", (*stage).question},
		{"permission", "Remove", (*stage).permission},
		{"decision", "Try hard", (*stage).decision},
		{"page", "Open the page", (*stage).page},
		{"server", "Use the server", (*stage).server},
		{"listening", "Listen", (*stage).listening},
		{"patience", "Be patient", (*stage).patience},
	}
}

// sessionPrefix begins the names of sessions.
const sessionPrefix = "scene-"

// sceneOf returns the scene that a turn asks for. One that goes on with a session and asks for nothing else goes on with its scene.
func sceneOf(turn bridge.Turn) scene {
	all := scenes()
	for _, s := range all {
		if strings.Contains(turn.Message, s.word) {
			return s
		}
	}
	for _, s := range all {
		if turn.SessionID == sessionPrefix+s.name {
			return s
		}
	}
	return all[0]
}

// timing is when a scene goes on by itself; see stage.
type timing struct {
	pace time.Duration
	cue  string
}

// perform plays the scene of a turn.
func perform(ctx context.Context, turn bridge.Turn, in *bufio.Reader, stdout io.Writer, when timing) error {
	s := &stage{ctx: ctx, in: in, stdout: stdout, out: agentline.NewWriter(stdout), turn: turn, pace: when.pace, cue: when.cue}
	played := sceneOf(turn)
	if turn.Compact {
		played.play = (*stage).compact
	}
	if p, err := play.Parse(turn.Message); err == nil {
		played = part(p)
	}
	s.out.SessionInit(sessionPrefix + played.name)
	if err := played.play(s); err != nil {
		return err
	}
	if s.ended {
		return s.out.Err()
	}
	s.out.Done("")
	return s.out.Err()
}

// say is a whole message in pieces. Pieces that are said at once may become one on their way; who wants to see each of them gives a cue for the next.
func (s *stage) say(pieces ...string) error {
	for i, piece := range pieces {
		if i > 0 && s.cue != "" {
			if err := s.await(); err != nil {
				return err
			}
		}
		s.out.Delta(piece)
	}
	s.out.EndMessage()
	return nil
}

// rest lets time go by between two signs of life.
func (s *stage) rest() error {
	if s.cue != "" {
		return s.await()
	}
	return s.sleep(s.pace)
}

// cueEvery is how often an agent looks for its cue.
const cueEvery = 5 * time.Millisecond

// await waits for the cue and takes it.
func (s *stage) await() error {
	for {
		switch err := os.Remove(s.cue); {
		case err == nil:
			return nil
		case !errors.Is(err, os.ErrNotExist):
			return fmt.Errorf("take the cue: %w", err)
		}
		if err := s.sleep(cueEvery); err != nil {
			return err
		}
	}
}

func (s *stage) sleep(d time.Duration) error {
	if d <= 0 {
		return s.ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
}

// ask puts a prompt before a person, as the given voice, and waits for the answer.
func (s *stage) ask(as *agentline.Writer, id string, kind event.PromptKind, inner any) (agentline.Response, error) {
	as.Ask(id, kind, inner, 0)
	line, err := s.hear()
	if err != nil {
		return agentline.Response{}, err
	}
	return agentline.ParseResponse(line)
}

// hear reads what the person says. Without anybody left to say it there is no turn to end.
func (s *stage) hear() ([]byte, error) {
	if err := s.out.Err(); err != nil {
		return nil, err
	}
	line, err := s.in.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("wait for an answer: %w", err)
	}
	return line, nil
}

// mayI asks whether a tool may be used.
func (s *stage) mayI(id, tool, call string, input any) (bool, error) {
	request, err := event.Encode(map[string]any{
		"type": bridge.TypePermissionRequest, "request_id": id, "tool_name": tool, "tool_use_id": call, "input": input,
		"description": "Is this all right?",
	})
	if err != nil {
		return false, fmt.Errorf("ask for permission: %w", err)
	}
	if _, err := s.stdout.Write(append(request, '\n')); err != nil {
		return false, fmt.Errorf("ask for permission: %w", err)
	}
	line, err := s.hear()
	if err != nil {
		return false, err
	}
	var answer bridge.PermissionResponse
	if err := json.Unmarshal(line, &answer); err != nil {
		return false, errors.Join(agentline.ErrNoResponse, err)
	}
	return answer.Behavior == bridge.Allow, nil
}
