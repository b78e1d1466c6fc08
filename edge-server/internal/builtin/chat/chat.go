// Package chat is a built-in agent that talks to any endpoint that speaks the OpenAI chat protocol: OpenAI itself, Ollama, vLLM and others. It
// remembers its conversations in files of its working directory. It speaks the lines of shared/agentline.
package chat

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/switchyard-dev/switchyard/shared/agentline"
	"github.com/switchyard-dev/switchyard/shared/bridge"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/supervise"
)

// Options of Run. Model and Dir are required.
type Options struct {
	BaseURL string // empty: OpenAI's own
	Key     string // empty: the endpoint needs none
	Model   string
	System  string // what the model is told before the conversation; may be empty
	Dir     string // where conversations are kept

	wait    func(context.Context, time.Duration) error // between two attempts; nil: by the clock
	silence time.Duration                              // of the endpoint that ends an attempt; 0: maxSilence
}

// Run reads one turn from in and answers it on out. What goes wrong with the endpoint is said on out; the error is for stderr: the turn could not be
// read, or nobody listens.
func Run(ctx context.Context, in io.Reader, out io.Writer, opts Options) error {
	stdin := bufio.NewReader(in)
	line, err := stdin.ReadBytes('\n')
	if err != nil && (len(line) == 0 || !errors.Is(err, io.EOF)) {
		return fmt.Errorf("read turn: %w", err)
	}
	turn, err := bridge.ParseTurn(line)
	if err != nil {
		return fmt.Errorf("read turn: %w", err)
	}
	w := agentline.NewWriter(out)
	if opts.Model == "" {
		w.Fail("invalid_input", "Set OPENAI_MODEL to the name of the model to talk to.", false)
		return w.Err()
	}
	if !validAddress(opts.BaseURL) {
		w.Fail("invalid_input", "OPENAI_BASE_URL is no address: it begins with http:// or https://, as http://127.0.0.1:11434/v1 does.", false)
		return w.Err()
	}
	if turn.Message == "" && !turn.Compact {
		w.Fail("empty_prompt", "This agent reads text only, and the message has attachments alone.", false)
		return w.Err()
	}
	ear := &agentline.Ear{}
	hearing := supervise.NewGroup(ctx) // it ends with stdin, at the latest with this process: nobody waits for it
	hearing.Go(func(context.Context) error { ear.Listen(stdin); return nil })
	reply(ctx, w, ear, turn, opts)
	return errors.Join(w.Err(), ctx.Err())
}

// reply takes one turn of a conversation.
func reply(ctx context.Context, w *agentline.Writer, ear *agentline.Ear, turn bridge.Turn, opts Options) {
	session := turn.SessionID
	if session == "" {
		session = newSession()
	}
	t := talk{
		requests: requests{endpoint: newEndpoint(opts, turn.ThinkingLevel), opts: opts, w: w, ear: ear, used: map[string]int64{}},
		memory:   memoryOf(opts.Dir, session),
	}
	w.SessionInit(session, agentline.Model(opts.Model), agentline.Context(host(opts.BaseURL), nil, opts.System, nil, t.memory.path))
	past, err := t.memory.load()
	if err != nil {
		w.Fail("internal", "The conversation so far could not be read: "+err.Error(), false)
		return
	}
	t.conversation = past
	if err := t.take(ctx, turn); err != nil {
		code, sentence, retryable := explain(err, opts)
		w.Fail(code, sentence, retryable)
		return
	}
	w.Fact(event.AgentResult, map[string]any{"usage": t.bill()})
	w.Metrics(nil)
	w.Done(t.answer)
}

func newSession() string {
	raw := make([]byte, 8)
	rand.Read(raw) //nolint:errcheck // crypto/rand.Read never fails since Go 1.24
	return "chat-" + hex.EncodeToString(raw)
}
