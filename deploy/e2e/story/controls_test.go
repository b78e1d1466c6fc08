package story

import (
	"errors"
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/omni"
)

// talk is a conversation that a program has with an agent.
type talk struct {
	*client.OmniSession
	t *testing.T
}

// run gives a task, does something when it is told a message, and returns what the model has said and the last message. The run completes, or is cancelled.
func (k talk) run(words string, on func(omni.Payload)) (said []string, last omni.Payload) {
	k.t.Helper()
	for m, err := range k.Run(k.t.Context(), client.TextTask(words)) {
		var ended *client.TaskError
		if errors.As(err, &ended) && ended.State == client.RunStateCancelled {
			return said, last
		}
		if err != nil {
			k.t.Fatalf("%s: %v", words, err)
		}
		body, err := m.Body()
		if err != nil {
			k.t.Fatal(err)
		}
		if text, is := body.(omni.TextPayload); is && (text.Role == omni.Assistant || len(said) > 0) {
			said = append(said, text.Text)
		}
		on(body)
		last = body
	}
	return said, last
}

// A program steers a run, has its context made smaller, ends a wait of its agent, and stops one, by the SDK alone.
func TestAProgramSteersARunAndStopsOne(t *testing.T) {
	t.Parallel()
	r := rig.New(t, rig.Options{})
	profile := rig.Profile("events", r.Program("testagent"), "--scenes", "--pace", "20ms")
	r.AddEdge("laptop", map[string]string{"worker": profile + "controls: [steer, retry_now, compact]\nkill_grace_secs: 1\n"})
	device := r.Device("program", r.HubURL())
	k, ctx := talk{device.Session(device.Group("demo", "worker")), t}, t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := k.Steer(ctx, "x"); client.CodeOf(err) != "not_running" {
		t.Errorf("steer nobody: %v", err)
	}

	said, _ := k.run("Listen.", func(p omni.Payload) {
		switch text, _ := p.(omni.TextPayload); text.Text {
		case "I am listening.":
			if _, err := k.Task(ctx, "", client.TextTask("Listen.")); client.CodeOf(err) != "task_in_progress" {
				t.Errorf("a second task: %v", err)
			}
			_, err := k.Steer(ctx, "Slower.")
			must(err)
		case "You say: Slower.":
			_, err := k.Compact(ctx)
			must(err)
		}
		if end, is := p.(omni.CompactionEndPayload); is && end.Status == omni.Completed {
			_, err := k.Steer(ctx, "Enough.")
			must(err)
		}
	})
	for _, want := range []string{"I am listening.", "[user_steering]\nSlower.", "You say: Slower.", "They talked.", "[user_steering]\nEnough.", "You say: Enough."} {
		if !slices.Contains(said, want) {
			t.Errorf("nobody said %q in %q", want, said)
		}
	}

	said, _ = k.run("Be patient.", func(p omni.Payload) {
		if end, is := p.(omni.RequestEndPayload); is && end.RetryInMS != nil {
			was, err := k.RetryNow(ctx)
			if must(err); !was {
				t.Error("nobody has waited")
			}
		}
	})
	if !slices.Equal(said, []string{"That went well."}) {
		t.Errorf("said %q", said)
	}

	_, last := k.run("Listen.", func(p omni.Payload) {
		if text, _ := p.(omni.TextPayload); text.Text == "I am listening." {
			was, err := k.Abort(ctx, "Enough.")
			if must(err); !was {
				t.Error("nothing was at work")
			}
		}
	})
	if abort, is := last.(omni.AbortPayload); !is || abort.Reason != "Enough." {
		t.Errorf("the last was %+v", last)
	}
	was, err := k.Abort(ctx, "")
	if must(err); was {
		t.Error("something was at work")
	}
}
