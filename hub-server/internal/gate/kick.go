package gate

import (
	"encoding/json"
	"time"

	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/subject"
)

// kick means the connections of a user's device but for one: it is the word of that newer one, which takes their place.
type kick struct {
	From   id.Connection `json:"from"` // which hub speaks
	User   id.User       `json:"user,omitempty"`
	Device id.Device     `json:"device,omitempty"`
	Except id.Connection `json:"except,omitempty"`

	// Age is how long Except had been there when its hub spoke, in nanoseconds; 0 as long as it is new.
	Age time.Duration `json:"age,omitempty"`
}

// settled is the age from which a connection is older than any that another hub may still be about to tell of.
const settled = 5 * time.Second

// word tells the other hubs that the connection is there now.
func (c *conn) word() kick {
	return kick{From: c.gate.self, User: c.who.User, Device: c.who.Device, Except: c.id}
}

// wordAgain says so once more, and for how long already: ages compare without clocks that agree.
func (c *conn) wordAgain() kick {
	k := c.word()
	k.Age = time.Since(c.came)
	return k
}

// verdict is what the word of another connection of its device means for one.
type verdict uint8

const (
	older  verdict = iota + 1 // it goes
	unsure                    // it may be the newer one: word may have come late. Its hub speaks of it when that is past
	newer                     // it stays, and the other one goes
)

// judge compares a connection with the one that another hub tells of. A device whose network fails goes from hub to hub faster than word does. Ids
// grow with time where clocks agree, so they decide whom to spare, but never for long.
func (k kick) judge(c *conn) verdict {
	age := time.Since(c.came)
	switch {
	case k.Age != 0 && age < k.Age:
		return newer
	case k.Age == 0 && age < settled && c.id > k.Except:
		return unsure
	}
	return older
}

func (g *Gate) heardKick(_ subject.Subject, data []byte) {
	var k kick
	if err := json.Unmarshal(data, &k); err != nil {
		g.Log.Warn("kick from another hub not understood", "error", err)
		return
	}
	if k.From == g.self || k.User == "" || k.Device == "" || k.Except == "" {
		return
	}
	var gone []*conn
	for _, c := range g.conns.find(k) {
		switch k.judge(c) {
		case older:
			gone = append(gone, c)
		case unsure:
			time.AfterFunc(settled-time.Since(c.came), c.insist)
		case newer:
			c.insist()
		}
	}
	g.replace(gone)
}

// insist says again that the connection is there, if it is: of two that know of each other, one ends.
func (c *conn) insist() {
	if c.ctx.Err() == nil {
		c.gate.tell(subject.Kick, c.wordAgain())
	}
}

// endLogin ends connections whose login has ended.
func (g *Gate) endLogin(conns []*conn) {
	for _, c := range conns {
		g.metrics.kicks.Inc()
		c.end(loginEnded())
	}
}

// replace ends connections whose device has a newer one.
func (g *Gate) replace(conns []*conn) {
	for _, c := range conns {
		g.metrics.kicks.Inc()
		c.end(replaced(c.id))
	}
}
