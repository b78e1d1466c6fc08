package client

import (
	"context"
	"iter"
)

// Search gives the messages that have all words of text, the newest first, in all conversations of the user or in the one that is named. It asks
// for as many pages as are taken of it; stop when you have enough. An error is the last thing it gives.
func (c *Client) Search(ctx context.Context, text string, in SessionID) iter.Seq2[Message, error] {
	asked := SearchMessagesParams{Q: text}
	if in != "" {
		asked.SessionID = &in
	}
	return func(yield func(Message, error) bool) {
		for {
			page, err := Decode[MessagesFound](c.api.SearchMessages(ctx, &asked))
			if err != nil {
				yield(Message{}, err)
				return
			}
			for _, m := range page.Items {
				if !yield(m, nil) {
					return
				}
			}
			if page.Next == "" {
				return
			}
			asked.After = &page.Next
		}
	}
}
