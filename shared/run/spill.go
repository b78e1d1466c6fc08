package run

import (
	"encoding/json"
	"fmt"

	"github.com/switchyard-dev/switchyard/shared/event"
)

// spilling moves the large values of one payload out of it.
type spilling struct {
	limit int
	keep  func(value []byte) (event.BlobRef, error)
	err   error
}

// Spill replaces the large values of c by references that have more than limit bytes each: the text of a message, the arguments, the result or the
// images of a tool, the input that a prompt is about, the prompt and the tools of a session. keep stores the bytes before the row that names them
// and returns how to find them. Other candidates come back as they are.
func (c Candidate) Spill(limit int, keep func(value []byte) (event.BlobRef, error)) (Candidate, error) {
	s := spilling{limit: limit, keep: keep}
	moved := c
	switch p := c.Payload.(type) {
	case event.MessageCompletedPayload:
		s.text(&p.Content, &p.ContentBlob)
		moved.Payload = p
	case event.ToolStartedPayload:
		s.json(&p.Arguments, &p.ArgumentsBlob, json.RawMessage(`{}`))
		moved.Payload = p
	case event.ToolCompletedPayload:
		s.json(&p.Result, &p.ResultBlob, nil)
		s.images(&p.Images, &p.ImagesBlob)
		moved.Payload = p
	case event.PromptRequestedPayload:
		s.json(&p.Input, &p.InputBlob, json.RawMessage(`{}`))
		moved.Payload = p
	case event.SessionInitPayload:
		s.text(&p.SystemPrompt, &p.SystemPromptBlob)
		s.json(&p.Tools, &p.ToolsBlob, nil)
		moved.Payload = p
	}
	if s.err != nil {
		return c, fmt.Errorf("keep large value of %s: %w", c.Type, s.err)
	}
	return moved, nil
}

func (s *spilling) move(value []byte) *event.BlobRef {
	if len(value) <= s.limit || s.err != nil {
		return nil
	}
	ref, err := s.keep(value)
	if s.err = err; err != nil {
		return nil
	}
	return &ref
}

func (s *spilling) text(value *string, ref **event.BlobRef) {
	if len(*value) <= s.limit { // an answer may be as long as a line: it is not copied to be measured
		return
	}
	if moved := s.move([]byte(*value)); moved != nil {
		*value, *ref = "", moved
	}
}

func (s *spilling) json(value *json.RawMessage, ref **event.BlobRef, instead json.RawMessage) {
	if moved := s.move(*value); moved != nil {
		*value, *ref = instead, moved
	}
}

func (s *spilling) images(urls *[]string, ref **event.BlobRef) {
	if len(*urls) == 0 {
		return
	}
	list, err := event.Encode(*urls)
	if err != nil {
		s.err = err
		return
	}
	if moved := s.move(list); moved != nil {
		*urls, *ref = nil, moved
	}
}

// Blobs are those that c refers to: they are there before its row is.
func (c Candidate) Blobs() (refs []event.BlobRef) {
	var all []*event.BlobRef
	switch p := c.Payload.(type) {
	case event.MessageCompletedPayload:
		all = append(all, p.ContentBlob)
	case event.ToolStartedPayload:
		all = append(all, p.ArgumentsBlob)
	case event.ToolCompletedPayload:
		all = append(all, p.ResultBlob, p.ImagesBlob)
	case event.PromptRequestedPayload:
		all = append(all, p.InputBlob)
	case event.SessionInitPayload:
		all = append(all, p.SystemPromptBlob, p.ToolsBlob)
	case event.ArtifactCreatedPayload:
		all = append(all, &event.BlobRef{SHA256: p.Checksum, Size: p.Size})
	}
	for _, ref := range all {
		if ref != nil {
			refs = append(refs, *ref)
		}
	}
	return refs
}
