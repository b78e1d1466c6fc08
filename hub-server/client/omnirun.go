package client

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"time"

	"github.com/switchyard-dev/switchyard/shared/omni"
	"github.com/switchyard-dev/switchyard/shared/supervise"
)

// RunOption says something about a Run.
type RunOption func(*omniRun)

// WithKey names the attempt: a program that comes again with the same key and the same task, after a crash say, goes on with the run that it has
// begun. Without it each Run is a task of its own.
func WithKey(key string) RunOption { return func(r *omniRun) { r.key = key } }

// From makes a Run tell from behind a cursor that an earlier one was told, in place of from now on.
func From(cursor string) RunOption { return func(r *omniRun) { r.cursor = cursor } }

// WithApprovals answers what the run and others of the conversation ask for, each in a goroutine of its own. An error is a deny, with its text as the
// reason. ctx ends when somebody else has answered, or the loop has ended. Without it calls wait for a person, or for Approve.
func WithApprovals(answer func(ctx context.Context, ask OmniApproval) (omni.Decision, error)) RunOption {
	return func(r *omniRun) { r.approvals.answer = answer }
}

// WithUpdates is told all that the stream of the run brings, before its messages are yielded: cursors to keep, states, approvals, changes of the connection.
func WithUpdates(tell func(OmniUpdate)) RunOption { return func(r *omniRun) { r.tell = tell } }

// Run gives the conversation a task and yields what is said in it from then on, each message exactly once and in order, over any number of
// connections, until the run has been told to its end. What others say there meanwhile is in between. A run that another one continues, because its
// process was gone when a person answered what it had asked, is followed into that one.
//
// The loop ends without an error if the run completed, and with a *TaskError if it failed, was cancelled or was interrupted.
//
// Leaving the loop, or the end of ctx, leaves the run at work: Abort stops it. Other errors that end the loop are a refusal of the task (409), or of the
// conversation (not_found), a *ResyncError where the hub's store was restored from a backup, ErrLoggedOut, and that of ctx. Where the hub keeps no longer
// what comes next, Run reads the history and goes on: fragments are missing then.
func (s *OmniSession) Run(ctx context.Context, task OmniTask, options ...RunOption) iter.Seq2[omni.Message, error] {
	return func(yield func(omni.Message, error) bool) {
		r := &omniRun{session: s, tell: func(OmniUpdate) {}, approvals: approver{session: s}}
		for _, option := range options {
			option(r)
		}
		ctx, cancel := context.WithCancelCause(ctx)
		defer r.approvals.end()
		defer cancel(nil)
		r.yield = yield
		r.approvals.begin(ctx, cancel)
		if err := r.all(ctx, task); err != nil && !r.stopped {
			if cause := context.Cause(ctx); cause != nil {
				err = cause
			}
			yield(omni.Message{}, err)
		}
	}
}

// omniRun is one Run. It is used by one goroutine.
type omniRun struct {
	session   *OmniSession
	key       string
	cursor    string // all up to here has been yielded
	tell      func(OmniUpdate)
	approvals approver
	yield     func(omni.Message, error) bool
	run       RunID // that is followed
	begun     bool  // a state has had it
	ended     bool  // the hub says that it is over: what follows the connection's first state is not of it
	stopped   bool  // the caller has left the loop
}

// errRunOver ends a connection because the hub has said beside it that the run is over.
var errRunOver = errors.New("the run is over")

// all gives the task and follows it. The place in the conversation is known before the task is given, so that nothing of it is missed.
func (r *omniRun) all(ctx context.Context, task OmniTask) error {
	if r.cursor == "" {
		if err := r.head(ctx); err != nil {
			return err
		}
	}
	accepted, err := r.session.Task(ctx, r.key, task)
	if err != nil {
		return fmt.Errorf("give the task: %w", err)
	}
	for r.run = accepted.RunID; ; r.begun, r.ended = false, false {
		if err := r.whole(ctx); err != nil || r.stopped {
			return err
		}
		task, err := r.session.outcome(ctx, r.run)
		if err != nil {
			return err
		}
		if task.ContinuedByRunID == "" {
			return errorOf(task)
		}
		r.run = task.ContinuedByRunID
	}
}

