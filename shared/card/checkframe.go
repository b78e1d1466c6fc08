package card

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// misfit says which field does not fit, without the words of a parser.
func misfit(err error) string {
	var field *json.UnmarshalTypeError
	if errors.As(err, &field) && field.Field != "" {
		article := "a"
		if field.Value == "array" || field.Value == "object" {
			article = "an"
		}
		return fmt.Sprintf("%s cannot be %s %s", shorten(field.Field), article, field.Value)
	}
	var content *contentError
	if errors.As(err, &content) {
		return content.Error()
	}
	return "one of them has a form that is not allowed"
}

func (f SessionCreate) check() string {
	if tooLong(f.SessionID, f.AgentID) {
		return idBound
	}
	tools := make([]wire.ClientTool, len(f.Tools))
	for i, tool := range f.Tools {
		tools[i] = wire.ClientTool(tool)
	}
	if err := wire.CheckClientTools(tools); err != nil {
		return fault.Public(err).Detail
	}
	for i, tool := range f.Tools {
		if !takesObjects(tool.InputSchema) {
			return fmt.Sprintf("Tool %d: the type of its input_schema is object.", i+1)
		}
	}
	return ""
}

// takesObjects says whether a schema that is an object, or absent, names no other type than object, or several that object is one of: tools are called
// with objects alone. It is asked where a tool is declared, and not at the edge, which takes what was declared before.
func takesObjects(schema json.RawMessage) bool {
	var said struct {
		Type any `json:"type"`
	}
	if len(schema) == 0 || json.Unmarshal(schema, &said) != nil {
		return true
	}
	switch named := said.Type.(type) {
	case nil:
		return true
	case []any:
		return slices.Contains(named, any("object"))
	default:
		return named == "object"
	}
}

func (f UserMessage) check() string {
	switch {
	case f.Text != "" && len(f.Content) > 0:
		return "Send text or content, not both."
	case f.Text == "" && len(f.Content) == 0:
		return "There is nothing to send: fill content, or text."
	case len(f.Content) > maxBlocks:
		return fmt.Sprintf("content has at most %d blocks.", maxBlocks)
	case tooLong(f.AgentID):
		return idBound
	case !oneOf(f.CoordinatorMode, "", "react", "plan"):
		return "coordinator_mode is react or plan."
	case !oneOf(f.PlanConfirmation, "", "auto", "required"):
		return "plan_confirmation is auto or required."
	}
	for i, block := range f.Content {
		if wrong := block.check(); wrong != "" {
			return fmt.Sprintf("Block %d of content: %s", i+1, wrong)
		}
	}
	return ""
}

func (b Block) check() string {
	switch b.Type {
	case TextBlock:
		if b.Text == "" {
			return "a text block has a text."
		}
		return ""
	case ImageBlock, FileBlock:
		return b.Source.check()
	}
	return "its type is text, image or file."
}

func (s Source) check() string {
	filled := map[SourceType]bool{PathSource: s.Path != "", URLSource: s.URL != "", DataSource: len(s.Data) > 0, UploadSource: s.AttachmentID != ""}
	has, known := filled[s.Type]
	switch {
	case !known:
		return "its source has a type: upload, base64, path or url."
	case !has:
		return "its source lacks what its type names: attachment_id, data, path or url."
	case tooLong(s.AttachmentID, s.Filename, s.MediaType):
		return idBound
	}
	return ""
}

func (f UserInject) check() string {
	if f.Text == "" {
		return "user.inject has a text."
	}
	if tooLong(f.TraceID) {
		return idBound
	}
	return ""
}

func (f ToolResult) check() string {
	switch {
	case f.ToolUseID == "" || tooLong(f.ToolUseID):
		return "tool_use_id is that of the tool card that waits."
	case !oneOf(f.Status, string(OK), string(Failed), string(Cancelled)):
		return "status is ok, failed or cancelled."
	case f.Error != nil && f.Status != string(Failed):
		return "error belongs to status failed."
	}
	if err := f.Response().Check(); err != nil {
		return "The result does not fit: " + err.Error() + "."
	}
	return ""
}

func (f PromptResponse) check() string {
	if f.RequestID == "" || tooLong(f.RequestID) {
		return "request_id is that of the prompt.user frame that is answered."
	}
	return ""
}

func (f SessionInterrupt) check() string {
	if tooLong(f.TraceID) {
		return idBound
	}
	return ""
}

const lastSeqRule = "last_seq is the number of the newest event you have, 0 if you have none."

func (f SessionResume) check() string {
	switch {
	case f.TraceID == "" || tooLong(f.TraceID):
		return "trace_id is that of the events you have."
	case f.LastSeq < 0:
		return lastSeqRule
	case len(f.MessageCursors) > maxCursors:
		return fmt.Sprintf("message_cursors has at most %d cards.", maxCursors)
	}
	for _, seq := range f.MessageCursors {
		if seq < 0 {
			return "A cursor of message_cursors is the number of an event, so it is not negative."
		}
	}
	return ""
}

var idBound = fmt.Sprintf("Ids and names have at most %d bytes.", maxFrameID)

func tooLong(ids ...string) bool {
	return slices.ContainsFunc(ids, func(s string) bool { return len(s) > maxFrameID })
}

func oneOf(word string, words ...string) bool { return slices.Contains(words, word) }
