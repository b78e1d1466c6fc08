package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/omni"
	"github.com/switchyard-dev/switchyard/shared/omni/trace"
)

type traceVerifyCmd struct {
	Paths        []string `arg:"" name:"path" help:"Files, or directories with the files of one conversation."`
	Conversation string   `short:"c" placeholder:"NAME" help:"The conversation: its name, or the beginning of its id (default: as the files say)."`
}

// Help is shown below the usage.
func (traceVerifyCmd) Help() string {
	return `Compares the checksum of each file with that of the conversation, and says where the first line differs. Of a directory, files that are missing are
told too. The exit code is 1 if anything is not as it should be.

Examples:
  yard trace verify traces
  yard trace verify sess_0190b4c2_001.jsonl --conversation demo`
}

// verified is what was found of a file, as --json prints it.
type verified struct {
	File  string `json:"file"`
	State string `json:"state"` // ok, differs, unfinished, unknown, missing
	Line  int    `json:"line,omitempty"`
	Lines int    `json:"lines,omitempty"` // that the conversation has
}

// local is a file that is looked at.
type local struct {
	dir, name string
	digest    trace.Digest
}

// Run compares files with their conversation.
func (c traceVerifyCmd) Run(s *session) error {
	files, whole, err := c.files()
	if err != nil {
		return err
	}
	return s.with(func(h *hub) error {
		which := c.Conversation
		if which == "" {
			if which, err = conversationOf(files); err != nil {
				return err
			}
		}
		found, err := h.find.Session(s.ctx, which)
		if err != nil {
			return err
		}
		traces, err := client.Decode[client.TraceList](h.API().ListTraces(s.ctx, found.ID))
		if err != nil {
			return err
		}
		v := verifying{session: s, conversation: h.Session(found.ID), id: found.ID, traces: traces.Traces}
		return v.run(files, whole)
	})
}

// files are those that are meant, and whether all of a conversation are.
func (c traceVerifyCmd) files() (files []local, whole bool, err error) {
	for _, path := range c.Paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, false, err
		}
		names := []string{path}
		if info.IsDir() {
			whole = true
			if names, err = filepath.Glob(filepath.Join(escaped(path), "*"+trace.Ext)); err != nil {
				return nil, false, err
			}
		}
		for _, name := range names {
			one, err := digested(name)
			if err != nil {
				return nil, false, err
			}
			files = append(files, one)
		}
	}
	if len(files) == 0 {
		return nil, false, fmt.Errorf("there is no trace in %s; `yard trace export` writes them", strings.Join(c.Paths, ", "))
	}
	return files, whole, nil
}

// escaped is a path in which nothing stands for something else.
func escaped(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

func digested(path string) (local, error) {
	one := local{dir: filepath.Dir(path), name: filepath.Base(path)}
	file, err := os.Open(path) //nolint:gosec // the person says which
	if err != nil {
		return one, err
	}
	defer file.Close() //nolint:errcheck // only read
	one.digest, err = trace.DigestOf(one.name, file)
	return one, err
}

// conversationOf is the conversation that files say they are of: the session of one of them that is a conversation here.
func conversationOf(files []local) (string, error) {
	for _, f := range files {
		session, err := f.session()
		if err != nil {
			return "", err
		}
		if _, err := id.ParseSession(session); err == nil {
			return session, nil
		}
	}
	return "", misused("the files do not say which conversation of this hub they are of; name it: --conversation NAME")
}

// session is the one that a trace says it is of, "" if it says none.
func (l local) session() (string, error) {
	file, err := os.Open(filepath.Join(l.dir, l.name))
	if err != nil {
		return "", err
	}
	defer file.Close() //nolint:errcheck // only read
	for line, err := range trace.Read(file) {
		if err != nil || line.Err != nil {
			return "", err
		}
		body, err := line.Message.Body()
		if meta, ok := body.(omni.SessionMetaPayload); err == nil && ok {
			return meta.SessionID, nil
		}
		break
	}
	return "", nil
}

// verifying is one comparison.
type verifying struct {
	*session
	conversation *client.OmniSession
	id           client.SessionID
	traces       []client.Trace
}

func (v verifying) run(files []local, whole bool) error {
	var found []verified
	good := true
	for _, f := range files {
		one, err := v.compare(f)
		if err != nil {
			return err
		}
		good = good && one.State == "ok"
		found = append(found, one)
	}
	for _, t := range v.traces {
		if whole && !slices.ContainsFunc(files, func(l local) bool { return l.name == t.Name }) {
			found, good = append(found, verified{File: t.Name, State: "missing", Lines: t.Lines}), false
		}
	}
	if err := v.tell(found); err != nil {
		return err
	}
	if !good {
		return errQuiet
	}
	return nil
}

func (v verifying) tell(found []verified) error {
	return v.print(list[verified]{found}, func() error {
		for _, one := range found {
			word := v.style.Green(one.State)
			if one.State != "ok" {
				word = v.style.Red(one.State)
			}
			where := ""
			switch {
			case one.Line > 0:
				where = fmt.Sprintf(" at line %d", one.Line)
			case one.Lines > 0:
				where = fmt.Sprintf(", %d lines", one.Lines)
			}
			if err := v.say("%s: %s%s", screen.Clean(one.File), word, where); err != nil {
				return err
			}
		}
		return nil
	})
}

func (v verifying) compare(f local) (verified, error) {
	i := slices.IndexFunc(v.traces, func(t client.Trace) bool { return t.Name == f.name })
	if i < 0 {
		return verified{File: f.name, State: "unknown"}, nil
	}
	one := verified{File: f.name, State: "ok", Lines: v.traces[i].Lines}
	if v.traces[i].Sha256 == f.digest.SHA256 {
		return one, nil
	}
	differs, err := v.firstDifference(f)
	switch {
	case err != nil:
		return one, err
	case differs == nil: // it has been gone on with meanwhile
		one.State = "ok"
	case differs.Got == nil:
		one.State, one.Line = "unfinished", differs.Line
	default:
		one.State, one.Line = "differs", differs.Line
	}
	return one, nil
}

// firstDifference reads the conversation to the line in which a file differs; nil if there is none.
func (v verifying) firstDifference(f local) (differs *trace.Differs, err error) {
	folder := trace.CheckFolder(f.dir, v.id)
	defer folder.Close()
	folder.Only(f.name)
	for page, err := range v.conversation.Messages(v.ctx, "0") {
		if err != nil {
			return nil, err
		}
		for _, m := range page.Messages {
			if err := folder.Add(m.Message); err != nil {
				return asDiffers(err)
			}
		}
	}
	return asDiffers(folder.Finish())
}

func asDiffers(err error) (*trace.Differs, error) {
	var differs *trace.Differs
	if errors.As(err, &differs) {
		return differs, nil
	}
	return nil, err
}
