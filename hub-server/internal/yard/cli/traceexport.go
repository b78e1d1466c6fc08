package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
	"github.com/switchyard-dev/switchyard/shared/omni/trace"
)

type traceExportCmd struct {
	Session string `arg:"" name:"conversation" help:"The conversation: its name, or the beginning of its id."`
	Dir     string `default:"traces" placeholder:"DIR" help:"Where the files go (default: traces)."`
	Follow  bool   `short:"f" help:"Go on with what is said from now on, until Ctrl-C."`
}

// Help is shown below the usage.
func (traceExportCmd) Help() string {
	return `One file for each context of the model: a new one begins where the context was made smaller, and sub-agents have files of their own. Files that are
there already are held to the conversation and gone on with, also after one that was cut off; what differs is never overwritten.

Examples:
  yard trace export demo
  yard trace export demo --dir backup --follow`
}

// Run writes what the conversation says into files.
func (c traceExportCmd) Run(s *session) error {
	return s.with(func(h *hub) error {
		found, err := h.find.Session(s.ctx, c.Session)
		if err != nil {
			return err
		}
		folder, err := trace.OpenFolder(c.Dir, found.ID)
		if err != nil {
			return err
		}
		defer folder.Close()
		e := &exporting{session: s, conversation: h.Session(found.ID), folder: folder, dir: c.Dir}
		if err := e.history(); err != nil {
			return err
		}
		if err := e.report(); err != nil || !c.Follow {
			return err
		}
		return e.follow()
	})
}

// exporting is one export.
type exporting struct {
	*session
	conversation *client.OmniSession
	folder       *trace.Folder
	dir          string
	cursor       string // up to which all has been written
}

func (e *exporting) history() error {
	count, trimmed := 0, false
	for page, err := range e.conversation.Messages(e.ctx, "0") {
		if err != nil {
			return err
		}
		trimmed = trimmed || page.Floor != ""
		for _, m := range page.Messages {
			if err := e.folder.Add(m.Message); err != nil {
				return e.explain(err, trimmed)
			}
		}
		e.cursor = page.Cursor
		if count += len(page.Messages); page.More {
			fmt.Fprintln(e.Err, e.style.Dim(fmt.Sprintf("● %d messages", count)))
		}
	}
	return e.explain(errors.Join(e.folder.Finish(), e.folder.Sync()), trimmed)
}

// explain says what a person can do about a file that is something else.
func (e *exporting) explain(err error, trimmed bool) error {
	var differs *trace.Differs
	switch {
	case !errors.As(err, &differs):
		return err
	case trimmed:
		return fmt.Errorf("%s/%w. The hub does not keep the beginning of this conversation any more, so the file may have more than it; nothing was overwritten, choose another --dir", e.dir, err)
	}
	return fmt.Errorf("%s/%w. It is of another conversation, or was changed; nothing was overwritten, choose another --dir", e.dir, err)
}

// exported is a file as --json prints it.
type exported struct {
	File  string `json:"file"`
	Lines int    `json:"lines"`
}

func (e *exporting) report() error {
	files := []exported{}
	for _, name := range e.folder.Files() {
		files = append(files, exported{File: name, Lines: e.folder.Lines(name)})
	}
	if !e.json {
		fmt.Fprintf(e.Err, "%d lines written to %s\n", e.folder.Written(), screen.Clean(e.dir))
	}
	return table(e.session, files, "nothing was said yet", []string{"file", "lines"}, func(x exported) []string {
		return []string{x.File, number(int64(x.Lines))}
	})
}

// follow writes what is said until Ctrl-C.
func (e *exporting) follow() error {
	for u, err := range e.conversation.Stream(e.ctx, e.cursor) {
		switch {
		case e.ctx.Err() != nil:
			return e.folder.Sync() // Ctrl-C is how one leaves
		case err != nil:
			return errors.Join(err, e.folder.Sync())
		case u.Link == client.LinkDown:
			fmt.Fprintln(e.Err, e.style.Yellow("●"), "the hub is away; it goes on when it is back")
		}
		if u.Message == nil {
			continue
		}
		if err := e.folder.Add(*u.Message); err != nil {
			return e.explain(err, false)
		}
	}
	if err := e.ctx.Err(); err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return e.folder.Sync()
}
