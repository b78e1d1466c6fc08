package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

const (
	question = "@scout what changed here in the last 20 commits?"
	cutAfter = 4 // events of the run that device a sees before it is killed
	rounds   = 3 // a machine that is busy may finish a run before the cut
)

// story is one performance.
type story struct {
	root     string // of the repository: what scout looks at
	programs string
	state    string
	out      io.Writer
	begun    time.Time
}

// seen is what one device has seen, over all its processes.
type seen struct {
	reducer *client.Reducer
	frames  int // frames that came, repeated ones too
}

func newSeen() *seen {
	return &seen{reducer: client.NewReducer()}
}

func (d *seen) take(l line) error {
	if l.Type == "" || l.Key == "" {
		return nil
	}
	d.frames++
	if d.reducer.Apply(l.HubWebSocketFrame) == client.Missed {
		return fmt.Errorf("%s came before the events in front of it", l.Key)
	}
	return nil
}

func (s *story) tell(format string, args ...any) {
	fmt.Fprintf(s.out, "%5.1f s  %s\n", time.Since(s.begun).Seconds(), fmt.Sprintf(format, args...))
}

func (s *story) play(ctx context.Context) (err error) {
	s.tell("starting a hub and an edge on a fresh state")
	up, err := s.up(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.down(up)) }()
	a, b := newSeen(), newSeen()
	for range rounds {
		runs, cut, err := s.round(ctx, a, b)
		if err != nil {
			return err
		}
		if cut {
			return s.judge(ctx, a, b, runs)
		}
		s.tell("the run was over before the cut; asking again")
	}
	return errors.New("this machine was too busy to cut a device off in the middle of a run")
}

// up starts hub and edge and waits until they are ready.
func (s *story) up(ctx context.Context) (*program, error) {
	// They are stopped at the end of the story, not at the end of its time.
	up, err := s.yard(context.WithoutCancel(ctx), "yard up", "up", "--state", s.state, "--workspace", s.root,
		"--hub-addr", "127.0.0.1:0", "--edge-addr", "127.0.0.1:0", "--json-ready")
	if err != nil {
		return nil, err
	}
	var ready struct {
		Hub    string `json:"hub"`
		TookMS int    `json:"took_ms"`
	}
	if err := up.next(&ready); err != nil {
		return nil, errors.Join(fmt.Errorf("yard up did not get ready: %w", err), up.kill(), up.wait())
	}
	s.tell("ready after %d ms: %s", ready.TookMS, ready.Hub)
	return up, nil
}

func (s *story) down(up *program) error {
	err := up.stop()
	if err == nil {
		s.tell("hub and edge have stopped cleanly")
	}
	return err
}

// round asks once. Device a is killed in the middle of the run; cut is false if the run was faster.
func (s *story) round(ctx context.Context, a, b *seen) (runs []client.RunID, cut bool, err error) {
	watching, err := s.watch(ctx, "device a")
	if err != nil {
		return nil, false, err
	}
	s.tell("device a watches; device b asks: %s", question)
	sending, err := s.yard(ctx, "device b", "--device", "b", "--json", "send", "--session", "demo", question)
	if err != nil {
		return nil, false, err
	}
	var last *client.AgentTask
	var askErr error
	var asking sync.WaitGroup
	asking.Go(func() { last, runs, askErr = ask(sending, b) })
	cut, err = s.cut(watching, a)
	if err != nil {
		return nil, false, errors.Join(err, sending.kill())
	}
	asking.Wait()
	if askErr != nil {
		return nil, false, askErr
	}
	s.tell("device b has seen the run end: %s", last.State)
	return runs, cut, s.resume(ctx, a, last)
}

func (s *story) watch(ctx context.Context, name string) (*program, error) {
	p, err := s.yard(ctx, name, "--json", "watch")
	if err != nil {
		return nil, err
	}
	for {
		var l line
		if err := p.next(&l); err != nil {
			return nil, errors.Join(fmt.Errorf("%s did not connect: %w", name, err), p.kill(), p.wait())
		}
		if l.Link != client.LinkUp {
			continue
		}
		s.tell("%s is connected (%s)", name, l.Resume)
		return p, nil
	}
}

// ask reads what the sending device sees to its end.
func ask(p *program, b *seen) (last *client.AgentTask, runs []client.RunID, err error) {
	err = p.rest(func(l line) error {
		switch {
		case l.Receipt != nil:
			runs = l.Receipt.TaskIds
		case l.Task != nil:
			last = l.Task
		}
		return b.take(l)
	})
	if err = errors.Join(err, p.wait()); err == nil && (last == nil || len(runs) == 0) {
		err = errors.New("device b started no run")
	}
	return last, runs, err
}

// cut lets device a see the beginning of a run and kills it.
func (s *story) cut(watching *program, a *seen) (inTheMiddle bool, err error) {
	for events := 0; events < cutAfter; {
		var l line
		if err := watching.next(&l); err != nil {
			return false, errors.Join(fmt.Errorf("device a: %w", err), watching.wait())
		}
		if err := a.take(l); err != nil {
			return false, fmt.Errorf("device a: %w", err)
		}
		if l.Type == client.HubWebSocketFrameTypeAgentStream {
			events++
		}
	}
	if err := watching.kill(); err != nil {
		return false, err
	}
	over := false
	err = watching.rest(func(l line) error { // what it had printed when it was killed
		over = over || l.Type == client.HubWebSocketFrameTypeAgentDone
		return a.take(l)
	})
	if waitErr := watching.wait(); waitErr == nil {
		err = errors.Join(err, errors.New("device a ended by itself"))
	}
	s.tell("device a is killed after %d frames", a.frames)
	return !over, err
}

// resume lets device a come back and see the rest.
func (s *story) resume(ctx context.Context, a *seen, last *client.AgentTask) error {
	watching, err := s.watch(ctx, "device a")
	if err != nil {
		return err
	}
	for !a.complete(last) {
		var l line
		if err := watching.next(&l); err != nil {
			if errors.Is(err, io.EOF) {
				err = errors.Join(errors.New("device a ended before it had seen everything"), watching.wait())
			}
			return err
		}
		if err := a.take(l); err != nil {
			return fmt.Errorf("device a: %w", err)
		}
	}
	s.tell("device a has seen the rest; %d frames in all, those that came twice included", a.frames)
	return watching.stop()
}

// complete says whether the device has seen the run's end and the message that its last words became.
func (d *seen) complete(t *client.AgentTask) bool {
	_, said := d.reducer.Message(t.FinalMessageID)
	return d.reducer.Outcome(t.ID) != "" && (said || t.FinalMessageID == "")
}
