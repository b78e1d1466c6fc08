package httpapi

import (
	"context"
	"crypto/sha256"
	"io"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
)

// ImportTrace implements importTrace.
func (h handlers) ImportTrace(ctx context.Context, r ImportTraceRequestObject) (ImportTraceResponseObject, error) {
	attempt, err := attemptOf(ctx, r.Params.IdempotencyKey)
	if err != nil {
		return nil, err
	}
	sum := sha256.New()
	sum.Write(attempt.Request[:])
	lines, err := chat.ReadTrace(io.TeeReader(r.Body, sum))
	if err != nil {
		return nil, err
	}
	copy(attempt.Request[:], sum.Sum(nil))
	session, err := h.Imports.Import(ctx, caller(ctx), chat.NewImport{Name: r.Params.Name, Lines: lines, TraceID: traceOf(ctx)}, attempt)
	if err != nil {
		return nil, err
	}
	return ImportTrace201JSONResponse{SessionID: SessionID(session)}, nil
}
