package omni

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/omni"
)

// returning is what a call returns with.
type returning struct {
	output string
	images []string
	reason omni.StopReason // "" for one that went well
}

// toolOutput is the next piece of what an open call puts out. Of more than a session shows at once the result tells the rest.
func (s *State) toolOutput(f Fact) {
	p, ok := read[event.ToolOutputPayload](f)
	if !ok || p.Delta == "" {
		return
	}
	in, c := s.callOf(s.of(f.Run), p.AgentID, p.ToolCallID)
	if c == nil || c.Full || c.Denied != "" || c.Kept != nil {
		return
	}
	if in.shown()+len(p.Delta) > maxOpen {
		c.Full = true
		return
	}
	s.commit(in, c)
	if c.Begun == nil {
		at := s.at
		c.Begun = &at
		s.tell(in, c.piece(omni.Start, "", ""))
	}
	c.Output += p.Delta
	s.tell(in, c.piece(omni.Delta, p.Delta, ""))
}

// shown is how much is kept of what open calls have put out.
func (in *session) shown() (size int) {
	for _, c := range in.Calls {
		size += len(c.Output)
		if c.Kept != nil {
			size += len(c.Kept.Output)
		}
	}
	return size
}

func (c *call) piece(at omni.StreamEvent, output string, reason omni.StopReason, images ...string) omni.Payload {
	p := omni.PartialToolCallOutput(at, c.Name, output, images...)
	p.StopReason = reason
	return p
}

// answer says the output of a call, its only one.
func (s *State) answer(in *session, c *call, r returning) {
	in.Calls = slices.DeleteFunc(in.Calls, func(other *call) bool { return other == c })
	if c.Denied != "" {
		r.reason = omni.Aborted
		if r.output == "" && c.Output == "" {
			r.output = c.Denied
		}
	}
	if c.Begun != nil {
		s.streamed(in, c, r)
		return
	}
	for _, p := range []returning{r, {output: r.output, reason: r.reason}, {reason: r.reason}} {
		if s.tell(in, p.payload(c)) {
			return
		}
	}
}

func (r returning) payload(c *call) omni.Payload {
	p := omni.ToolCallOutput(c.Name, r.output, r.images...)
	p.StopReason = r.reason
	return p
}

// streamed ends an output that has been shown in part: first what of it has not. One that does not go on from what was shown follows on a line of
// its own, so that the pieces add up to the whole.
func (s *State) streamed(in *session, c *call, r returning) {
	rest, goesOn := strings.CutPrefix(r.output, c.Output)
	if !goesOn && r.output != "" {
		rest = "\n" + r.output
	}
	whole := returning{c.Output + rest, r.images, r.reason}
	if !s.fits(in, whole.payload(c)) {
		whole.images = nil
	}
	if !s.fits(in, whole.payload(c)) {
		whole.output, rest = c.Output, ""
	}
	if rest != "" {
		s.tell(in, c.piece(omni.Delta, rest, ""))
	}
	if len(whole.images) > 0 {
		s.tell(in, c.piece(omni.Delta, "", "", whole.images...))
	}
	s.tell(in, c.piece(omni.Stop, "", r.reason))
	s.tell(in, whole.payload(c))
}

// fits says whether a payload can be a message of a session.
func (s *State) fits(in *session, p omni.Payload) bool {
	_, err := in.message(s.at, p)
	return err == nil
}

// imagesOf are the images of a result.
func imagesOf(f Fact, p event.ToolCompletedPayload) []string {
	if p.ImagesBlob == nil {
		return p.Images
	}
	var urls []string
	if json.Unmarshal([]byte(f.blob(p.ImagesBlob)), &urls) != nil {
		return nil // it is not to be had
	}
	return urls
}
