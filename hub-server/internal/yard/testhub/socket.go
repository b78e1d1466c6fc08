package testhub

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/coder/websocket"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

func (h *Hub) serveSocket(w http.ResponseWriter, r *http.Request) {
	socket, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer socket.CloseNow() //nolint:errcheck // the client closes it, or nobody
	ctx := socket.CloseRead(r.Context())
	h.mu.Lock()
	at, resume := h.resume(r.URL.Query().Get("cursor"))
	cut := h.cut
	h.sockets++
	h.mu.Unlock()
	defer h.Change(func() { h.sockets-- })
	seq := int64(1)
	hello, _ := json.Marshal(client.AuthOKPayload{Resume: resume, ConnectionID: "conn_1"})
	if send(ctx, socket, client.HubWebSocketFrame{Type: client.HubWebSocketFrameTypeAuthOk, Payload: hello, Cursor: fmt.Sprintf("c%d", at)}, seq) != nil {
		return
	}
	for {
		h.mu.Lock()
		frames, changed := h.frames[at:], h.changed
		over := h.cut != cut // what is published after a cut is not for this socket
		h.mu.Unlock()
		if over {
			return
		}
		for _, f := range frames {
			seq++
			if send(ctx, socket, f, seq) != nil {
				return
			}
		}
		at += len(frames)
		select {
		case <-changed:
		case <-cut:
			return
		case <-ctx.Done():
			return
		}
	}
}

// syncChanges answers with three frames at most.
func (h *Hub) syncChanges(r *http.Request) any {
	at, resume := h.resume(r.URL.Query().Get("cursor"))
	upTo := min(at+3, len(h.frames))
	return client.SyncPage{
		Resume: client.SyncPageResume(resume), Items: h.frames[at:upTo], Cursor: fmt.Sprintf("c%d", upTo), More: upTo < len(h.frames),
	}
}

func (h *Hub) resume(cursor string) (at int, how client.AuthOKPayloadResume) {
	_, err := fmt.Sscanf(cursor, "c%d", &at)
	switch {
	case cursor == "":
		return len(h.frames), client.AuthOKPayloadResumeFresh
	case err != nil || h.Reset || at > len(h.frames):
		return len(h.frames), client.AuthOKPayloadResumeReset
	}
	return at, client.AuthOKPayloadResumeReplayed
}

func send(ctx context.Context, socket *websocket.Conn, f client.HubWebSocketFrame, seq int64) error {
	f.SeqID = seq
	raw, err := json.Marshal(f)
	if err != nil {
		return err
	}
	return socket.Write(ctx, websocket.MessageText, raw)
}
