package fanload

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// channel is the one that everybody subscribes to.
const channel = "bench"

// centrifugo is the JSON protocol of Centrifugo over WebSocket: a text is one or more objects, one a line; an empty one is a ping.
type centrifugo struct {
	ctx    context.Context
	server string // base URL
	buffer int    // bytes
	track  bool   // whether places are kept
}

const centrifugoPath = "/connection/websocket"

func (c *centrifugo) open(s *subscriber) (err error) {
	if s.socket, err = openSocket(c.ctx, c.server, centrifugoPath, "", c.buffer); err != nil {
		return err
	}
	subscribe := `{"id":1,"connect":{}}` + "\n" + `{"id":2,"subscribe":{"channel":"` + channel + `","recoverable":true}}`
	if s.place.epoch != "" {
		subscribe = fmt.Sprintf(`{"id":1,"connect":{}}`+"\n"+`{"id":2,"subscribe":{"channel":%q,"recoverable":true,"recover":true,"epoch":%q,"offset":%d}}`,
			channel, s.place.epoch, s.place.offset)
	}
	if err := s.socket.send([]byte(subscribe)); err != nil {
		return err
	}
	for {
		text, err := s.socket.message()
		if err != nil {
			return fmt.Errorf("wait for the subscription: %w", err)
		}
		for rest := text; len(rest) > 0; {
			line, behind, _ := bytes.Cut(rest, []byte("\n"))
			rest = behind
			done, err := c.subscribed(s, line)
			if err != nil {
				return err
			}
			if done {
				return c.first(s, rest)
			}
		}
	}
}

// first takes what came in one text with the subscription.
func (c *centrifugo) first(s *subscriber, text []byte) error {
	if len(text) == 0 {
		return nil
	}
	n, err := s.messages(text, time.Now().UnixNano())
	s.tally.got(n)
	return err
}

// subscribed takes a reply; true says that it is the one of the subscription. What was missed stands in that.
func (c *centrifugo) subscribed(s *subscriber, line []byte) (bool, error) {
	var reply struct {
		ID        int             `json:"id"`
		Error     json.RawMessage `json:"error"`
		Subscribe struct {
			Epoch     string `json:"epoch"`
			Offset    uint64 `json:"offset"`
			Recovered bool   `json:"recovered"`
		} `json:"subscribe"`
	}
	if err := json.Unmarshal(line, &reply); err != nil {
		return false, fmt.Errorf("read reply: %w", err)
	}
	if reply.Error != nil {
		return false, fmt.Errorf("refused: %s", reply.Error)
	}
	if reply.ID != 2 {
		return false, nil
	}
	if s.place.epoch != "" && !reply.Subscribe.Recovered {
		return true, fmt.Errorf("not recovered: %.300s", line)
	}
	missed, err := s.messages(line, time.Now().UnixNano())
	s.tally.got(missed)
	s.place.epoch, s.place.offset = reply.Subscribe.Epoch, reply.Subscribe.Offset
	return true, err
}

// ping is what the server sends, and gets back, when it wants to know that somebody is there.
var ping = []byte("{}")

func (c *centrifugo) other(s *subscriber, text []byte) error {
	if bytes.Equal(bytes.TrimSpace(text), ping) {
		return s.socket.send(ping)
	}
	return nil
}

func (c *centrifugo) mark(s *subscriber, text []byte) error {
	// A ping may come in one text with messages.
	if bytes.HasPrefix(text, []byte("{}\n")) || bytes.HasSuffix(text, []byte("\n{}")) || bytes.Contains(text, []byte("\n{}\n")) {
		if err := s.socket.send(ping); err != nil {
			return err
		}
	}
	if !c.track {
		return nil
	}
	if offset, err := strconv.ParseUint(string(between(text, `"offset":`, "}")), 10, 64); err == nil {
		s.place.offset = offset
	}
	return nil
}
