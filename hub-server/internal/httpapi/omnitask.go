package httpapi

import (
	"context"
	"encoding/base64"
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// maxInputFiles is how many images and files S1 takes with one task. What each may have is for attachments to say.
const maxInputFiles = 20

// CreateOmniTask implements createOmniTask.
func (h handlers) CreateOmniTask(ctx context.Context, r CreateOmniTaskRequestObject) (CreateOmniTaskResponseObject, error) {
	attempt, err := attemptOf(ctx, r.Params.IdempotencyKey)
	if err != nil {
		return nil, err
	}
	task, err := omniTask(*r.Body)
	if err != nil {
		return nil, err
	}
	task.Session, task.TraceID = id.Session(r.SessionID), traceOf(ctx)
	begun, err := h.Controls.Task(ctx, caller(ctx), task, r.Body.QueueIfBusy, attempt)
	if err != nil {
		return nil, hide(err)
	}
	return CreateOmniTask202JSONResponse{
		SessionID: r.SessionID, MessageID: MessageID(begun.Message), RunID: RunID(begun.Run), Queued: begun.Queued,
	}, nil
}

// omniTask reads what is asked for.
func omniTask(b OmniTaskInput) (task chat.NewTask, err error) {
	if task.Agent, err = optionalID("agentId", id.ParseAgent, b.AgentID); err != nil {
		return task, err
	}
	if b.Goal != nil {
		return task, fault.New(fault.UnsupportedByRuntime, "No agent here works towards a goal by itself. Leave goal out, and say in the text what is to be reached.")
	}
	if task.Thinking = wire.ThinkingLevel(b.ThinkingLevel); !task.Thinking.Known() {
		return task, fault.New(fault.InvalidRequest, "thinkingLevel must be none, low, medium, high, xhigh or max.")
	}
	var said []string
	for i, part := range b.Input {
		if part.Type == OmniInputPartTypeText {
			said = append(said, part.Text)
			continue
		}
		attached, err := part.attachment()
		if err != nil {
			return task, fault.Wrap(err, fault.CodeOf(err), "input[%d]: %s", i, fault.Public(err).Detail)
		}
		task.Attachments = append(task.Attachments, attached)
	}
	if len(task.Attachments) > maxInputFiles {
		return task, fault.New(fault.TooLarge, "A task has at most %d images and files.", maxInputFiles)
	}
	if task.Prompt = strings.Join(said, "\n\n"); strings.TrimSpace(task.Prompt) == "" && len(task.Attachments) == 0 {
		return task, fault.New(fault.EmptyPrompt, "There is nothing in input. Write what is to be done.")
	}
	return task, nil
}

// attachment is an image or a file as a message has it.
func (p OmniInputPart) attachment() (wire.Attachment, error) {
	switch p.Type {
	case OmniInputPartTypeImageURL:
		if strings.HasPrefix(p.ImageURL, "data:") {
			return inData("image", p.ImageURL, "")
		}
		return wire.Attachment{Kind: "image", URL: p.ImageURL}, nil
	case OmniInputPartTypeFile:
		if p.FileName == "" {
			return wire.Attachment{}, fault.New(fault.InvalidRequest, "a file needs its fileName.")
		}
		return inData("file", p.DataURL, p.FileName)
	}
	return wire.Attachment{}, fault.New(fault.InvalidRequest, "type must be text, image_url or file.")
}

// inData reads a data URL in base64. It is kept as it is: whatever an agent can be given fits into one.
func inData(kind wire.AttachmentKind, url, name string) (wire.Attachment, error) {
	head, data, _ := strings.Cut(url, ",")
	media, encoded := strings.CutPrefix(head, "data:")
	media, based := strings.CutSuffix(media, ";base64")
	if !encoded || !based {
		return wire.Attachment{}, fault.New(fault.InvalidRequest, "it must be a data URL in base64: data:<type>;base64,<data>.")
	}
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return wire.Attachment{}, fault.Wrap(err, fault.InvalidRequest, "its base64 cannot be read.")
	}
	if media, _, _ = strings.Cut(media, ";"); media == "" {
		media = "text/plain" // RFC 2397
	}
	if kind == "image" && !strings.HasPrefix(media, "image/") {
		return wire.Attachment{}, fault.New(fault.InvalidRequest, "%s is no type of images.", media)
	}
	return wire.Attachment{Kind: kind, URL: url, Filename: name, MIMEType: media, Size: int64(len(raw))}, nil
}
