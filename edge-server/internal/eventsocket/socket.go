// Package eventsocket carries messages one way over a WebSocket: from this process to a program that follows along. It knows the library; what
// the messages are and who may have them is its users' business.
package eventsocket

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/coder/websocket"
	"github.com/switchyard-dev/switchyard/shared/supervise"
)

const (
	writeLimit = 15 * time.Second // for one message
	pingEvery  = 20 * time.Second
	pongWithin = 30 * time.Second // the other side first reads what lies before the ping
	farewell   = time.Second      // for the other side to answer a close
	hearLimit  = 4 << 10          // bytes of a message from the other side, which has nothing to say
)

// Socket is an accepted connection. Serve is called once.
type Socket struct{ conn *websocket.Conn }

// Accept answers the upgrade; marker is the subprotocol that is confirmed if it was offered. Who may connect, and from which pages, was judged
// before. After an error the request has been answered.
func Accept(w http.ResponseWriter, r *http.Request, marker string) (*Socket, error) {
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		Subprotocols: []string{marker}, InsecureSkipVerify: true, CompressionMode: websocket.CompressionDisabled,
	})
	if err != nil {
		return nil, fmt.Errorf("accept socket: %w", err)
	}
	conn.SetReadLimit(hearLimit)
	return &Socket{conn}, nil
}

// Serve lets write send until it fails, ctx ends, or the other side is gone or silent; it returns why, once the connection is closed. write
// must return soon after its context ends. An *End among its errors says how to close; after any other the other side is asked to try later.
func (s *Socket) Serve(ctx context.Context, write func(ctx context.Context, send Send) error) error {
	wire, cut := context.WithCancel(context.WithoutCancel(ctx)) // outlives ctx by the farewell: the library cuts what it ends in
	defer cut()
	alive, end := context.WithCancelCause(ctx)
	defer end(nil)
	helpers := supervise.NewGroup(wire)
	helpers.Go(func(ctx context.Context) error {
		end(s.hear(ctx))
		return nil
	})
	helpers.Go(func(ctx context.Context) error {
		<-alive.Done()
		select {
		case <-time.After(farewell):
			cut()
		case <-ctx.Done():
		}
		return nil
	})
	err := supervise.All(alive,
		func(ctx context.Context) error {
			return write(ctx, func(m []byte) error { return s.send(ctx, wire, m) })
		}, s.ping)
	switch {
	case ctx.Err() != nil:
		err = &End{Restart, "the edge stops"}
	case err == nil:
		err = context.Cause(alive)
	}
	end(err)
	s.close(err)
	cut()
	return errors.Join(err, helpers.Wait())
}

// Send writes one message. It blocks while the other side takes nothing, for 15 s at most.
type Send func(message []byte) error

func (s *Socket) send(ctx, wire context.Context, message []byte) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	limited, cancel := context.WithTimeout(wire, writeLimit)
	defer cancel()
	err := s.conn.Write(limited, websocket.MessageText, message)
	switch {
	case err == nil:
		return nil
	case errors.Is(limited.Err(), context.DeadlineExceeded):
		return &End{Slow, "took nothing for 15 s"} // the library has cut it, so ctx may have ended too
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return &End{Gone, "connection lost"}
}

// hear reads until the connection ends, so that pongs and closes arrive, and says why it ended.
func (s *Socket) hear(ctx context.Context) error {
	if _, _, err := s.conn.Read(ctx); err != nil {
		return &End{Gone, "closed by the other side"}
	}
	return &End{Unwanted, "nothing is to be said here"}
}

// ping makes sure that the other side is there.
func (s *Socket) ping(ctx context.Context) error {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := s.awaitPong(ctx); err != nil {
			return err
		}
	}
}

func (s *Socket) awaitPong(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, pongWithin)
	defer cancel()
	if err := s.conn.Ping(limited); err != nil && ctx.Err() == nil {
		return &End{Silent, "a ping was not answered"}
	}
	return nil
}

func (s *Socket) close(cause error) {
	end := &End{TryLater, "try again later"}
	errors.As(cause, &end)
	if end.Code == Gone {
		s.conn.CloseNow() //nolint:errcheck // it is closed already
		return
	}
	s.conn.Close(websocket.StatusCode(end.Code), end.Reason) //nolint:errcheck // the other side may be gone; nobody to tell
}
