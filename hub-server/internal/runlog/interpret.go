package runlog

import (
	"encoding/json"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// read takes out of the payload what the hub acts on. It is tolerant: a payload of another shape is stored all the same and means
// nothing here (architecture 5).
func (e *Entry) read() {
	switch e.Type {
	case event.MessageDone:
		e.readMessage()
	case event.ToolStarted, event.ToolCompleted, event.SessionInit:
		e.readBlobs()
	case event.ArtifactCreated:
		e.readArtifact()
	case event.RunFailed:
		e.readFailure()
	case event.PromptRequested, event.PromptAnswered, event.PromptExpired, event.PromptDelivered, event.RunProcessEnded:
		e.readPrompt()
	case event.RunCompleted:
		var p event.RunCompletedPayload
		if json.Unmarshal(e.Body.Payload, &p) == nil {
			e.Final = p.MessageID
		}
	}
}

func (e *Entry) readMessage() {
	var p event.MessageCompletedPayload
	if json.Unmarshal(e.Body.Payload, &p) != nil {
		return
	}
	blob := e.names(p.ContentBlob)
	if _, err := id.ParseMessage(string(p.MessageID)); err != nil || (p.Content == "" && blob == "") {
		return
	}
	if p.AgentID != "" { // a sub-agent speaks to the agent, not to the conversation
		return
	}
	e.Said = &Said{Message: p.MessageID, Text: shorten(p.Content), blob: blob}
}

func (e *Entry) readBlobs() {
	for _, ref := range event.BlobRefs(e.Body.Payload) {
		e.names(&ref)
	}
}

func (e *Entry) readArtifact() {
	var p event.ArtifactCreatedPayload
	if json.Unmarshal(e.Body.Payload, &p) != nil {
		return
	}
	if _, err := id.ParseArtifact(string(p.ArtifactID)); err != nil || !fitsLabel(p.Filename) || !fitsLabel(p.ContentType) || p.Size < 0 {
		return
	}
	blob := e.names(&event.BlobRef{SHA256: p.Checksum, Size: p.Size})
	if blob == "" {
		return
	}
	e.Artifact = &Artifact{
		ID: p.ArtifactID, Filename: p.Filename, ContentType: p.ContentType, Size: p.Size, Blob: blob, CreatedAt: e.OccurredAt,
	}
}

func (e *Entry) readFailure() {
	var p event.RunFailedPayload
	failure := event.ErrorObj{Code: fault.AgentError, Message: "The agent failed and gave no reason."}
	if json.Unmarshal(e.Body.Payload, &p) == nil && p.Error.Code != "" {
		failure = p.Error
		failure.Code = fault.Code(remark(string(p.Error.Code), maxCode))
		failure.Message = remark(p.Error.Message, maxReason)
	}
	e.Failure = &failure
}

// names notes that the event cannot be understood without the blob. It returns "" for no reference, and for one that cannot be right.
func (e *Entry) names(ref *event.BlobRef) BlobHash {
	if ref == nil {
		return ""
	}
	hash, err := ParseBlobHash(ref.SHA256)
	if err != nil {
		return ""
	}
	e.Blobs = append(e.Blobs, hash)
	return hash
}
