package conformance

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/switchyard-dev/switchyard/shared/bridge"
)

// said checks the fields of a line of the bridge protocol, which agents of both runtimes may say.
func said(l *ledger, line bridge.Line, f fields) {
	switch line.Type {
	case bridge.TypePartial, bridge.TypeResult:
		_, given := f["text"]
		_, text := f.text("text")
		needed := line.Type == bridge.TypePartial
		l.check(eventText, text || !given && !needed, "text of a %s is %s", line.Type, orNothing(f["text"]))
	case bridge.TypeError:
		text, _ := f.text("message")
		l.check(errorMessage, text != "", "message of an error is %s", orNothing(f["message"]))
	}
	if role, given := f["role"]; given && line.Type == bridge.TypePartial {
		known := line.Role == bridge.Output || line.Role == bridge.Thinking
		l.check(partialRole, known, "role is %s", role)
	}
	if usage, given := f["usage"]; given {
		may := line.Type == bridge.TypeResult || line.Type == bridge.TypeError
		l.check(usagePlace, may, "usage on a %s", line.Type)
		if may {
			checkUsage(l, usage)
		}
	}
	if slices.Contains(line.Warnings, bridge.ReasonSessionID) {
		l.breach(sessionValid, "session_id is %.80s", f["session_id"])
	} else if line.SessionID != "" {
		l.keep(sessionValid)
	}
}

// usageKeys are the numbers that the protocol names.
func usageKeys() []string {
	return []string{
		"input_tokens", "output_tokens", "total_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "reasoning_tokens",
		"duration_ms", "cost_usd",
	}
}

func checkUsage(l *ledger, usage json.RawMessage) {
	if !bytes.HasPrefix(usage, []byte("{")) {
		l.breach(usageValues, "usage is %.80s", usage)
		return
	}
	values := fieldsOf(usage)
	for _, key := range usageKeys() {
		if value, given := values[key]; given {
			var number json.Number
			l.check(usageValues, value[0] != '"' && json.Unmarshal(value, &number) == nil, "%s is %.80s", key, value)
		}
	}
	l.keep(usageValues)
}

func orNothing(raw json.RawMessage) string {
	if raw == nil {
		return "not there"
	}
	if len(raw) > 80 {
		raw = append(raw[:80:80], "…"...)
	}
	return string(raw)
}
