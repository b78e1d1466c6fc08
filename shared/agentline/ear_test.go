package agentline_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/agentline"
)

func TestAnEarKeepsWhatWasSaidUntilItIsTaken(t *testing.T) {
	var e agentline.Ear
	e.Listen(bufio.NewReader(strings.NewReader(`{"type":"steer","steer_id":"steer_1","text":"one"}
no line of ours
{"type":"prompt_response","request_id":"1"}
{"type":"steer","steer_id":"steer_1","text":"one"}
{"type":"retry_now"}
{"type":"compact"}
{"type":"steer","steer_id":"steer_2","text":"two"}`)))
	got := e.Steers()
	if len(got) != 2 || got[0].Text != "one" || got[1].SteerID != "steer_2" {
		t.Errorf("heard %+v", got)
	}
	if len(e.Steers()) > 0 || !e.Compact() || e.Compact() {
		t.Error("what was taken is there again")
	}
}

func TestWhoIsToldNotToWaitGoesOn(t *testing.T) {
	var e agentline.Ear
	in, out := io.Pipe()
	heard := make(chan struct{})
	go func() { defer close(heard); e.Listen(bufio.NewReader(in)) }()
	forever := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	err := e.Wait(t.Context(), func(ctx context.Context) error {
		_, _ = io.WriteString(out, `{"type":"retry_now"}`+"\n")
		return forever(ctx)
	})
	if err != nil {
		t.Errorf("told not to wait: %v", err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := e.Wait(stopped, forever); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
	if err := e.Wait(t.Context(), func(context.Context) error { return io.ErrUnexpectedEOF }); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("an error of its own became %v", err)
	}
	_ = out.Close()
	<-heard
}
