package faults

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/nemesis"
	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// The figures of promise P1.
const (
	sends     = 5000
	sendKills = 20
	senders   = 8
	sentAgain = 10 // every so many messages one is sent again after it was answered
)

// receipts is what senders were told. Safe for concurrent use.
type receipts struct {
	mu      sync.Mutex
	told    map[client.ClientMsgID]client.MessageID
	faults  []error
	changed chan struct{} // closed and replaced at each receipt
}

func newReceipts() *receipts {
	return &receipts{told: map[client.ClientMsgID]client.MessageID{}, changed: make(chan struct{})}
}

// note keeps an answer. One that was given before must be the same.
func (r *receipts) note(message client.ClientMsgID, answer client.MessageReceipt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if first, known := r.told[message]; known && first != answer.MessageID {
		r.faults = append(r.faults, fmt.Errorf("%s was answered with %s, then with %s", message, first, answer.MessageID))
	}
	r.told[message] = answer.MessageID
	close(r.changed)
	r.changed = make(chan struct{})
}

// count is how many messages were answered.
func (r *receipts) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.told)
}

// reach returns when n messages are answered, or everything is over.
func (r *receipts) reach(n int, over <-chan struct{}) {
	for {
		r.mu.Lock()
		done, changed := len(r.told) >= n, r.changed
		r.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
		case <-over:
			return
		}
	}
}

// examine says how a conversation differs from what senders were told, nil if it holds each message that was answered, once, and no other.
func (r *receipts) examine(stored []client.Message) error {
	found := r.faults
	count := map[client.ClientMsgID]int{}
	for _, m := range stored {
		count[m.ClientMsgID]++
		if told, sent := r.told[m.ClientMsgID]; !sent || told != m.MessageID {
			found = append(found, fmt.Errorf("%s is stored as %s, the sender was told %q", m.ClientMsgID, m.MessageID, told))
		}
	}
	for message := range r.told {
		if count[message] != 1 {
			found = append(found, fmt.Errorf("%s was answered and is stored %d times", message, count[message]))
		}
	}
	return errors.Join(found...)
}

// P1. The hub is killed while eight devices send, each message again and again until it is answered.
func TestAMessageThatWasAnsweredIsThereOnceHoweverOftenTheHubIsKilled(t *testing.T) {
	t.Parallel()
	sendThroughKills(t, effortOf(t), nil)
}

func sendThroughKills(t *testing.T, effort nemesis.Effort, c *clocks) {
	t.Helper()
	total, kills := effort.Of(sends), effort.Of(sendKills)
	r := rig.New(t, c.options())
	session := r.Owner().Group("letters")
	told := newReceipts()
	var sending sync.WaitGroup
	for i := range senders {
		d := r.Device(fmt.Sprintf("sender %d", i), r.HubURL())
		sending.Go(func() {
			for n := i; n < total; n += senders {
				letter := client.MessageInput{ClientMsgID: uuid.NewString(), Content: rig.Text(fmt.Sprintf("letter %d", n))}
				told.note(letter.ClientMsgID, d.Post(session, letter))
				if n%sentAgain == 0 {
					told.note(letter.ClientMsgID, d.Post(session, letter))
				}
			}
		})
	}
	over := make(chan struct{})
	var killing sync.WaitGroup
	killing.Go(func() {
		for _, n := range nemesis.Moments(effort.Seed, kills, total) {
			told.reach(n, over)
			r.KillHub()
			c.jump()
			r.StartHub()
		}
	})
	sending.Wait()
	close(over)
	killing.Wait()

	stored := r.Owner().Messages(session)
	if err := told.examine(stored); err != nil {
		t.Error(err)
	}
	figure(t, c.promise("P1"), "%d messages answered, %d stored, the hub killed %d times", len(told.told), len(stored), kills)
	if len(told.told) != total {
		t.Errorf("%d messages were answered, want %d", len(told.told), total)
	}
	for what, spoilt := range map[string][]client.Message{
		"one lost":            stored[1:],
		"one stored twice":    append(slices.Clone(stored), stored[0]),
		"one nobody has sent": append(slices.Clone(stored), client.Message{ClientMsgID: uuid.NewString()}),
	} {
		if told.examine(spoilt) == nil {
			t.Errorf("positive control: nobody notices a conversation with %s", what)
		}
	}
}
