package trial

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/edge-server/internal/profile"
	"github.com/switchyard-dev/switchyard/shared/bridge"
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

// Nobody is an Approver for where there is no terminal.
type Nobody struct{}

// Approve denies, and says why.
func (Nobody) Approve(context.Context, bridge.PermissionRequest) bridge.PermissionResponse {
	return deny("There is no terminal to ask at; --policy says what to do without one.")
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
	stop := context.AfterFunc(ctx, func() { _ = p.terminal.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	question := fmt.Sprintf("\nThe agent asks to use %s: %s\n", printable(r.ToolName), printable(string(r.Input)))
	if r.Description != "" {
		question += printable(r.Description) + "\n"
	}
	for {
		if _, err := io.WriteString(p.terminal, question+"Allow it? [y/n, n may have a reason] "); err != nil {
			return deny("Nobody could be asked.")
		}
		answer, err := p.lines.ReadString('\n')
		word, reason, _ := strings.Cut(strings.TrimSpace(answer), " ")
		switch strings.ToLower(word) {
		case "y", "yes":
			return bridge.PermissionResponse{Behavior: bridge.Allow}
		case "n", "no":
			return deny(strings.TrimSpace(reason))
		}
		if err != nil {
			return deny("Nobody answered.")
		}
		question = ""
	}
}
