package lookup

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// Message finds a message: by its id, which is not asked for, or by its conversation and its number in there, as in "demo:12".
func (f Finder) Message(ctx context.Context, ref string) (client.MessageID, error) {
	if _, err := id.ParseMessage(ref); err == nil {
		return ref, nil
	}
	at := strings.LastIndexByte(ref, ':')
	if at < 0 {
		return "", &noMatch{ErrNone, fmt.Sprintf("no message %q; name one as CONVERSATION:NUMBER, `yard messages CONVERSATION` shows the numbers", ref)}
	}
	number, err := strconv.ParseInt(ref[at+1:], 10, 64)
	if err != nil || number < 1 {
		return "", &noMatch{ErrNone, fmt.Sprintf("%q is no number of a message; `yard messages %s` shows them", ref[at+1:], ref[:at])}
	}
	session, err := f.Session(ctx, ref[:at])
	if err != nil {
		return "", err
	}
	before, limit := number+1, 1
	page, err := client.Decode[client.MessageList](f.api.ListMessages(ctx, session.ID, &client.ListMessagesParams{BeforeSeq: &before, Limit: &limit}))
	if err != nil {
		return "", fmt.Errorf("find message: %w", err)
	}
	for _, m := range page.Items {
		if m.SeqID == number {
			return m.ID, nil
		}
	}
	return "", &noMatch{ErrNone, fmt.Sprintf("no message %d in %s; `yard messages %s` lists them", number, session.Name, ref[:at])}
}
