package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/shared/fault"
)

// maxWait is less than the 30 s that clients and proxies give an answer to begin.
const maxWait = 25 // seconds

// SyncChanges implements syncChanges.
func (h handlers) SyncChanges(ctx context.Context, r SyncChangesRequestObject) (SyncChangesResponseObject, error) {
	limit, err := pageLimit(r.Params.Limit, 200, 500)
	if err != nil {
		return nil, err
	}
	by, cursor, wait := caller(ctx), valueOf(r.Params.Cursor), valueOf(r.Params.Wait)
	switch {
	case wait < 0 || wait > maxWait:
		return nil, fault.New(fault.InvalidRequest, "wait must be a number of seconds from 0 to %d.", maxWait)
	case wait == 0:
		round, err := h.Rounds.Next(ctx, by.User, cursor, limit)
		return syncPage(round), err
	}
	enough := make(chan struct{})
	defer time.AfterFunc(time.Duration(wait)*time.Second, func() { close(enough) }).Stop()
	round, err := h.Rounds.Await(ctx, by, cursor, limit, enough)
	if err == nil && len(round.Frames) > 0 {
		err = h.stillIn(ctx, by) // the login may have ended before it waited, or just when something came
	}
	return syncPage(round), err
}

// syncPage answers with the bytes that a socket would have sent.
type syncPage delivery.Round

// VisitSyncChangesResponse implements the generated answer.
func (p syncPage) VisitSyncChangesResponse(w http.ResponseWriter) error {
	body := strconv.AppendQuote([]byte(`{"resume":`), string(p.Outcome))
	if p.Reason != delivery.NoReason {
		body = strconv.AppendQuote(append(body, `,"reason":`...), string(p.Reason))
		body = strconv.AppendQuote(append(body, `,"message":`...), p.Reason.Sentence())
	}
	body = append(body, `,"items":[`...)
	for i, f := range p.Frames {
		if i > 0 {
			body = append(body, ',')
		}
		body = f.AppendUnnumbered(body)
	}
	body = strconv.AppendQuote(append(body, `],"cursor":`...), string(p.To))
	return writeJSON(w, append(strconv.AppendBool(append(body, `,"more":`...), p.More), '}'))
}
