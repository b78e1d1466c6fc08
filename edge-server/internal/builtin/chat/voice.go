package chat

import (
	"encoding/json"
	"strings"

	"github.com/openai/openai-go/v3"

	"github.com/switchyard-dev/switchyard/shared/agentline"
)

// voice says one answer as it comes.
type voice struct {
	w        *agentline.Writer
	heard    func() // something has come
	text     strings.Builder
	spoke    bool   // text or reasoning
	thinking string // the field in which the reasoning comes that is open; "" for none
}

func (v *voice) say(delta openai.ChatCompletionChunkChoiceDelta) {
	if field, thought := reasoningOf(delta); thought != "" {
		if v.thinking != field {
			v.endThought()
		}
		v.w.Think(thought)
		v.thinking, v.spoke = field, true
	}
	if piece := delta.Content + delta.Refusal; piece != "" {
		v.endThought()
		v.w.Delta(piece)
		v.text.WriteString(piece)
		v.spoke = true
	}
}

// endThought ends the reasoning, with the name that the endpoint has for it: who sends it back has to use the same (S1, 保真字段).
func (v *voice) endThought() {
	if v.thinking != "" {
		v.w.EndThought(agentline.Fidelity(json.RawMessage(`{"reasoning_field":"` + v.thinking + `"}`)))
	}
	v.thinking = ""
}

// reasoningOf reads a field that the protocol does not have and many servers send, under one of two names.
func reasoningOf(delta openai.ChatCompletionChunkChoiceDelta) (field, text string) {
	for _, field := range []string{"reasoning_content", "reasoning"} {
		if json.Unmarshal([]byte(delta.JSON.ExtraFields[field].Raw()), &text) == nil && text != "" {
			return field, text
		}
	}
	return "", ""
}
