package httpapi

import (
	"context"
	"crypto/sha256"
	"io"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

const (
	importsAtOnce  = 4 // of all people: each has a whole trace in memory
	importPatience = 10 * time.Minute
)

// importers are the people whose traces are taken. Safe for concurrent use.
type importers struct {
	people *turns
	all    chan struct{} // has one for each that is taken
}

func newImporters() importers { return importers{newTurns(), make(chan struct{}, importsAtOnce)} }

// take waits for the person's turn. The caller calls done at the end, unless there was an error: ctx has ended.
func (i importers) take(ctx context.Context, user id.User) (done func(), err error) {
	leave, err := i.people.take(ctx, user)
	if err != nil {
		return nil, err
	}
	select {
	case i.all <- struct{}{}:
		return func() { <-i.all; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, context.Cause(ctx)
	}
}

// within is a body that has come by then, or fails: who sends it slowly keeps others waiting.
type within struct {
	body io.Reader
	end  time.Time
}

func (w within) Read(b []byte) (int, error) {
	if time.Now().After(w.end) {
		return 0, fault.New(fault.InvalidRequest, "The trace has not come within %s.", importPatience)
	}
	return w.body.Read(b)
}

// ImportTrace implements importTrace.
func (h handlers) ImportTrace(ctx context.Context, r ImportTraceRequestObject) (ImportTraceResponseObject, error) {
	attempt, err := attemptOf(ctx, r.Params.IdempotencyKey)
	if err != nil {
		return nil, err
	}
	done, err := h.imports.take(ctx, caller(ctx).User)
	if err != nil {
		return nil, err
	}
	defer done()
	sum := sha256.New()
	sum.Write(attempt.Request[:])
	lines, err := chat.ReadTrace(io.TeeReader(within{r.Body, time.Now().Add(importPatience)}, sum))
	if err != nil {
		return nil, err
	}
	copy(attempt.Request[:], sum.Sum(nil))
	session, err := h.Imports.Import(ctx, caller(ctx), chat.NewImport{Lines: lines, TraceID: traceOf(ctx)}, attempt)
	if err != nil {
		return nil, err
	}
	return ImportTrace201JSONResponse{SessionID: SessionID(session)}, nil
}
