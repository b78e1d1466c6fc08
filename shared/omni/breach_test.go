package omni_test

import (
	"testing"

	"github.com/switchyard-dev/switchyard/shared/omni"
)

func TestABreachSaysWhichMessageBrokeWhichRule(t *testing.T) {
	inner, err := made(t, omni.PartialText(omni.Start, "")).WithOrigin("sub_1")
	if err != nil {
		t.Fatal(err)
	}
	err = omni.CheckStream([]omni.Message{
		made(t, omni.PartialText(omni.Start, "")), inner, made(t, omni.PartialText(omni.Delta, "ab")), made(t, omni.PartialText(omni.Stop, "")),
		made(t, omni.AssistantText("a")), made(t, omni.ToolCall("call_1", "bash", "{}")),
	})
	const want = `message 5 (text): the deltas add up to the complete message: text differs
message 7 (end): each tool call has an id of its own and one output, after it: call call_1 has no output
message 7 (end of sub_1): no fragment is left open: the text is open`
	if err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}

// TestShortStreams has what drawn streams rarely or never have.
func TestShortStreams(t *testing.T) {
	call, output := omni.ToolCall("1", "bash", "{}"), omni.ToolCallOutput("1", "")
	outputStart, outputStop := omni.PartialToolCallOutput(omni.Start, "1", ""), omni.PartialToolCallOutput(omni.Stop, "1", "")
	completed := omni.RequestEnd(omni.Completed, omni.RetryDetail{})
	for _, c := range []struct {
		name   string
		stream []omni.Payload
		want   string
	}{
		{"nothing", nil, ""},
		{"a tool may go on when the request is over", []omni.Payload{omni.RequestBegin(), call, outputStart, completed, outputStop, output}, ""},
		{"a failed request owes no output", []omni.Payload{omni.RequestBegin(), call, omni.RequestEnd(omni.Failed, omni.RetryDetail{})}, ""},
		{"a stopped run owes no output", []omni.Payload{call, omni.Abort("")}, ""},
		{"an agent without requests", []omni.Payload{omni.AssistantText("a"), call, output, omni.AssistantText("b")}, ""},
		{"a new context has its own meta", []omni.Payload{
			sessionMeta(), omni.CompactionBegin(omni.Manual, omni.Discard, 1, 1),
			omni.CompactionEndPayload{Reason: omni.Manual, Mode: omni.Discard, Status: omni.Completed}, sessionMeta(),
		}, ""},
		{
			"the end comes after a stop", []omni.Payload{omni.PartialText(omni.Start, ""), omni.PartialText(omni.Stop, "")},
			"message 3 (end): the complete message follows its stop at once: the text has stopped, and nothing follows",
		},
		{
			"an abort closes nothing", []omni.Payload{omni.PartialText(omni.Start, ""), omni.Abort("")},
			"message 2 (abort): no fragment is left open: the text is open",
		},
		{
			"an approval comes after the output", []omni.Payload{call, output, omni.ApprovalDecision("1", omni.Allow)},
			"message 3 (approval_decision): an approval is of a call that has no output yet: call 1 has its output",
		},
		{
			"a call is never answered", []omni.Payload{omni.RequestBegin(), call, completed},
			"message 4 (end): each tool call has an id of its own and one output, after it: call 1 has no output",
		},
		{
			"one mistake is told once", []omni.Payload{omni.PartialText(omni.Delta, "a"), omni.PartialText(omni.Delta, "b"), omni.PartialText(omni.Stop, ""), omni.AssistantText("ab")},
			"message 1 (partial_text): a fragment begins with start: this is a delta, and nothing is open",
		},
		{
			"a second start is a new fragment", []omni.Payload{
				omni.PartialText(omni.Start, ""), omni.PartialText(omni.Delta, "a"), omni.PartialText(omni.Start, ""), omni.PartialText(omni.Delta, "b"),
				omni.PartialText(omni.Stop, ""), omni.AssistantText("b"),
			},
			"message 3 (partial_text): a fragment starts after the one before it has stopped: the text is open",
		},
	} {
		var stream []omni.Message
		for _, p := range c.stream {
			stream = append(stream, made(t, p))
		}
		got := ""
		if err := omni.CheckStream(stream); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
