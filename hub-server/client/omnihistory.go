package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"github.com/switchyard-dev/switchyard/shared/omni"
)

// maxPage bounds a page of messages, in bytes: about 4 MiB of them and the one behind that, which may be as long as a message can be.
const maxPage = omni.MaxBytes + 8<<20

// OmniPage is a piece of a conversation's history: what its stream told, without fragments.
type OmniPage struct {
	Messages []OmniPlaced   `json:"messages"`
	Cursor   string         `json:"cursor"`          // all up to it has been read; "" of a page backward
	More     bool           `json:"more"`            // there are more in this direction
	Floor    string         `json:"floor,omitempty"` // where history begins, if what was before it is not kept any more
	Live     *OmniFragments `json:"live,omitempty"`  // with the newest page
}

// OmniPlaced is a message and where it stands. Positions are for OmniAsk.
type OmniPlaced struct {
	Position string       `json:"position"`
	Message  omni.Message `json:"message"`
}

// OmniFragments are what is being said at the newest place: the fragments that are open, to go on with from Cursor in a stream.
type OmniFragments struct {
	Cursor    string         `json:"cursor"`
	Fragments []omni.Message `json:"fragments"`
}

// OmniAsk says which page is wanted: forward from behind After ("0": from the beginning of what is kept), or backward from in front of Before; without
// either the newest one.
type OmniAsk struct {
	After  string // a cursor
	Before string // a position or a cursor
	Limit  int    // messages, at most 1,000; 0: 200
}

// Page is one page of the history. A hub that cannot be reached, or is busy, is asked again until ctx ends.
func (s *OmniSession) Page(ctx context.Context, ask OmniAsk) (OmniPage, error) {
	query := url.Values{}
	for key, value := range map[string]string{"after": ask.After, "before": ask.Before} {
		if value != "" {
			query.Set(key, value)
		}
	}
	if ask.Limit > 0 {
		query.Set("limit", strconv.Itoa(ask.Limit))
	}
	path := "/messages"
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return asking(ctx, silently, func() (OmniPage, error) {
		resp, err := s.send(ctx, http.MethodGet, path, nil, nil) //nolint:bodyclose // decode closes it
		return decode[OmniPage](maxPage, resp, err)
	}, busy)
}

// Messages reads the history forward to its end, page by page, from behind a cursor; "0" is the beginning of what is kept. The cursor of the last page is
// where a stream goes on. 409 cursor_reset: after is of another epoch, or what follows it is not kept any more; begin at "0".
func (s *OmniSession) Messages(ctx context.Context, after string) iter.Seq2[OmniPage, error] {
	return func(yield func(OmniPage, error) bool) {
		for more := true; more; {
			page, err := s.Page(ctx, OmniAsk{After: after})
			if !yield(page, err) || err != nil {
				return
			}
			after, more = page.Cursor, page.More
		}
	}
}
