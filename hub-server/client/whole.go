package client

import (
	"slices"
	"strings"
)

// tellMessages tells messages as REST has them, in the frames that would have told of them: the message, who pinned it, each reaction. What
// the hub has no more of these is taken back.
func (f *Feed) tellMessages(messages []keptMessage, tell func(Update) error) error {
	if len(messages) == 0 {
		return nil
	}
	held := f.reducer.heldOf()
	for _, m := range messages {
		frames, err := m.frames(held[m.ID])
		if err != nil {
			return err
		}
		for _, one := range frames {
			if err := f.add(one.Type, one.Payload, tell); err != nil {
				return err
			}
		}
	}
	return nil
}

// heldOf returns the records of pins and reactions by their message.
func (r *Reducer) heldOf() map[MessageID][]string {
	held := map[MessageID][]string{}
	for key := range r.records {
		record, rest, _ := strings.Cut(key, " ")
		first, second, _ := strings.Cut(rest, "/")
		switch record {
		case reaction:
			held[first] = append(held[first], key)
		case pin:
			held[second] = append(held[second], key)
		}
	}
	return held
}

// frames returns what tells of a message, given the records of its pin and reactions that are held.
func (m keptMessage) frames(held []string) ([]HubWebSocketFrame, error) {
	base := m.raw
	if len(m.Reactions) > 0 || m.Pinned.PinnedByUserID != "" {
		var err error
		if base, err = without(base, "reactions", "pinned"); err != nil {
			return nil, err
		}
	}
	frames := []HubWebSocketFrame{{Type: HubWebSocketFrameTypeMessageNew, Payload: base}}
	there := map[string]bool{}
	say := func(typ HubWebSocketFrameType, payload any, key string) error {
		raw, err := encode(payload)
		frames = append(frames, HubWebSocketFrame{Type: typ, Payload: raw})
		there[key] = true
		return err
	}
	if p := m.Pinned; p.PinnedByUserID != "" {
		payload := MessagePinPayload{SessionID: m.SessionID, MessageID: m.ID, PinnedByUserID: p.PinnedByUserID, PinnedAt: p.PinnedAt}
		if err := say(HubWebSocketFrameTypeMessagePin, payload, recordKey(pin, m.SessionID, m.ID)); err != nil {
			return nil, err
		}
	}
	for _, way := range m.Reactions {
		for _, user := range way.UserIds {
			payload := MessageReactionPayload{
				Action: MessageReactionPayloadActionAdded, UserID: user, MessageID: m.ID, SessionID: m.SessionID, Reaction: way.Reaction, Count: way.Count,
			}
			if err := say(HubWebSocketFrameTypeMessageReactionAdded, payload, recordKey(reaction, m.ID, user, way.Reaction)); err != nil {
				return nil, err
			}
		}
	}
	gone, err := m.gone(held, there)
	return append(frames, gone...), err
}

// gone returns frames that take back what is held and not there.
func (m keptMessage) gone(held []string, there map[string]bool) (frames []HubWebSocketFrame, err error) {
	slices.Sort(held)
	for _, key := range held {
		if there[key] {
			continue
		}
		var payload any = MessageUnpinPayload{SessionID: m.SessionID, MessageID: m.ID}
		typ := HubWebSocketFrameTypeMessageUnpin
		if rest, ok := strings.CutPrefix(key, recordKey(reaction, m.ID, "")); ok {
			user, way, _ := strings.Cut(rest, "/")
			typ = HubWebSocketFrameTypeMessageReactionRemoved
			payload = MessageReactionPayload{
				Action: MessageReactionPayloadActionRemoved, UserID: user, MessageID: m.ID, SessionID: m.SessionID, Reaction: way, Count: m.countOf(way),
			}
		}
		raw, err := encode(payload)
		if err != nil {
			return nil, err
		}
		frames = append(frames, HubWebSocketFrame{Type: typ, Payload: raw})
	}
	return frames, nil
}

func (m keptMessage) countOf(way string) int {
	for _, r := range m.Reactions {
		if r.Reaction == way {
			return r.Count
		}
	}
	return 0
}
