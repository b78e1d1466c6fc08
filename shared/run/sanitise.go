package run

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
)

// value makes what an agent sent as a JSON value fit for a row: absent by default, its text as a string when it is no JSON or too deep.
func value(raw json.RawMessage, absent string) json.RawMessage {
	trimmed := bytes.TrimSpace(raw)
	if len(trimmed) == 0 {
		return json.RawMessage(absent)
	}
	if json.Valid(trimmed) && event.Depth(trimmed) <= event.MaxValueDepth {
		return bytes.ToValidUTF8(trimmed, []byte("\uFFFD"))
	}
	text, err := event.Encode(string(trimmed))
	if err != nil {
		return json.RawMessage(absent) // a string always encodes
	}
	return text
}

// metadata returns what says how to show a result; nil for what is no object, or too much of one.
func metadata(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || len(raw) > maxMetadata {
		return nil
	}
	payload, ok := object(raw)
	if !ok {
		return nil
	}
	return withoutSecrets(payload)
}

// object returns the bytes of a fact's payload: {} for none, false for one that is no object.
func object(payload any) (json.RawMessage, bool) {
	if payload == nil {
		return json.RawMessage(`{}`), true
	}
	raw, err := event.Encode(payload)
	if err != nil {
		return nil, false
	}
	raw = bytes.TrimSpace(raw)
	if !bytes.HasPrefix(raw, []byte("{")) || event.Depth(raw) > event.MaxValueDepth {
		return nil, false
	}
	if len(raw) > maxFact {
		return json.RawMessage(fmt.Sprintf(`{"omitted_bytes":%d}`, len(raw))), true
	}
	return raw, true
}

// windowOf is how much fits into a model's context: a whole number or a name, nil for anything else.
func windowOf(raw json.RawMessage) json.RawMessage {
	raw = bytes.TrimSpace(raw)
	var tokens int64
	if json.Unmarshal(raw, &tokens) == nil && tokens > 0 {
		return raw
	}
	if name, ok := event.Text(raw); ok && name != "" && len(raw) <= maxName {
		return raw
	}
	return nil
}

// listOf is a JSON list that a row may hold, nil for anything else.
func listOf(raw json.RawMessage) json.RawMessage {
	raw = bytes.TrimSpace(raw)
	if !bytes.HasPrefix(raw, []byte("[")) || !json.Valid(raw) || event.Depth(raw) > event.MaxValueDepth {
		return nil
	}
	return bytes.ToValidUTF8(raw, []byte("\uFFFD"))
}

// Bounds of the images of one result.
const (
	maxImages     = 32
	maxImageBytes = 20 << 20 // of all of them, as URLs
)

// imagesOf are the images of a result that can be passed on: data URLs of images in base64.
func imagesOf(urls []string) (kept []string) {
	size := 0
	for _, url := range urls {
		size += len(url)
		head, data, found := strings.Cut(url, ";base64,")
		if len(kept) == maxImages || size > maxImageBytes {
			break
		}
		if !found || !strings.HasPrefix(head, "data:image/") || data == "" {
			continue
		}
		if _, err := base64.StdEncoding.DecodeString(data); err == nil && !strings.ContainsAny(data, "\r\n") {
			kept = append(kept, url)
		}
	}
	return kept
}

// stopReason says whether a status is one of S1's.
func stopReason(s event.RequestStatus) bool {
	switch s {
	case event.RequestCompleted, event.RequestFailed, event.RequestAborted, event.RequestTimeout, event.RequestMalformed, event.RequestAuth:
		return true
	}
	return false
}

// read returns a payload in the shape of P, false for one of another shape.
func read[P any](payload any) (P, bool) {
	if p, ok := payload.(P); ok {
		return p, true
	}
	var p P
	raw, err := event.Encode(payload)
	return p, err == nil && json.Unmarshal(raw, &p) == nil
}

// withoutSecrets drops what R19 lets no row have from a payload that an agent wrote, and says in it which keys those were.
func withoutSecrets(payload json.RawMessage) json.RawMessage {
	rest, dropped := event.WithoutSecretKeys(payload)
	if len(dropped) == 0 {
		return payload
	}
	dropped = dropped[:min(len(dropped), maxOmitted)]
	for i, key := range dropped {
		dropped[i] = clean(key, maxName)
	}
	said, err := event.Encode(dropped)
	if err != nil {
		return json.RawMessage(`{}`) // strings always encode
	}
	out := append(bytes.TrimSuffix(rest, []byte("}")), `,"omitted_keys":`...)
	if len(rest) == len(`{}`) {
		out = []byte(`{"omitted_keys":`)
	}
	return append(append(out, said...), '}')
}

// bounded keeps an error of an agent within what one row should hold and gives it a code if it has none.
func bounded(err event.ErrorObj) event.ErrorObj {
	if err.Code == "" {
		err.Code = fault.AgentError
	}
	err.Code = fault.Code(clean(string(err.Code), maxName))
	err.Message = clean(err.Message, maxText)
	err.Type, err.UserMessage = clean(err.Type, maxName), clean(err.UserMessage, maxText)
	return err
}

// factual says whether an agent may state an event of this type: not those that the Normaliser makes itself, nor a wire name that stands
// for one of them, nor the names of prompts, which are the hub's to say.
func factual(t event.Type) bool {
	switch t {
	case event.RunOutputBatch, event.RunCheckpoint:
		return true
	case event.Thinking, event.ToolInput, event.ToolOutput:
		return false
	}
	name := string(t)
	if !strings.HasPrefix(name, "run.agent.") || !event.WellFormed(name) {
		return false
	}
	switch t {
	case event.PlanStepStatus, event.PlanEnded:
		return true
	}
	if strings.HasPrefix(name, "run.agent.permission_") || strings.HasPrefix(name, "run.agent.plan_") {
		return false
	}
	return event.Stored(event.WireType(name), nil) == t
}
