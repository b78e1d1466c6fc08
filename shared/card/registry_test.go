package card_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/shared/card"
)

func TestRegistryIsThatOfTheProtocol(t *testing.T) {
	want := map[card.Kind]struct {
		icon    string
		role    card.Role
		timeout time.Duration
		zh, en  string // of the example payloads
	}{
		card.Agent:    {"agent", card.Worker, 600 * time.Second, "researcher", "researcher"},
		card.Artifact: {"artifact", card.Worker, 0, "report.md", "report.md"},
		card.Budget:   {"warning", card.SystemRole, 0, "预算提醒", "Budget notice"},
		card.MemoryOp: {"memory", card.SystemRole, 0, "记忆操作", "Memory"},
		card.Message:  {"chat", card.Persona, 300 * time.Second, "消息", "Message"},
		card.Plan:     {"plan", card.Orchestrator, 600 * time.Second, "计划", "Plan"},
		card.Step:     {"dispatch", card.Orchestrator, 300 * time.Second, "步骤：researcher", "Step: researcher"},
		card.System:   {"info", card.SystemRole, 0, "系统提示", "System notice"},
		card.Team:     {"team", card.SystemRole, 0, "press", "press"},
		card.Thinking: {"thinking", card.Persona, 300 * time.Second, "思考", "Thinking"},
		card.Todo:     {"task", card.SystemRole, 0, "Write tests", "Write tests"},
		card.Tool:     {"tool", card.Worker, 120 * time.Second, "Bash", "Bash"},
		card.Turn:     {"chat", card.Persona, 600 * time.Second, "第 1 轮", "Turn 1"},
		"hologram":    {"default", card.SystemRole, 0, "hologram", "hologram"},
	}
	if len(want) != len(card.Kinds())+1 {
		t.Errorf("%d kinds", len(card.Kinds()))
	}
	for kind, w := range want {
		meta := card.Lookup(kind)
		payload, err := json.Marshal(payloads()[kind])
		if err != nil {
			t.Fatal(err)
		}
		zh, en := meta.Hint("", payload), meta.Hint(card.English, payload)
		if meta.Role != w.role || meta.Timeout != w.timeout || meta.Tracked() != (w.timeout > 0) || meta.Icon != w.icon {
			t.Errorf("%s is %+v", kind, meta)
		}
		if zh != (card.Hint{Title: w.zh, Icon: w.icon}) || en != (card.Hint{Title: w.en, Icon: w.icon}) || meta.Hint(card.Chinese, payload) != zh {
			t.Errorf("%s is shown as %+v, %+v", kind, zh, en)
		}
	}
}

func TestATokenWithoutAValueStays(t *testing.T) {
	tool := card.Lookup(card.Tool)
	for payload, want := range map[string]string{
		`{}`: "{name}", `{"name":""}`: "{name}", `{"name":null}`: "{name}", `{"name":{"a":1}}`: "{name}", `{"name":["a"]}`: "{name}", ``: "{name}", `[]`: "{name}",
		`{"name":"a {name} $1"}`: "a {name} $1", `{"name":12}`: "12", `{"name":true}`: "true",
	} {
		if got := tool.Hint("", json.RawMessage(payload)).Title; got != want {
			t.Errorf("%s: %q, want %q", payload, got, want)
		}
	}
}

func TestAHintLeavesTheRestToTheRegistry(t *testing.T) {
	add := func(hint *card.Hint) card.Hint {
		return *newTrace().At(at, runID).Add(card.Ref{ID: "t", Kind: card.Tool}, card.ToolPayload{Name: "Bash"}, hint).Hint
	}
	if got := add(&card.Hint{Summary: "lists"}); got != (card.Hint{Title: "Bash", Icon: "tool", Summary: "lists"}) {
		t.Errorf("%+v", got)
	}
	if got := add(&card.Hint{Title: "ls", Icon: "warning"}); got != (card.Hint{Title: "ls", Icon: "warning"}) {
		t.Errorf("%+v", got)
	}
}
