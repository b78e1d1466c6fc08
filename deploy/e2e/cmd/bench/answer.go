package main

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// answer measures the time from the tap by which a person allows what an agent asks, on the second of two devices, to the agent's next words at
// the first one: the agent has read the answer, used its tool and gone on by then.
func (b bench) answer(t *stage) []row {
	r := b.rig(t, func(r *rig.Rig) map[string]string {
		profile := rig.Profile("bridge", r.Program("bridgeagent"), "--input", `{"command":"ls"}`)
		return map[string]string{"asker": profile + "permission: true\n"}
	})
	first, second := r.Device("a", r.HubURL()), r.Device("b", r.HubURL())
	moved, asked := make(chan time.Time, 16), make(chan client.Prompt, 16)
	seen := first.WatchWith(func(f client.HubWebSocketFrame) {
		if isWords(f) && strings.Contains(string(f.Payload), "used ") {
			moved <- time.Now()
		}
	})
	shown := second.WatchWith(func(f client.HubWebSocketFrame) {
		if p, ok := opened(f); ok {
			asked <- p
		}
	})
	seen.UntilConnected(1)
	shown.UntilConnected(1)
	session := first.Group("demo", "asker")
	var taken spread
	for range b.times(60, 10) {
		run := first.Run(session, "@asker go")
		taken = append(taken, b.tap(t, second, run, asked, moved))
		seen.UntilSettled(run)
	}
	const goal = 200 * time.Millisecond
	return []row{{
		"a tap on the second device allows what an agent asks → the agent has gone on, seen at the first device", "p95 ≤ 200 ms", inHalves(taken),
		taken.at(0.95) <= goal,
	}}
}

// tap answers as soon as the device is asked, and returns how long the agent took to go on.
func (b bench) tap(t *stage, d *rig.Device, run id.Run, asked <-chan client.Prompt, moved <-chan time.Time) time.Duration {
	p := <-asked
	if p.TaskID != string(run) {
		t.Fatalf("%s asks, not %s", p.TaskID, run)
	}
	start := time.Now()
	_, err := client.Decode[client.Prompt](d.API().AnswerPrompt(t.ctx, p.TaskID, p.RequestID, client.PromptAnswerInput{
		Decision: client.PromptDecisionAllow, Digest: p.Digest,
	}))
	t.must(err)
	return (<-moved).Sub(start)
}

// opened returns the question that a frame opens; false for any other frame.
func opened(f client.HubWebSocketFrame) (p client.Prompt, ok bool) {
	var n client.NotificationPayload
	if f.Type != client.HubWebSocketFrameTypeNotificationNew || json.Unmarshal(f.Payload, &n) != nil {
		return p, false
	}
	return p, json.Unmarshal(n.Payload, &p) == nil && p.State == client.PromptStatePending
}