// whole follows one run to its end.
func (r *omniRun) whole(ctx context.Context) error {
	for {
		over, err := r.follow(ctx)
		if over {
			return nil
		}
		if errors.Is(err, errRunOver) {
			r.ended = true
			continue
		}
		var resync *ResyncError
		if !errors.As(err, &resync) || resync.Reason != ResyncTrimmed {
			return err
		}
		if err := r.catchUp(ctx); err != nil || r.stopped {
			return err
		}
	}
}

// head finds where the conversation is.
func (r *omniRun) head(ctx context.Context) error {
	for u, err := range r.session.Stream(ctx, "") {
		if err != nil {
			return err
		}
		r.tell(u)
		if u.Link == LinkUp {
			r.cursor = u.Cursor
			break
		}
	}
	return nil
}

// follow yields messages and says whether all of the run was told, or the caller has left. A state that has had the run, and has it no more, says so. A
// run that no state has had may not have begun, or its states were told before this connection was there, or it was cancelled before it began: then the
// hub is asked, and if it is over, the first state of another connection is behind all that it has said.
func (r *omniRun) follow(ctx context.Context) (bool, error) {
	line, over := context.WithCancelCause(ctx)
	watch := supervise.NewGroup(line)
	defer watch.Wait() //nolint:errcheck // it has none
	defer over(nil)
	if !r.begun && !r.ended {
		watch.Go(func(ctx context.Context) error {
			if r.session.awaitEnd(ctx, r.run) {
				over(errRunOver)
			}
			return nil
		})
	}
	for u, err := range r.session.Stream(line, r.cursor) {
		if err != nil && errors.Is(context.Cause(line), errRunOver) {
			return false, errRunOver
		}
		if err != nil {
			return false, err
		}
		if r.take(ctx, u, watch) {
			return true, nil
		}
	}
	return true, nil
}

// take does what an update asks for, and says whether it was the last.
func (r *omniRun) take(ctx context.Context, u OmniUpdate, watch *supervise.Group) (last bool) {
	r.tell(u)
	switch {
	case u.Message != nil:
		r.approvals.settled(*u.Message)
		last = !r.say(*u.Message)
	case u.Approval != nil:
		r.approvals.ask(ctx, *u.Approval)
	case u.State != nil && slices.Contains(u.State.Runs, r.run):
		r.begun = true
		watch.Cancel()
	case u.State != nil:
		last = r.begun || r.ended
	}
	if u.Cursor != "" {
		r.cursor = u.Cursor
	}
	return last
}

// lastLook is how long is waited between two questions whether a run is over.
const lastLook = 30 * time.Second

// awaitEnd asks again and again, and returns true once a run is over; false when ctx ends, or the hub does not say.
func (s *OmniSession) awaitEnd(ctx context.Context, run RunID) bool {
	for wait := time.Second; ; wait = min(2*wait, lastLook) {
		now, err := asking(ctx, silently, func() (OmniState, error) {
			return Decode[OmniState](s.send(ctx, http.MethodGet, "", nil, nil))
		}, busy)
		if err != nil {
			return false // the stream says so too
		}
		if !slices.Contains(now.Runs, run) {
			return true
		}
		if pause(ctx, wait) != nil {
			return false
		}
	}
}

func (r *omniRun) say(m omni.Message) bool {
	r.stopped = !r.yield(m, nil)
	return !r.stopped
}

// catchUp yields what history has in place of what is not kept.
func (r *omniRun) catchUp(ctx context.Context) error {
	for page, err := range r.session.Messages(ctx, "0") {
		if err != nil {
			return fmt.Errorf("read what is kept: %w", err)
		}
		for _, placed := range page.Messages {
			if !r.say(placed.Message) {
				return nil
			}
		}
		r.cursor = page.Cursor
	}
	return nil
}
