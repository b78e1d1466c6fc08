package delivery

import (
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

func hinted(f *Follower) bool {
	select {
	case <-f.Ready():
		return true
	default:
		return false
	}
}

func gone(f *Follower) bool {
	select {
	case <-f.Gone():
		return true
	default:
		return false
	}
}

func TestAFollowerHearsOfItsRunAndOfItsOwnRemovalOnly(t *testing.T) {
	set := NewFollowers(8)
	ada, bob := account.Principal{User: id.NewUser()}, account.Principal{User: id.NewUser()}
	run, session := id.NewRun(), id.NewSession()
	follow := func(who account.Principal, r id.Run) *Follower {
		f, err := set.Follow(who, r, session)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(f.Close)
		return f
	}
	mine, theirs, other := follow(ada, run), follow(bob, run), follow(ada, id.NewRun())
	for _, c := range []struct {
		name                string
		row                 Row
		mine, theirs, other bool
	}{
		{"an event", Row{Kind: KindRun, Run: run}, true, true, false},
		{"an event of another run", Row{Kind: KindRun, Run: id.NewRun()}, false, false, false},
		{"a message", Row{Kind: KindMessage, Session: session}, false, false, false},
		{"ada leaves", Row{Kind: KindFrame, Session: session, Change: Left, ChangeUser: ada.User}, true, false, true},
		{"ada leaves elsewhere", Row{Kind: KindFrame, Session: id.NewSession(), Change: Left, ChangeUser: ada.User}, false, false, false},
		{"ada joins", Row{Kind: KindFrame, Session: session, Change: Joined, ChangeUser: ada.User}, false, false, false},
	} {
		set.Seen([]Row{c.row, c.row}) // two hints are one
		if got := [3]bool{hinted(mine), hinted(theirs), hinted(other)}; got != [3]bool{c.mine, c.theirs, c.other} {
			t.Errorf("%s: hinted %v", c.name, got)
		}
		if hinted(mine) || hinted(theirs) || hinted(other) {
			t.Errorf("%s: hinted twice", c.name)
		}
	}
}

func TestFollowersAreBoundedPerUserAndEndWithTheirLogin(t *testing.T) {
	set := NewFollowers(2)
	phone := account.Principal{User: id.NewUser(), Family: "phone"}
	laptop := account.Principal{User: phone.User, Family: "laptop"}
	run, session := id.NewRun(), id.NewSession()
	first, err := set.Follow(phone, run, session)
	if err != nil {
		t.Fatal(err)
	}
	second, err := set.Follow(laptop, run, session)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := set.Follow(phone, run, session); fault.CodeOf(err) != fault.RateLimited {
		t.Errorf("a third: %v", err)
	}
	other, err := set.Follow(account.Principal{User: id.NewUser()}, run, session)
	if err != nil {
		t.Errorf("another user: %v", err)
	}
	set.EndFamily("phone")
	set.EndFamily("phone")
	if !gone(first) || gone(second) {
		t.Errorf("the phone's ended: %v, the laptop's: %v", gone(first), gone(second))
	}
	first.Close()
	if first, err = set.Follow(phone, run, session); err != nil {
		t.Errorf("a place was not given back: %v", err)
	}
	set.Shut()
	if !gone(first) || !gone(second) || !gone(other) {
		t.Error("somebody stays when the hub stops")
	}
	if _, err := set.Follow(phone, run, session); fault.CodeOf(err) != fault.Busy {
		t.Errorf("while the hub stops: %v", err)
	}
	for _, f := range []*Follower{first, second, other} {
		f.Close()
	}
	if len(set.runs) != 0 || len(set.users) != 0 {
		t.Errorf("left behind: %d runs, %d users", len(set.runs), len(set.users))
	}
}

// Whoever asks for the head first and for removals then is told of each removal before the events behind it.
func TestAFollowerKnowsTheHeadAndThatItsUserMayHaveLeft(t *testing.T) {
	set, who, run, session := NewFollowers(1), account.Principal{User: id.NewUser()}, id.NewRun(), id.NewSession()
	f, err := set.Follow(who, run, session)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	if f.Head() != 0 || !f.Left() || f.Left() {
		t.Error("a new follower knows no head, and has to look once whether it may read")
	}
	set.Seen([]Row{
		{Kind: KindRun, Run: run, From: 1, To: 3}, {Kind: KindRun, Run: id.NewRun(), From: 1, To: 9},
		{Kind: KindFrame, Session: session, Change: Left, ChangeUser: id.NewUser()},
	})
	if f.Head() != 3 || f.Left() {
		t.Errorf("head %d; nobody left", f.Head())
	}
	set.Seen([]Row{{Kind: KindFrame, Session: session, Change: Left, ChangeUser: who.User}, {Kind: KindRun, Run: run, From: 4, To: 5}})
	if f.Head() != 5 || !f.Left() {
		t.Errorf("head %d; its user left", f.Head())
	}
}
