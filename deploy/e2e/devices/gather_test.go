package devices

import (
	"fmt"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// openGroup makes a group of both, with an agent or two.
func openGroup(d *day, p *person) error {
	in := client.GroupSessionInput{Name: fmt.Sprintf("group %d", len(d.rooms)), MemberIds: []string{d.other(p).id}}
	for _, agent := range d.agents {
		if d.random.IntN(3) > 0 {
			in.MemberIds = append(in.MemberIds, agent)
		}
	}
	made, err := client.Decode[client.Session](p.hand.API().CreateGroupSession(d.ctx(), &client.CreateGroupSessionParams{IdempotencyKey: newKey()}, in))
	if err == nil {
		d.rooms = append(d.rooms, &room{made.ID, true, map[*person]bool{p: true, d.other(p): true}})
	}
	return err
}

func openPrivate(d *day, p *person) error {
	once := &client.CreatePrivateSessionParams{IdempotencyKey: newKey()}
	made, err := client.Decode[client.Session](p.hand.API().CreatePrivateSession(d.ctx(), once, client.PrivateSessionInput{MemberID: d.other(p).id}))
	if err != nil {
		return err
	}
	for _, r := range d.rooms {
		if r.id == made.ID {
			return nil
		}
	}
	d.rooms = append(d.rooms, &room{made.ID, false, map[*person]bool{p: true, d.other(p): true}})
	return nil
}

func describe(d *day, p *person) error {
	r, err := d.room(p, true)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("called %d", d.random.IntN(1000))
	in := client.SessionInfoInput{Name: &text}
	if d.random.IntN(2) == 0 {
		in = client.SessionInfoInput{Announcement: &text}
	}
	return refusal(p.hand.API().UpdateSessionInfo(d.ctx(), r.id, in))
}

// somebody is the other person or an agent.
func (d *day) somebody(p *person) string {
	if d.random.IntN(2) == 0 {
		return d.other(p).id
	}
	return d.agents[d.random.IntN(len(d.agents))]
}

func addSomebody(d *day, p *person) error {
	r, err := d.room(p, true)
	if err != nil {
		return err
	}
	member := d.somebody(p)
	once := &client.AddMemberParams{IdempotencyKey: newKey()}
	err = refusal(p.hand.API().AddMember(d.ctx(), r.id, once, client.MemberInput{MemberID: member}))
	if err == nil && member == d.other(p).id {
		r.inside[d.other(p)] = true
	}
	return err
}

func removeSomebody(d *day, p *person) error {
	r, err := d.room(p, true)
	if err != nil {
		return err
	}
	member := d.somebody(p)
	err = refusal(p.hand.API().RemoveMember(d.ctx(), r.id, member))
	if err == nil && member == d.other(p).id {
		d.out(d.other(p), r)
	}
	return err
}

// out notes that somebody is in a conversation no more.
func (d *day) out(p *person, r *room) {
	delete(r.inside, p)
	d.left[p][r.id] = true
}

func leaveRoom(d *day, p *person) error {
	r, err := d.room(p, true)
	if err != nil {
		return err
	}
	if err := refusal(p.hand.API().LeaveSession(d.ctx(), r.id)); err != nil {
		return err
	}
	d.out(p, r)
	return nil
}

func giveAway(d *day, p *person) error {
	r, err := d.room(p, true)
	if err != nil {
		return err
	}
	return refusal(p.hand.API().TransferSession(d.ctx(), r.id, client.OwnerInput{UserID: d.other(p).id}))
}

func dissolveRoom(d *day, p *person) error {
	r, err := d.room(p, true)
	if err != nil {
		return err
	}
	return refusal(p.hand.API().DissolveSession(d.ctx(), r.id))
}

func setForOneself(d *day, p *person) error {
	r, err := d.room(p, false)
	if err != nil {
		return err
	}
	on := d.random.IntN(2) == 0
	in := []client.SessionSettingsInput{{Pinned: &on}, {Archived: &on}, {Muted: &on}}[d.random.IntN(3)]
	return refusal(p.hand.API().UpdateSessionSettings(d.ctx(), r.id, in))
}

func askFriend(d *day, p *person) error {
	return refusal(p.hand.API().RequestContact(d.ctx(), client.ContactInput{Username: d.other(p).name, Message: "hello"}))
}

// asked is the request that waits for p.
func (d *day) asked(p *person) (string, error) {
	list, err := client.Decode[client.ContactList](p.hand.API().ListContacts(d.ctx()))
	if err != nil {
		return "", err
	}
	for _, c := range list.Items {
		if c.RequestID != "" && c.UserID == d.other(p).id {
			return c.RequestID, nil
		}
	}
	return "", errNothing
}

func acceptFriend(d *day, p *person) error {
	request, err := d.asked(p)
	if err != nil {
		return err
	}
	return refusal(p.hand.API().AcceptContact(d.ctx(), request))
}

func declineFriend(d *day, p *person) error {
	request, err := d.asked(p)
	if err != nil {
		return err
	}
	return refusal(p.hand.API().DeclineContact(d.ctx(), request))
}

func endFriendship(d *day, p *person) error {
	return refusal(p.hand.API().RemoveContact(d.ctx(), d.other(p).id))
}

func block(d *day, p *person) error {
	return refusal(p.hand.API().BlockContact(d.ctx(), d.other(p).id))
}

func unblock(d *day, p *person) error {
	return refusal(p.hand.API().UnblockContact(d.ctx(), d.other(p).id))
}
