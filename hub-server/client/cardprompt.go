package client

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// promptOld is how old a prompt is when a person is told that it may not wait any more (S0 §2.4.5).
const promptOld = 7 * 24 * time.Hour

// CardPrompt is a question to a person. There is one for each request_id, however often the hub sends it (S0 §2.4.2).
type CardPrompt struct {
	card.PromptPayload
	Seq     card.Seq
	AgentID string
	AskedAt time.Time
	Reply   *card.ReplyPayload // what became of it; nil while it waits
	Refused *card.ErrorInfo    // why an answer of this client was not taken; nil if none was
}

// Visible says whether the question is to be shown: it waits, and the hub has not refused the answer to it. The hub sends a refused one again to a
// new connection if it still waits.
func (p *CardPrompt) Visible() bool { return p.Reply == nil && p.Refused == nil }

// MayHaveExpired says that the question has been there for so long that a person should be told: it may not wait any more.
func (p *CardPrompt) MayHaveExpired(now time.Time) bool { return now.Sub(p.AskedAt) >= promptOld }

// MayWait says whether a person may be told that there is time: with recovery, the hub keeps questions over restarts and sends them again.
// Without, they have to be answered at once (S0 §2.4.5).
func (f *CardForest) MayWait() bool { return f.session.Capabilities.Recovery }

// Interrupted says that the answer to a question could not be taken since a hub without recovery has forgotten it: the person has to ask again.
func (f *CardForest) Interrupted(p *CardPrompt) bool { return p.Refused != nil && !f.MayWait() }

// Prompt returns the question of a request, nil if there is none.
func (f *CardForest) Prompt(request id.Request) *CardPrompt { return f.prompts[request] }

// Prompts are all questions, in the order in which they were asked.
func (f *CardForest) Prompts() []*CardPrompt {
	all := make([]*CardPrompt, 0, len(f.prompts))
	for _, p := range f.prompts {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *CardPrompt) int {
		return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.RequestID, b.RequestID))
	})
	return all
}

// ask notes a question. One that is known is not asked again, unless the hub says that an answer it has refused is still waited for.
func (f *CardForest) ask(e card.Event) Verdict {
	var p card.PromptPayload
	if json.Unmarshal(e.Payload, &p) != nil || p.RequestID == "" {
		return Ignored
	}
	known := f.prompts[id.Request(p.RequestID)]
	switch {
	case known == nil:
		f.prompts[id.Request(p.RequestID)] = &CardPrompt{
			PromptPayload: p, Seq: e.Envelope.Seq, AgentID: e.Envelope.AgentID, AskedAt: e.Envelope.Timestamp,
		}
	case known.Refused != nil && known.Reply == nil:
		known.Refused = nil
	default:
		return Repeated
	}
	return Applied
}

// reply notes what became of a question.
func (f *CardForest) reply(e card.Event) Verdict {
	var p card.ReplyPayload
	if json.Unmarshal(e.Payload, &p) != nil {
		return Ignored
	}
	asked := f.prompts[id.Request(p.RequestID)]
	if asked == nil {
		return Ignored
	}
	asked.Reply = &p
	return Applied
}

// refuse hides the question that an error is about: the hub says which in the details.
func (f *CardForest) refuse(info card.ErrorInfo) {
	request, _ := info.Details["request_id"].(string)
	if asked := f.prompts[id.Request(request)]; asked != nil && asked.Reply == nil {
		asked.Refused = &info
	}
}
