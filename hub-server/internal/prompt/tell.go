package prompt

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// Bounds of what a dispatch holds about answers, in bytes.
const (
	maxShown   = 500       // of an input in the text for the agent
	maxTold    = 32 << 10  // of that text
	maxGranted = 192 << 10 // of all grants
	grantSize  = 160       // of one, without the changed input
)

// grants are for what was allowed, as far as a dispatch has room: what is left out is asked anew.
func grants(decided []decision) (all []wire.Grant) {
	size := 0
	for _, d := range decided {
		g := wire.Grant{RequestID: d.asked.ID, Digest: d.asked.Digest, UpdatedInput: d.answer.UpdatedInput}
		if d.answer.Decision != event.Allow || size+grantSize+len(g.UpdatedInput) > maxGranted {
			continue
		}
		size += grantSize + len(g.UpdatedInput)
		all = append(all, g)
	}
	return all
}

// tell says the decisions in plain words.
func tell(decided []decision) string {
	var lines []string
	size := 0
	for i, d := range decided {
		line := d.sentence()
		if size += len(line); size > maxTold {
			lines = append(lines, fmt.Sprintf("%d more requests were answered.", len(decided)-i))
			break
		}
		lines = append(lines, line)
	}
	if slices.ContainsFunc(decided, func(d decision) bool { return d.answer.Decision == event.Allow }) {
		return strings.Join(lines, "\n") + " Go on."
	}
	return strings.Join(lines, "\n") + " Go on without it."
}

func (d decision) sentence() string {
	var asked event.PromptRequestedPayload
	if json.Unmarshal(d.asked.Payload, &asked) != nil {
		asked.ToolName = "a tool"
	}
	s := fmt.Sprintf("The request to use %s", asked.ToolName)
	if len(asked.Input) > len("{}") {
		s += " with " + shorten(string(asked.Input))
	}
	if d.answer.Decision == event.Deny {
		s += " was denied"
		if d.answer.Reason != "" {
			return s + ": " + strings.TrimRight(d.answer.Reason, ". ") + "."
		}
		return s + "."
	}
	if len(d.answer.UpdatedInput) > 0 {
		return s + " was allowed with another input: " + shorten(string(d.answer.UpdatedInput)) + "."
	}
	return s + " was allowed."
}

func shorten(s string) string {
	if len(s) <= maxShown {
		return s
	}
	return strings.ToValidUTF8(s[:maxShown], "") + " …"
}
