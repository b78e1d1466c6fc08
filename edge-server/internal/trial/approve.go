package trial

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
	"github.com/switchyard-dev/switchyard/edge-server/internal/runtime"
	"github.com/switchyard-dev/switchyard/shared/bridge"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// ByPolicy is an Approver that decides as its profile's permission_policy says, and asks Person where that says so.
type ByPolicy struct {
	Profile profile.Profile
	Person  Approver
}

// Approve follows the policy.
func (b ByPolicy) Approve(ctx context.Context, r bridge.PermissionRequest) bridge.PermissionResponse {
	switch {
	case b.Profile.Policy == profile.DenyAll:
		return deny("The policy allows no tool that asks.")
	case b.Profile.Policy == profile.AllowAll, b.Profile.Policy == profile.AllowReadonly && b.Profile.Readonly(r.ToolName):
		return bridge.PermissionResponse{Behavior: bridge.Allow}
	}
	return b.Person.Approve(ctx, r)
}

// Answer passes a prompt on: a policy is about tools.
func (b ByPolicy) Answer(ctx context.Context, asked runtime.Ask) runtime.Answer {
	return b.Person.Answer(ctx, asked)
}

// Nobody is an Approver for where there is no terminal.
type Nobody struct{}

// Approve denies, and says why.
func (Nobody) Approve(context.Context, bridge.PermissionRequest) bridge.PermissionResponse {
	return deny("There is no terminal to ask at; --policy says what to do without one.")
}

// Answer says that nobody answers.
func (Nobody) Answer(_ context.Context, asked runtime.Ask) runtime.Answer {
	return unanswered(asked, "There is no terminal to ask at.")
}

func deny(why string) bridge.PermissionResponse {
	return bridge.PermissionResponse{Behavior: bridge.Deny, Message: why}
}

// Terminal is where a person reads and types.
type Terminal interface {
	io.ReadWriter
	// SetReadDeadline ends a read that waits. A terminal that cannot do that keeps a turn which ended by itself until somebody types Enter.
	SetReadDeadline(t time.Time) error
}

// Person is an Approver who is asked at a terminal. Make one with AskAt.
type Person struct {
	terminal Terminal
	lines    *bufio.Reader
}

// AskAt returns the person at a terminal.
func AskAt(t Terminal) *Person { return &Person{terminal: t, lines: bufio.NewReader(t)} }

// Approve asks until the answer is yes or no. The end of the turn, and of what is typed, is a no.
func (p *Person) Approve(ctx context.Context, r bridge.PermissionRequest) bridge.PermissionResponse {
	question := fmt.Sprintf("\nThe agent asks to use %s: %s\n", printable(r.ToolName), printable(string(r.Input)))
	if r.Description != "" {
		question += printable(r.Description) + "\n"
	}
	response := deny("Nobody answered.")
	p.ask(ctx, question, "Allow it? [y/n, n may have a reason] ", func(line string) (string, bool) {
		given, ok := yesOrNo(strings.TrimSpace(line))
		switch {
		case !ok:
			return "", false
		case given.Decision == event.Allow:
			response = bridge.PermissionResponse{Behavior: bridge.Allow}
		default:
			response = deny(given.Message)
		}
		return "", true
	})
	return response
}

// ask asks until take takes what was typed, or nobody answers any more. What take says of a line that it does not take is shown.
func (p *Person) ask(ctx context.Context, question, hint string, take func(line string) (why string, taken bool)) {
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		_ = p.terminal.SetReadDeadline(time.Unix(1, 0)) // see Terminal
	})
	defer func() {
		if !stop() {
			<-ended
			_ = p.terminal.SetReadDeadline(time.Time{}) // for the next question
		}
	}()
	for {
		if _, err := io.WriteString(p.terminal, question+hint); err != nil {
			return
		}
		line, err := p.lines.ReadString('\n')
		why, taken := take(line)
		if taken || err != nil {
			return
		}
		question = why
	}
}
