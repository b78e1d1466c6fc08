package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/coder/websocket"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// A whole client: it shows what is said, and answers a greeting.
func Example() {
	ctx, address, stop := exampleHub()
	defer stop()
	dir, err := os.MkdirTemp("", "notes")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	device, err := client.OpenFolder(dir) // keeps the login and the place between two starts
	if err != nil {
		fmt.Println(err)
		return
	}
	defer device.Close()
	hub := client.Options{Hub: address, Keeper: device}
	if err := device.LogIn(ctx, hub, client.LoginInput{
		Username: "ada", Password: "correct horse", Device: client.DeviceInput{Name: "notes", Type: client.DeviceTypeCli},
	}); err != nil {
		fmt.Println(err)
		return
	}
	c, err := client.New(hub)
	if err != nil {
		fmt.Println(err)
		return
	}
	for update, err := range c.Feed(device, client.FeedOptions{}).Follow(ctx) {
		switch {
		case errors.Is(err, client.ErrKicked):
			fmt.Println("this device is used elsewhere")
			return
		case err != nil:
			fmt.Println(err)
			return
		case update.New && update.Frame.Type == client.HubWebSocketFrameTypeMessageNew:
			m, _ := client.PayloadOf[client.Message](*update.Frame)
			fmt.Println(client.BubbleOf(m).Text)
		case update.Ready:
			receipt, err := c.Say(ctx, "sess_1", "hello")
			fmt.Println("sent as", receipt.SeqID, err)
		}
	}
	// Output:
	// an old message
	// sent as 2 <nil>
	// hello
	// this device is used elsewhere
}

// An application with a database keeps each cursor in the transaction that keeps what it belongs to.
func ExampleKeptByCaller() {
	ctx, address, stop := exampleHub()
	defer stop()
	c, err := client.New(client.Options{Hub: address, Keeper: client.NewMemoryKeeper(client.Credentials{RefreshToken: "…"})})
	if err != nil {
		fmt.Println(err)
		return
	}
	var row struct{ cursor, message string } // stands for what one transaction writes
	for update, err := range c.Feed(client.KeptByCaller(row.cursor), client.FeedOptions{Begin: client.BeginMissed}).Follow(ctx) {
		if err != nil {
			break
		}
		if update.New {
			row.message = client.Key(*update.Frame)
		}
		if update.Cursor != "" {
			row.cursor = update.Cursor
		}
		if update.Ready {
			_, _ = c.Say(ctx, "sess_1", "hello")
		}
	}
	fmt.Println(row.message, row.cursor)
	// Output: message.new msg_2 c2
}

// exampleHub is as much of a hub as the examples talk to: one old message, one that is said, and then the device is used elsewhere.
func exampleHub() (ctx context.Context, url string, stop func()) {
	said := make(chan client.MessageContent, 1)
	mux := http.NewServeMux()
	answer := func(pattern string, value any) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) { json.NewEncoder(w).Encode(value) })
	}
	tokens := client.Tokens{AccessToken: "access", RefreshToken: "refresh", ExpiresIn: 900}
	answer("POST /client/auth/login", tokens)
	answer("POST /client/auth/refresh", tokens)
	answer("GET /client/sessions", client.SessionList{Items: []client.Session{{ID: "sess_1", LastSeq: 1}}})
	answer("GET /client/sessions/sess_1/messages", client.MessageList{Items: []client.Message{
		{ID: "msg_1", SessionID: "sess_1", SeqID: 1, Content: json.RawMessage(`{"text":"an old message"}`)},
	}})
	answer("GET /client/prompts", client.PromptList{})
	answer("GET /client/notifications", client.NotificationList{})
	answer("GET /client/contacts", client.ContactList{})
	mux.HandleFunc("POST /client/sessions/sess_1/messages", func(w http.ResponseWriter, r *http.Request) {
		var in client.MessageInput
		json.NewDecoder(r.Body).Decode(&in)
		said <- in.Content
		json.NewEncoder(w).Encode(client.MessageReceipt{MessageID: "msg_2", SeqID: 2})
	})
	mux.HandleFunc("GET /client/ws", func(w http.ResponseWriter, r *http.Request) {
		socket, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer socket.CloseNow()
		seq := 0
		send := func(typ, payload, cursor string) {
			seq++
			socket.Write(r.Context(), websocket.MessageText, fmt.Appendf(nil, `{"type":%q,"seq_id":%d,"payload":%s,"cursor":%q}`, typ, seq, payload, cursor))
		}
		send("auth.ok", `{"resume":"fresh","connection_id":"conn_1"}`, "c1")
		send("message.new", fmt.Sprintf(`{"id":"msg_2","session_id":"sess_1","seq_id":2,"content":%s}`, <-said), "c2")
		send("device.kicked", `{"reason":"logged_in_elsewhere"}`, "")
		<-socket.CloseRead(r.Context()).Done()
	})
	server := httptest.NewServer(mux)
	return context.Background(), server.URL, func() {
		server.CloseClientConnections()
		server.Close()
	}
}
