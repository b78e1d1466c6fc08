package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/truth"
	"github.com/switchyard-dev/switchyard/shared/agentline"
	"github.com/switchyard-dev/switchyard/shared/bridge"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// script is what a well-behaved agent is to do.
type script struct {
	truth    string
	events   int
	rate     float64
	tools    bool
	stamp    bool
	while    string
	artifact string
}

// play says everything. A failure of the book or of stdout ends it.
func (s script) play(ctx context.Context, turn bridge.Turn, stdout io.Writer) error {
	v := voice{out: agentline.NewWriter(stdout)}
	if s.truth != "" {
		book, err := truth.Open(s.truth, turn.Message)
		if err != nil {
			return err
		}
		defer book.Close()
		v.book = book
	}
	for i, begin := 0, time.Now(); i < s.events && (s.owes(i) || s.goesOn()); i++ {
		if err := s.await(ctx, begin, i); err != nil {
			return err
		}
		s.say(&v, i)
		if err := v.failed(); err != nil {
			return err
		}
	}
	if s.artifact != "" {
		v.artifact(s.artifact, []byte("# Report\n\nHow it went: well, <b>mostly</b>.\n"))
	}
	v.out.Metrics(nil)
	v.out.Done("")
	return v.failed()
}

// owes says whether item i is the end of a call: an agent that ends well leaves none open.
func (s script) owes(i int) bool { return s.tools && !s.stamp && i%10 == 4 }

// goesOn says whether the file that keeps the agent at work is there, if it has one.
func (s script) goesOn() bool {
	if s.while == "" {
		return true
	}
	_, err := os.Stat(s.while)
	return err == nil
}

// await returns when it is time for item i of a run that began at begin.
func (s script) await(ctx context.Context, begin time.Time, i int) error {
	if s.rate <= 0 {
		return ctx.Err()
	}
	due := time.NewTimer(time.Until(begin.Add(time.Duration(float64(i) / s.rate * float64(time.Second)))))
	defer due.Stop()
	select {
	case <-due.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// say says item i: a text, or one of the rarer things.
func (s script) say(v *voice, i int) {
	switch {
	case s.stamp:
		v.text(fmt.Sprintf("<%d>", time.Now().UnixNano()))
	case s.tools && i%10 == 3:
		v.call(i, json.RawMessage(fmt.Sprintf(`{"b": %d, "a": "<é>", "n": 1.0}`, i)))
	case s.tools && i%10 == 4 && i%4 != 0:
		v.result(i-1, json.RawMessage(fmt.Sprintf(`["x", %d, {"deep": [null, 1e3]}]`, i)))
	case s.tools && i%10 == 4:
		v.failure(i-1, event.ErrorObj{Code: "tool_failed", Message: fmt.Sprintf("Nothing was found at %d.", i)})
	case s.tools && i%10 == 7:
		v.thought(fmt.Sprintf("hm %d … ", i))
	default:
		v.text(fmt.Sprintf("%d: ü < \u2028 \U0001f600 & so on. ", i))
	}
}

// voice says things, and writes each to the book first.
type voice struct {
	out  *agentline.Writer
	book *truth.Book
	err  error // the first of the book
}

func (v *voice) failed() error {
	if v.err != nil {
		return v.err
	}
	return v.out.Err()
}

func (v *voice) note(i truth.Item) {
	if v.book != nil && v.err == nil {
		v.err = v.book.Say(i)
	}
}

const toolName = "look-up"

func callID(i int) string { return fmt.Sprintf("call-%d", i) }

func (v *voice) text(s string) {
	v.note(truth.Item{Kind: truth.Text, Text: s})
	v.out.Delta(s)
}

func (v *voice) thought(s string) {
	v.note(truth.Item{Kind: truth.Thought, Text: s})
	v.out.Think(s)
}

func (v *voice) call(i int, args json.RawMessage) {
	v.note(truth.Item{Kind: truth.Call, Text: toolName, Value: args})
	v.out.ToolCall(callID(i), toolName, args)
}

func (v *voice) result(i int, value json.RawMessage) {
	v.note(truth.Item{Kind: truth.Result, Value: value})
	v.out.ToolResult(callID(i), toolName, value)
}

func (v *voice) failure(i int, why event.ErrorObj) {
	v.note(truth.Item{Kind: truth.Failure, Code: string(why.Code), Text: why.Message})
	v.out.ToolFailed(callID(i), toolName, why)
}

func (v *voice) artifact(name string, content []byte) {
	sum := sha256.Sum256(content)
	v.note(truth.Item{Kind: truth.Artifact, Text: hex.EncodeToString(sum[:])})
	v.out.Artifact(name, "text/markdown", content)
}
