package cli

import (
	"errors"
	"fmt"
	"sync"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
)

// voice tells a feed's updates: as a story for people, or as JSON lines. Safe for concurrent use.
type voice struct {
	s    *session
	l    *line
	book *book

	mu       sync.Mutex
	narrator *screen.Narrator
	quiet    bool // the first link is not worth a word
	down     bool // the link is down, and that was told
	before   bool // a link was up before
}

func (s *session) voice(l *line) *voice {
	names := newBook(l.API())
	return &voice{s: s, l: l, book: names, narrator: screen.NewNarrator(s.Out, s.style, names)}
}

// frameLine is a frame as --json prints it.
type frameLine struct {
	Key string `json:"key,omitempty"` // what the frame is about; absent for frames that are not kept
	client.HubWebSocketFrame
	Repeated bool `json:"repeated,omitempty"` // the fact was printed before
	Asked    bool `json:"asked,omitempty"`    // fetched by REST, in place of a frame
}

// linkLine is a change of the connection as --json prints it.
type linkLine struct {
	Link   client.Link                `json:"link"`
	Device string                     `json:"device"`
	Resume client.AuthOKPayloadResume `json:"resume,omitempty"`
	Reason string                     `json:"reason,omitempty"`
	Error  string                     `json:"error,omitempty"`
}

func (v *voice) update(u client.Update) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case u.Ready:
		return nil
	case u.Link != "":
		return v.link(u)
	case u.Err != nil:
		return v.waiting(u.Err)
	case u.Frame == nil:
		return nil
	}
	if v.s.json {
		key := client.Key(*u.Frame)
		return v.s.encode(v.s.Out, frameLine{Key: key, HubWebSocketFrame: *u.Frame, Repeated: key != "" && !u.New, Asked: u.Asked})
	}
	if !u.New {
		return nil
	}
	v.book.learn(v.s.ctx, *u.Frame)
	return v.narrator.Frame(*u.Frame)
}

func (v *voice) link(u client.Update) error {
	if v.s.json {
		told := linkLine{Link: u.Link, Device: v.l.device.Name}
		if u.Link == client.LinkUp {
			told.Resume, told.Reason = u.Resume.Resume, u.Resume.Reason
		} else {
			told.Error = u.Err.Error()
		}
		return v.s.encode(v.s.Out, told)
	}
	if u.Link == client.LinkDown {
		if v.down {
			return nil
		}
		v.down = true
		return v.narrator.Notice(v.lost(u.Err))
	}
	again := v.before
	v.before, v.down = true, false
	if !again && v.quiet {
		return nil
	}
	return v.narrator.Notice(v.found(u.Resume, again))
}

// waiting tells that what was missed cannot be fetched for now.
func (v *voice) waiting(err error) error {
	if v.s.json {
		return v.s.encode(v.s.Out, linkLine{Device: v.l.device.Name, Error: err.Error()})
	}
	return v.narrator.Notice("the hub does not give what was missed (" + err.Error() + "); trying again")
}

func (v *voice) lost(err error) string {
	if !v.before && errors.Is(err, client.ErrUnreachable) {
		return fmt.Sprintf("%s cannot be reached; trying again until it can, Ctrl-C gives up", v.l.login.Hub)
	}
	if code := client.CodeOf(err); code != "" {
		return fmt.Sprintf("the hub lets nobody in right now (%s); trying again", code)
	}
	return "connection lost; trying again"
}

func (v *voice) found(resume *client.AuthOKPayload, again bool) string {
	switch {
	case resume.Resume == client.AuthOKPayloadResumeReset:
		return fmt.Sprintf("connected; the hub could not go on from where this device stopped (%s), so here is what its record has", resume.Reason)
	case again:
		return "connected again; nothing was missed"
	case resume.Resume == client.AuthOKPayloadResumeReplayed:
		return fmt.Sprintf("connected to %s as %s, device %s; going on from where it stopped", v.l.login.Hub, v.l.login.Credentials.Username, v.l.device.Name)
	}
	return fmt.Sprintf("connected to %s as %s, device %s", v.l.login.Hub, v.l.login.Credentials.Username, v.l.device.Name)
}

// notice tells something that is not in the stream.
func (v *voice) notice(text string) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.s.json {
		return nil
	}
	return v.narrator.Notice(text)
}

// line prints what is for programs alone.
func (v *voice) line(value any) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.s.json {
		return nil
	}
	return v.s.encode(v.s.Out, value)
}

func (v *voice) close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.s.json {
		return nil
	}
	return v.narrator.Close()
}
