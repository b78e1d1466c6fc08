package card

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxOwnID  = 128 // bytes of an id that somebody else made
	suffixed  = "~" // stands before the number that makes an id unique
	otherCard = "card_"
)

// naming says how cards of a kind are called (R28, facts 0.6, and the scenarios of S0 §13).
type naming struct {
	prefix string // of the ids that we make
	bare   bool   // an id of somebody else is taken without the prefix, as the scenarios have it: `toolu_1`, `sub_e5`
}

var namings = map[Kind]naming{
	Turn:     {prefix: "turn_"},
	Message:  {prefix: "msg_"},
	Tool:     {prefix: "tool_", bare: true},
	Agent:    {prefix: "ag_", bare: true},
	Plan:     {prefix: "plan_"},
	Step:     {prefix: "step_"},
	Artifact: {prefix: "art_"},
	Thinking: {prefix: "thk_"},
	Todo:     {prefix: "todo_"},
}

// IDs knows which card ids a trace has. The zero value is that of a new trace. Its JSON is what a checkpoint keeps: a few bytes at first, never
// more than some 6 KiB, however many cards there are.
type IDs struct{ used sieve }

// Take returns the id of a card and remembers it. own is what the agent, the model or the plan calls the thing; "" if nothing has a name for it.
// seq is the number of the event that adds the card: where own was used before, it makes the id unique. The same calls give the same ids.
func (u *IDs) Take(kind Kind, own string, seq Seq) string {
	card := name(kind, own, seq)
	if card == MainAgent || strings.Contains(card, suffixed) || u.used.has(card) {
		card = fmt.Sprintf("%s%s%d", card, suffixed, seq)
	}
	u.used.add(card)
	return card
}

func name(kind Kind, own string, seq Seq) string {
	rule, ok := namings[kind]
	if !ok {
		rule.prefix = otherCard
	}
	switch {
	case own == "":
		return fmt.Sprintf("%s%016x", rule.prefix, uint64(seq))
	case !presentable(own):
		sum := sha256.Sum256([]byte(own))
		return rule.prefix + hex.EncodeToString(sum[:8])
	case strings.HasPrefix(own, rule.prefix), rule.bare && !claimed(own):
		return own
	}
	return rule.prefix + own
}

// presentable says whether an id can be shown, copied and compared without trouble.
func presentable(own string) bool {
	hidden := func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }
	return len(own) <= maxOwnID && utf8.ValidString(own) && !strings.ContainsFunc(own, hidden)
}

// claimed says whether an id looks like that of a card of some kind.
func claimed(own string) bool {
	for _, rule := range namings {
		if strings.HasPrefix(own, rule.prefix) {
			return true
		}
	}
	return strings.HasPrefix(own, otherCard)
}
