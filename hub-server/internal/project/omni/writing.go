package omni

import (
	"slices"
	"time"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/omni"
)

// written is a call while the model writes it. It shows from where its tool is known on.
type written struct {
	ID    string    `json:"id"`             // in the log
	Name  string    `json:"name,omitempty"` // its tool_call_id in the stream, once it shows
	Tool  string    `json:"tool,omitempty"`
	Text  string    `json:"text"` // of its arguments
	Begun time.Time `json:"begun"`
	Over  bool      `json:"over,omitempty"` // it is too long to be shown: it is told whole
}

// Bounds of what a session shows at once while it is written.
const (
	mostWritten  = 64          // calls
	bytesWritten = 4 * maxOpen // of arguments, together
)

func (w *written) piece(at omni.StreamEvent, text string, reason omni.StopReason) omni.Payload {
	p := omni.PartialToolCall(at, w.Name, w.Tool, text)
	p.StopReason = reason
	return p
}

// toolInput is the next piece of a call's arguments. A call that has begun, or has no name, shows whole.
func (s *State) toolInput(f Fact) {
	p, ok := read[event.ToolInputPayload](f)
	if !ok || p.ToolCallID == "" || p.PartialJSON == "" {
		return
	}
	t := s.of(f.Run)
	in := s.in(t, p.AgentID)
	if in.find(p.ToolCallID) != nil {
		return
	}
	w := in.writing(p.ToolCallID)
	if w == nil {
		s.bound(t)
		if len(in.Written) == mostWritten {
			s.leave(in, in.Written[0], omni.Malformed)
		}
		w = &written{ID: p.ToolCallID}
		in.Written = append(in.Written, w)
	}
	if w.Over {
		return
	}
	if len(w.Text)+len(p.PartialJSON) > maxOpen || in.written()+len(p.PartialJSON) > bytesWritten {
		s.leave(in, w, omni.Malformed)
		in.Written = append(in.Written, &written{ID: w.ID, Over: true})
		return
	}
	w.Text += p.PartialJSON
	s.show(in, w, p.ToolName, p.PartialJSON)
}

// show tells a piece, or with the first one all that there is so far.
func (s *State) show(in *session, w *written, tool, piece string) {
	if w.Name == "" {
		if tool == "" {
			return
		}
		s.close(in, "")
		s.requestBegins(in)
		w.Tool, w.Name, w.Begun = tool, in.rename(w.ID), s.at
		s.tell(in, w.piece(omni.Start, "", ""))
		piece = w.Text
	}
	s.tell(in, w.piece(omni.Delta, piece, ""))
}

// written is how much is kept of what is being written.
func (in *session) written() (size int) {
	for _, w := range in.Written {
		size += len(w.Text)
	}
	return size
}

func (in *session) writing(call string) *written {
	i := slices.IndexFunc(in.Written, func(w *written) bool { return w.ID == call })
	if i < 0 {
		return nil
	}
	return in.Written[i]
}

// take takes a call from those that are being written; nil if it does not show.
func (in *session) take(call string) *written {
	w := in.writing(call)
	in.Written = slices.DeleteFunc(in.Written, func(other *written) bool { return other == w })
	if w == nil || w.Name == "" {
		return nil
	}
	return w
}

// complete ends the fragment of a call with the call as the model wrote it, which is then one of the run's.
func (s *State) complete(in *session, w *written, fidelity event.Opaque, reason omni.StopReason) *call {
	s.tell(in, w.piece(omni.Stop, "", reason))
	p := omni.ToolCall(w.Name, w.Tool, w.Text)
	p.Fidelity, p.StopReason = raw(fidelity), reason
	s.tell(in, p)
	c := &call{ID: w.ID, Name: w.Name, Request: in.Request.Number, Wrote: mark(w.Text)}
	in.Calls = append(in.Calls, c)
	return c
}

// leave ends a call that was not written to its end, or is not the one that was made: it has no effect, and its output says so.
func (s *State) leave(in *session, w *written, reason omni.StopReason) {
	if w = in.take(w.ID); w != nil {
		s.answer(in, s.complete(in, w, "", reason), returning{reason: reason})
	}
}

// closeWritten ends the calls that are being written, with their request: those of one that went well have been made, and begin later.
func (s *State) closeWritten(in *session, reason omni.StopReason) {
	for len(in.Written) > 0 {
		w := in.Written[0]
		if reason != "" {
			s.leave(in, w, reason)
		} else if w = in.take(w.ID); w != nil {
			s.complete(in, w, "", "")
		}
	}
}

// meant says whether a call was written with the arguments that it was made with: the same JSON, however it is spelled.
func meant(written, made string) bool {
	return written == made || mark(written) == mark(made)
}

// mark is the same for arguments that mean the same, and for no others.
func mark(arguments string) string {
	if sum, err := event.Checksum([]byte(arguments)); err == nil {
		return sum
	}
	return "text " + event.TextChecksum(arguments)
}
