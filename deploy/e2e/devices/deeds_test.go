package devices

import (
	"context"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// deed is something that a person does, or that happens to their devices.
type deed struct {
	name   string
	weight int // how often, among all
	do     func(*day, *person) error
}

func deeds() []deed {
	return []deed{
		{"send", 30, send}, {"reply", 6, reply}, {"forward", 4, forward}, {"edit", 8, edit}, {"recall", 6, takeBack}, {"pin", 5, pinIt}, {"unpin", 3, unpinIt},
		{"react", 10, reactTo}, {"unreact", 5, unreactTo}, {"read", 10, readUpTo},
		{"open a group", 2, openGroup}, {"open a private conversation", 1, openPrivate}, {"rename", 4, describe}, {"add a member", 6, addSomebody},
		{"remove a member", 2, removeSomebody}, {"leave", 1, leaveRoom}, {"give away", 2, giveAway}, {"dissolve", 1, dissolveRoom},
		{"set for oneself", 5, setForOneself},
		{"ask to be friends", 3, askFriend}, {"accept", 3, acceptFriend}, {"decline", 1, declineFriend}, {"end a friendship", 1, endFriendship},
		{"block", 1, block}, {"unblock", 3, unblock},
		{"read a notification", 4, readNotice}, {"read all notifications", 1, readAllNotices},
		{"run", 3, runAgent}, {"cancel", 1, cancelRun}, {"answer", 4, answer},
		{"lose a connection", 5, loseConnection}, {"lose the network", 4, loseNetwork}, {"poll", 4, poll},
	}
}

func (d *day) ctx() context.Context { return d.t.Context() }

// one is any of some things.
func one[T any](d *day, some []T) (T, error) {
	var none T
	if len(some) == 0 {
		return none, errNothing
	}
	return some[d.random.IntN(len(some))], nil
}

// room is a conversation that p is in, or, now and then, any.
func (d *day) room(p *person, group bool) (*room, error) {
	var some []*room
	anyhow := d.random.IntN(12) == 0
	for _, r := range d.rooms {
		if (anyhow || r.inside[p]) && (!group || r.group) {
			some = append(some, r)
		}
	}
	return one(d, some)
}

// recent is one of the last messages.
func (d *day) recent() (said, error) {
	const few = 40
	return one(d, d.said[max(0, len(d.said)-few):])
}

func (d *day) other(p *person) *person {
	if p == d.people[0] {
		return d.people[1]
	}
	return d.people[0]
}

// loseConnection lets a device connect again at once.
func loseConnection(d *day, p *person) error {
	d.way(p).Cut()
	return nil
}

// loseNetwork cuts a device off for a while.
func loseNetwork(d *day, p *person) error {
	proxy := d.way(p)
	proxy.Down()
	d.dark[proxy] = len(d.acts) + 3 + d.random.IntN(30)
	return nil
}

// way is that of one of p's devices to the hub.
func (d *day) way(p *person) *rig.Proxy {
	ways := []*rig.Proxy{p.cut}
	for _, f := range p.devices {
		ways = append(ways, f.proxy)
	}
	return ways[d.random.IntN(len(ways))]
}

// poll has a device ask without a socket.
func poll(d *day, p *person) error {
	ctx, cancel := context.WithTimeout(d.ctx(), rig.Patience)
	defer cancel()
	f := p.devices[d.random.IntN(len(p.devices))]
	if _, dark := d.dark[f.proxy]; dark {
		return errNothing
	}
	return f.poll(ctx)
}

func readNotice(d *day, p *person) error {
	limit := 10
	list, err := client.Decode[client.NotificationList](p.hand.API().ListNotifications(d.ctx(), &client.ListNotificationsParams{Unread: true, Limit: &limit}))
	if err != nil {
		return err
	}
	n, err := one(d, list.Items)
	if err != nil {
		return err
	}
	return refusal(p.hand.API().ReadNotification(d.ctx(), n.ID))
}

func readAllNotices(d *day, p *person) error {
	return refusal(p.hand.API().ReadAllNotifications(d.ctx(), client.ReadAllInput{UpTo: time.Now()}))
}

func runAgent(d *day, p *person) error {
	r, err := d.room(p, true)
	if err != nil {
		return err
	}
	agent := []string{worker, asker, asker, failing}[d.random.IntN(4)]
	return d.send(p, r, client.MessageInput{Content: rig.Text(fmt.Sprintf("@%s go", agent))})
}

func cancelRun(d *day, p *person) error {
	run, err := one(d, d.begun[max(0, len(d.begun)-2):])
	if err != nil {
		return err
	}
	return refusal(p.hand.API().CancelAgentTask(d.ctx(), run, client.CancelInput{}))
}

// answer answers the oldest question that waits for p.
func answer(d *day, p *person) error {
	state := client.PromptStatePending
	list, err := client.Decode[client.PromptList](p.hand.API().ListPrompts(d.ctx(), &client.ListPromptsParams{State: &state}))
	if err != nil {
		return err
	}
	if len(list.Items) == 0 {
		return errNothing
	}
	asked := list.Items[0]
	in := client.PromptAnswerInput{Decision: []client.PromptDecision{client.PromptDecisionAllow, client.PromptDecisionDeny}[d.random.IntN(2)]}
	return refusal(p.hand.API().AnswerPrompt(d.ctx(), asked.TaskID, asked.RequestID, in))
}
