package fanload

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
)

// hub is our own dialect: frames of /client/ws, each with its number on the connection and with the place in the stream.
type hub struct {
	ctx    context.Context
	server string   // base URL
	tokens []string // an access token of each subscriber's device
	buffer int      // bytes
	track  bool     // whether places are kept
}

func (h *hub) open(s *subscriber) (err error) {
	path := "/client/ws"
	if s.place.cursor != "" {
		path += "?cursor=" + url.QueryEscape(s.place.cursor)
		s.overlap = true // a row that was cut inside comes again whole
	}
	if s.socket, err = openSocket(h.ctx, h.server, path, "Authorization: Bearer "+h.tokens[s.who]+"\r\n", h.buffer); err != nil {
		return err
	}
	greeting, err := s.socket.message()
	if err != nil {
		return fmt.Errorf("wait for auth.ok: %w", err)
	}
	if !bytes.HasPrefix(greeting, []byte(`{"type":"auth.ok","seq_id":1,`)) {
		return fmt.Errorf("greeted with %q", greeting)
	}
	if s.place.cursor != "" && !bytes.Contains(greeting, []byte(`"resume":"replayed"`)) {
		return fmt.Errorf("the cursor was refused: %s", greeting)
	}
	return nil
}

func (h *hub) other(*subscriber, []byte) error { return nil }

// mark looks for the cursor; of the frames of one row only the last carries one.
func (h *hub) mark(s *subscriber, text []byte) error {
	if !h.track {
		return nil
	}
	if cursor := between(text, `"cursor":"`, `"`); cursor != nil {
		s.place.cursor = string(cursor)
	}
	return nil
}
