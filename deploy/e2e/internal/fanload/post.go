package fanload

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/switchyard-dev/switchyard/shared/supervise"
)

// poster is a program that publishes over HTTP, one message after the other, each when the one before it was acknowledged. It writes requests and
// reads answers by hand, so that what it costs is not what is measured.
type poster struct {
	by      int
	request func(stamped) string // whole
	conn    net.Conn
	buf     []byte
	count   uint32
}

// postTo is the request that publishes: a message of a conversation of the hub, or the call of Centrifugo's HTTP API.
func postTo(p Plan) func(stamped) string {
	if p.Dialect == Centrifugo {
		return func(m stamped) string {
			return post(p, "/api/publish", "", fmt.Sprintf(`{"channel":%q,"data":%q}`, channel, m.payload()))
		}
	}
	return func(m stamped) string {
		token := p.Tokens[m.by%len(p.Tokens)]
		return post(p, "/client/sessions/"+p.Session+"/messages", "Authorization: Bearer "+token+"\r\n",
			fmt.Sprintf(`{"client_msg_id":%q,"content":{"text":%q}}`, uuid.NewString(), m.payload()))
	}
}

func post(p Plan, path, header, body string) string {
	return "POST " + path + " HTTP/1.1\r\nHost: " + hostOf(p.Server) + "\r\nContent-Type: application/json\r\n" + header +
		"Content-Length: " + strconv.Itoa(len(body)) + endOfHeader + body
}

// newPosters connects so many.
func newPosters(ctx context.Context, p Plan) (all []*poster, err error) {
	request := postTo(p)
	for i := range p.Posters {
		conn, err := connect(ctx, p.Server)
		if err != nil {
			return all, err
		}
		all = append(all, &poster{by: i, request: request, conn: conn, buf: make([]byte, publisherBuffer)})
	}
	return all, nil
}

// one publishes one message and returns when it is acknowledged.
func (p *poster) one() error {
	p.count++
	if err := p.conn.SetDeadline(time.Now().Add(deliverWithin)); err != nil {
		return err
	}
	if _, err := p.conn.Write([]byte(p.request(stamped{time.Now().UnixNano(), p.by, p.count}))); err != nil {
		return err
	}
	for n := 0; ; {
		got, err := p.conn.Read(p.buf[n:])
		if err != nil {
			return err
		}
		if n += got; wholeAnswer(p.buf[:n]) {
			return accepted(p.buf[:n])
		}
	}
}

// wholeAnswer says whether an answer has come to its end: as long as its length says.
func wholeAnswer(answer []byte) bool {
	head, body, whole := bytes.Cut(answer, []byte(endOfHeader))
	if !whole {
		return false
	}
	length, err := strconv.Atoi(string(between(append(head, "\r\n"...), "Content-Length: ", "\r\n")))
	return err == nil && len(body) >= length
}

// accepted is an error for an answer that does not say that the message was published. Centrifugo answers 200 to what it refuses, too.
func accepted(answer []byte) error {
	status, _, _ := bytes.Cut(answer, []byte("\r\n"))
	good := bytes.HasPrefix(status, []byte("HTTP/1.1 20")) && !bytes.Contains(answer, []byte(`{"error":`))
	if !good {
		return fmt.Errorf("publish: answered %q", answer)
	}
	return nil
}

// posters is a publisher for pump: the first one alone.
type posters struct{ all []*poster }

func (p posters) publish(n int) error {
	for range n {
		if err := p.all[0].one(); err != nil {
			return err
		}
	}
	return nil
}

// asTheyCan lets all of them publish until ctx ends.
func (p posters) asTheyCan(ctx context.Context) error {
	posting := supervise.NewGroup(context.WithoutCancel(ctx))
	for _, one := range p.all {
		posting.Go(func(context.Context) error {
			for ctx.Err() == nil {
				if err := one.one(); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return posting.Wait()
}

func (p posters) published() (n int64) {
	for _, one := range p.all {
		n += int64(one.count)
	}
	return n
}

func (p posters) close() {
	for _, one := range p.all {
		one.conn.Close() //nolint:errcheck // it is over
	}
}
