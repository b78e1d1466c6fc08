package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// Exit codes. Programs may rely on them.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitLoggedOut   = 3
	exitUnreachable = 4
	exitRefused     = 5
	exitRunFailed   = 10
	exitCancelled   = 11
	exitInterrupted = 12
	exitStopped     = 130
)

const exitCodes = `Exit codes: 0 done; 1 failed; 2 not understood; 3 not logged in; 4 hub not reachable; 5 the hub refused; ` +
	`10 the run failed; 11 it was cancelled; 12 it was interrupted; 130 stopped by Ctrl-C.`

// misuse is an error in what was typed.
type misuse struct{ err error }

func (e *misuse) Error() string { return e.err.Error() }
func (e *misuse) Unwrap() error { return e.err }

// usageError points to the help of the command that was meant, as far as that is known.
func usageError(err error) error {
	help := "yard"
	var parse *kong.ParseError
	if errors.As(err, &parse) {
		if meant := parse.Context.Selected(); meant != nil {
			help = meant.FullPath()
		}
	}
	return &misuse{fmt.Errorf("%w; see `%s --help`", err, help)}
}

// misused is a usage error of a command's own.
func misused(format string, args ...any) error { return &misuse{fmt.Errorf(format, args...)} }

// ended is how a run ended that was waited for, when it did not end well.
type ended struct {
	run   client.RunID
	state client.RunState
}

func (e *ended) Error() string { return fmt.Sprintf("run %s %s", e.run, e.state) }

func (e *ended) code() int {
	switch e.state {
	case client.RunStateCancelled:
		return exitCancelled
	case client.RunStateInterrupted:
		return exitInterrupted
	}
	return exitRunFailed
}

// at is an error of speaking with a certain hub.
type at struct {
	hub string
	err error
}

func (e *at) Error() string { return e.err.Error() }
func (e *at) Unwrap() error { return e.err }

// explain turns an error into what to tell a person, a sentence and what to do, and the exit code. No text means that nothing is left to say.
func explain(err error) (text string, code int) {
	var wrong *misuse
	var problem *client.ProblemError
	var run *ended
	switch {
	case err == nil:
		return "", exitOK
	case errors.Is(err, errQuiet):
		return "", exitFailed
	case errors.Is(err, context.Canceled):
		return "", exitStopped
	case errors.As(err, &run):
		return "", run.code()
	case errors.As(err, &wrong):
		return err.Error(), exitUsage
	case errors.Is(err, client.ErrLoggedOut):
		return loggedOut(err), exitLoggedOut
	case errors.As(err, &problem):
		return err.Error(), exitRefused
	case errors.Is(err, client.ErrUnreachable):
		return unreachable(err), exitUnreachable
	case errors.Is(err, client.ErrKicked):
		return err.Error() + "; the next command registers a device anew", exitFailed
	}
	return err.Error(), exitFailed
}

func loggedOut(err error) string {
	var where *at
	if errors.As(err, &where) {
		return fmt.Sprintf("the hub at %s does not take this login any more; log in again with `yard login --hub %s`", where.hub, where.hub)
	}
	return "not logged in; run `yard login --hub URL`, or start a hub of your own with `make run` and stay in that folder"
}

// cause is why a hub cannot be reached, without the addresses and operations that the error is wrapped in.
func cause(err error) string {
	var dial *net.OpError
	var request *url.Error
	switch {
	case errors.As(err, &dial):
		return strings.TrimPrefix(dial.Err.Error(), "connect: ")
	case errors.As(err, &request):
		return request.Err.Error()
	}
	return strings.TrimPrefix(err.Error(), client.ErrUnreachable.Error()+": ")
}

func unreachable(err error) string {
	cause := cause(err)
	var where *at
	if errors.As(err, &where) {
		return fmt.Sprintf("the hub at %s cannot be reached (%s); is it running? `make run` starts one, `yard login --hub URL` changes the address", where.hub, cause)
	}
	return fmt.Sprintf("the hub cannot be reached (%s); check the address", cause)
}
