// Package cli is the command line of yard, the terminal client: what a person can type, and what the exit code means.
package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/alecthomas/kong"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/home"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
)

// Program is yard with everything that it touches.
type Program struct {
	In         io.Reader
	Out, Err   io.Writer
	Getenv     func(string) string
	WorkDir    string
	Executable string // path of the running program: `yard up` finds the servers beside it
	Version    string
}

// grammar is what can be typed.
type grammar struct {
	Device  string `default:"a" env:"YARD_DEVICE" placeholder:"NAME" help:"Name of the device that connects; each has its own place in the stream (default: a)."`
	JSON    bool   `name:"json" help:"Print JSON, for programs."`
	NoColor bool   `help:"Print no colours; so does NO_COLOR, and anything that is no terminal."`

	TUI           tuiCmd           `cmd:"" name:"tui" help:"Follow and steer on a full screen."`
	Watch         watchCmd         `cmd:"" help:"Follow everything live. Resumes by itself."`
	Cards         cardsCmd         `cmd:"" help:"Follow a conversation as a tree of cards."`
	Send          sendCmd          `cmd:"" help:"Send a message, and follow the run that it starts."`
	Forward       forwardCmd       `cmd:"" help:"Say in other conversations what a message says."`
	Sessions      sessionsCmd      `cmd:"" help:"List conversations."`
	Change        conversationCmd  `cmd:"" name:"conversation" help:"Change a conversation, or leave it."`
	Messages      messagesCmd      `cmd:"" help:"Show the messages of a conversation."`
	Pins          pinsCmd          `cmd:"" help:"Show what is pinned in a conversation."`
	Message       messageCmd       `cmd:"" help:"Edit, recall or pin a message, or react to it."`
	Search        searchCmd        `cmd:"" help:"Find messages by their words."`
	Runs          runsCmd          `cmd:"" help:"List runs."`
	Events        eventsCmd        `cmd:"" help:"Show the log of a run."`
	Prompts       promptsCmd       `cmd:"" help:"List what agents ask and nobody has answered."`
	Answer        answerCmd        `cmd:"" help:"Answer what an agent asks."`
	Cancel        cancelCmd        `cmd:"" help:"Stop a run."`
	Steer         steerCmd         `cmd:"" help:"Say something to the agent that is at work."`
	Retry         retryCmd         `cmd:"" help:"Have an agent not wait before it tries again."`
	Compact       compactCmd       `cmd:"" help:"Have an agent make its context smaller."`
	Mode          modeCmd          `cmd:"" help:"Show or set how permissions are answered in your runs."`
	Again         againCmd         `cmd:"" name:"regenerate" help:"Let an agent answer the same message once more."`
	Artifacts     artifactsCmd     `cmd:"" help:"List what a run produced."`
	Artifact      artifactCmd      `cmd:"" help:"Fetch what a run produced."`
	File          fileCmd          `cmd:"" help:"Fetch a file that somebody has sent."`
	Trace         traceCmd         `cmd:"" help:"Keep conversations as files: export, verify, replay, import."`
	Agents        agentsCmd        `cmd:"" help:"List agents."`
	Edges         edgesCmd         `cmd:"" help:"List edges."`
	Edge          edgeCmd          `cmd:"" help:"Add or remove an edge."`
	Devices       devicesCmd       `cmd:"" help:"List my devices."`
	DeviceCmd     deviceCmd        `cmd:"" name:"device" help:"Remove a device."`
	Friends       friendsCmd       `cmd:"" help:"List friends, requests and blocks."`
	Friend        friendCmd        `cmd:"" help:"Ask, accept, remove or block somebody."`
	Notifications notificationsCmd `cmd:"" help:"List what you were told."`
	Notification  notificationCmd  `cmd:"" help:"Mark notifications as read."`
	Invite        inviteCmd        `cmd:"" help:"Invite a person to this hub."`
	Login         loginCmd         `cmd:"" help:"Log in to a hub."`
	Logout        logoutCmd        `cmd:"" help:"Log out on this machine, or everywhere."`
	Up            upCmd            `cmd:"" help:"Run a hub and an edge on this machine, until Ctrl-C."`
	Push          pushCmd          `cmd:"" help:"Be told of what waits where nothing is connected."`

	Completion completionCmd `cmd:"" help:"Print the completion script of a shell."`
	Version    versionCmd    `cmd:"" help:"Print the version."`
	Complete   completeCmd   `cmd:"" name:"complete-words" hidden:""`
}

const description = "yard follows and steers agents from a terminal."

// session is one run of the program: the commands work with it.
type session struct {
	Program
	ctx    context.Context // ends at Ctrl-C
	style  screen.Style
	json   bool
	device string
	model  *kong.Application
}

// Run does what args say and returns the exit code.
func (p Program) Run(ctx context.Context, args []string) int {
	var g grammar
	helped := false
	parser, err := kong.New(&g, kong.Name("yard"), kong.Description(description+"\n\n"+exitCodes), kong.Writers(p.Out, p.Err),
		kong.Exit(func(int) { helped = true }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.Vars{"version": p.Version})
	if err != nil {
		fmt.Fprintf(p.Err, "yard: %v\n", err)
		return exitFailed
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	command, err := parser.Parse(args)
	if helped {
		return exitOK
	}
	s := &session{
		Program: p, ctx: ctx, json: g.JSON, device: g.Device, model: parser.Model,
		style: screen.StyleFor(p.Out, g.NoColor, p.Getenv),
	}
	if err != nil {
		return s.fail(usageError(err))
	}
	return s.fail(command.Run(s))
}

// fail tells an error and returns the exit code that it means.
func (s *session) fail(err error) int {
	text, code := explain(err)
	if text == "" {
		return code
	}
	if s.json {
		s.encode(s.Err, struct { //nolint:errcheck // nothing is left to do if it cannot be told
			Error string             `json:"error"`
			Code  client.ProblemCode `json:"code,omitempty"`
			Exit  int                `json:"exit"`
		}{text, client.CodeOf(err), code})
		return code
	}
	style := screen.StyleFor(s.Err, !s.style.On(), s.Getenv)
	fmt.Fprintln(s.Err, style.Red("yard:"), screen.Clean(text))
	return code
}

// print writes v as JSON, or lets human write it for people.
func (s *session) print(v any, human func() error) error {
	if s.json {
		return s.encode(s.Out, v)
	}
	return human()
}

// encode writes one line of JSON and leaves stored bytes as they are.
func (s *session) encode(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

func (s *session) say(format string, args ...any) error {
	_, err := fmt.Fprintf(s.Out, format+"\n", args...)
	return err
}

func (s *session) home() (home.Home, error) { return home.Locate(s.Getenv, s.WorkDir) }

func hostname() string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		return "this machine"
	}
	return name
}

// errQuiet ends a command whose output has said everything.
var errQuiet = errors.New("said already")
