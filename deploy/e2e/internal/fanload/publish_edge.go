package fanload

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rawedge"
	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/subject"
	"github.com/switchyard-dev/switchyard/shared/supervise"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// edge is an edge with one run in a conversation of all people: what it publishes are events of that run, each of them committed before
// anybody gets it.
type edge struct {
	conn       *rawedge.Conn
	lane       rawedge.Lane
	generation wire.Generation
	run        id.Run
	message    id.Message
	count      uint32
	hearing    *supervise.Group
	stop       context.CancelFunc
}

// agentName is that of the one agent.
const agentName = "speaker"

// newEdge enrols an edge and starts a run in a new conversation of the people.
func newEdge(ctx context.Context, url string, owner client.Credentials, token string, people []string) (*edge, error) {
	who, err := rawedge.Enrol(ctx, url, token)
	if err != nil {
		return nil, err
	}
	e := &edge{message: id.NewMessage()}
	if e.conn, err = rawedge.Dial(ctx, who); err != nil {
		return nil, err
	}
	if err := e.begin(ctx, url, owner, people); err != nil {
		e.conn.Close()
		return nil, err
	}
	hearing, stop := context.WithCancel(context.WithoutCancel(ctx))
	e.stop, e.hearing = stop, supervise.NewGroup(hearing)
	e.hearing.Go(e.hear)
	return e, nil
}

func (e *edge) begin(ctx context.Context, url string, owner client.Credentials, people []string) error {
	e.lane.Incarnation = wire.Incarnation(fmt.Sprintf("%016x", time.Now().UnixNano()))
	welcome, err := e.conn.Hello(ctx, e.lane.Incarnation, agentName)
	if err != nil {
		return err
	}
	e.generation = welcome.Generation
	c, err := client.New(client.Options{Hub: url, Keeper: client.NewMemoryKeeper(owner)})
	if err != nil {
		return err
	}
	agents, err := client.Decode[client.AgentList](c.API().ListAgents(ctx))
	if err != nil {
		return err
	}
	for _, a := range agents.Items {
		if a.Name == agentName {
			return e.start(ctx, c, append(people, a.ID))
		}
	}
	return errors.New("the hub has welcomed an edge and does not know its agent")
}

// start lets the agent be asked, and begins to answer.
func (e *edge) start(ctx context.Context, c *client.Client, members []string) error {
	session, err := client.Decode[client.Session](c.API().CreateGroupSession(ctx,
		&client.CreateGroupSessionParams{IdempotencyKey: uuid.NewString()}, client.GroupSessionInput{Name: "bench", MemberIds: members}))
	if err != nil {
		return fmt.Errorf("make conversation: %w", err)
	}
	receipt, err := client.Decode[client.MessageReceipt](c.API().SendMessage(ctx, session.ID,
		client.MessageInput{ClientMsgID: uuid.NewString(), Content: client.MessageContent(`{"text":"@` + agentName + ` go"}`)}))
	if err != nil || len(receipt.TaskIds) != 1 {
		return errors.Join(fmt.Errorf("started %d runs", len(receipt.TaskIds)), err)
	}
	e.run = id.Run(receipt.TaskIds[0])
	if _, err := e.conn.Accept(ctx); err != nil {
		return err
	}
	row, err := e.lane.Row(e.conn.Edge, e.run, event.RunStarted, event.RunStartedPayload{StartedAt: time.Now()})
	if err != nil {
		return err
	}
	if err := e.conn.Send(e.generation, &e.lane, row); err != nil {
		return err
	}
	_, err = rawedge.Hear[wire.CommittedTo](ctx, e.conn, subject.Committed)
	return err
}

// hear takes what the hub acknowledges, until the connection ends. Nobody needs it: what has been delivered has been committed.
func (e *edge) hear(ctx context.Context) error {
	var err error
	for err == nil {
		_, err = rawedge.Hear[wire.CommittedTo](ctx, e.conn, subject.Committed)
	}
	return err
}

func (e *edge) publish(n int) error {
	for n > 0 {
		var rows [][]byte
		for size := 0; n > 0 && size < wire.DefaultFrame-1024; n-- {
			e.count++
			row, err := e.lane.Row(e.conn.Edge, e.run, event.MessageDelta, event.DeltaPayload{
				MessageID: e.message, Delta: stamped{time.Now().UnixNano(), 0, e.count}.payload(),
			})
			if err != nil {
				return err
			}
			rows, size = append(rows, row), size+len(row)
		}
		if err := e.conn.Send(e.generation, &e.lane, rows...); err != nil {
			return err
		}
	}
	return nil
}

func (e *edge) published() int64 { return int64(e.count) }

func (e *edge) close() {
	e.stop()
	e.hearing.Wait() //nolint:errcheck // it ends with the end of its context
	e.conn.Close()
}
