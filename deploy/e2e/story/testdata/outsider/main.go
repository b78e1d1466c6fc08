// A client as somebody writes it who has the SDK alone: it asks an agent something and shows the answer.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, hub, username, password, session string) error {
	opts := client.Options{Hub: hub}
	login, err := client.LogIn(ctx, opts, client.LoginInput{
		Username: username, Password: password, Device: client.DeviceInput{Name: "outsider", Type: client.DeviceTypeCli},
	})
	if err != nil {
		return err
	}
	opts.Keeper = client.NewMemoryKeeper(login)
	c, err := client.New(opts)
	if err != nil {
		return err
	}
	feed := c.Feed(client.KeptByCaller(""), client.FeedOptions{})
	for update, err := range feed.Follow(ctx) {
		if err != nil {
			return err
		}
		if update.Ready {
			if _, err := c.Say(ctx, session, "@worker go"); err != nil {
				return err
			}
		}
		if !update.New {
			continue
		}
		if _, words := client.Words(*update.Frame); words != "" {
			fmt.Print(words)
		}
		if update.Frame.Type == client.HubWebSocketFrameTypeAgentDone {
			done, err := client.PayloadOf[client.AgentDonePayload](*update.Frame)
			if err != nil {
				return err
			}
			fmt.Printf("\n%s %s\n", done.TaskID, feed.State().RunDigest(done.TaskID))
			return nil
		}
	}
	return nil
}
