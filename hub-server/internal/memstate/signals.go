package memstate

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/hub-server/internal/presence"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/subject"
	"github.com/switchyard-dev/switchyard/shared/supervise"
)

// Heard is what becomes of signals from other hubs. Each may come twice. They must not block.
type Heard struct {
	EdgeArrived  func(fleet.Arrival)
	EdgeDoubted  func(fleet.Doubt)
	LoginEnded   func(account.Family)
	EdgeRevoked  func(id.Edge)
	CommandsWait func(id.Edge)

	ContactChanged func(presence.Pair)
}

// Signals are what hub processes tell one another at once over the bus: that a login has ended, that an edge was removed or has come, that commands
// wait for an edge, that two people are friends or not any more. One that is lost costs a check: sockets ask for their login every 30 s, lanes for
// commands every 5 s, and a device is told which friends are there when it connects. Safe for concurrent use; no method but Run blocks.
type Signals struct {
	hub   string
	bus   Bus
	heard Heard
	log   *slog.Logger
}

// endedLogin is the body of subject.Kick that means a login. Package gate sends others there.
type endedLogin struct {
	From   string         `json:"from"`
	Family account.Family `json:"family,omitempty"`
}

// changedContact is the body of subject.Contacts.
type changedContact struct {
	From string `json:"from"`
	presence.Pair
}

// NewSignals returns the signals of the hub process with that name.
func NewSignals(hub string, bus Bus, heard Heard, log *slog.Logger) *Signals {
	return &Signals{hub: hub, bus: bus, heard: heard, log: log}
}

// LoginEnded tells all other hubs that a refresh family has ended.
func (s *Signals) LoginEnded(f account.Family) {
	s.tell(subject.Kick, endedLogin{From: s.hub, Family: f})
}

// EdgeArrived tells all other hubs which connection has taken an edge's lane.
func (s *Signals) EdgeArrived(a fleet.Arrival) { s.tell(subject.Arrived, a) }

// EdgeDoubted asks the hub that holds a connection whether there is a process behind it.
func (s *Signals) EdgeDoubted(d fleet.Doubt) { s.tell(subject.Doubted, d) }

// ContactChanged tells all other hubs that two people may have become friends, or are not any more.
func (s *Signals) ContactChanged(p presence.Pair) { s.tell(subject.Contacts, changedContact{s.hub, p}) }

func (s *Signals) tell(to subject.Subject, what any) {
	data, err := json.Marshal(what)
	if err != nil {
		s.log.Error("signal not encoded", "subject", string(to), "error", err)
		return
	}
	s.send(to, data)
}

// EdgeRevoked tells all other hubs that an edge was removed.
func (s *Signals) EdgeRevoked(e id.Edge) { s.send(subject.Revoked, []byte(e)) }

// CommandsWait tells the hub that holds the edge that commands wait for it.
func (s *Signals) CommandsWait(e id.Edge) { s.send(subject.WakeCommands, []byte(e)) }

func (s *Signals) send(to subject.Subject, data []byte) {
	if err := s.bus.Publish(to, data); err != nil {
		s.log.Debug("signal to other hubs was lost", "subject", string(to), "error", err)
	}
}

// Run hears the other hubs until ctx ends.
func (s *Signals) Run(ctx context.Context) error {
	return supervise.All(ctx,
		s.listen(subject.Kick, s.hearKick),
		s.listen(subject.Arrived, understood(s, s.heard.EdgeArrived)),
		s.listen(subject.Doubted, understood(s, s.heard.EdgeDoubted)),
		s.listen(subject.Contacts, understood(s, s.hearContact)),
		s.listen(subject.Revoked, func(data []byte) { s.heard.EdgeRevoked(id.Edge(data)) }),
		s.listen(subject.WakeCommands, func(data []byte) { s.heard.CommandsWait(id.Edge(data)) }),
	)
}

func (s *Signals) listen(on subject.Subject, hear func([]byte)) func(context.Context) error {
	return func(ctx context.Context) error {
		stop, err := s.bus.Listen(ctx, subject.Pattern(on), func(_ subject.Subject, data []byte) { hear(data) })
		if err != nil {
			return fmt.Errorf("listen for signals on %s: %w", on, err)
		}
		defer stop()
		<-ctx.Done()
		return nil
	}
}

func (s *Signals) hearKick(data []byte) {
	understood(s, func(k endedLogin) {
		if k.From != s.hub && k.Family != "" {
			s.heard.LoginEnded(k.Family)
		}
	})(data)
}

func (s *Signals) hearContact(c changedContact) {
	if c.From != s.hub {
		s.heard.ContactChanged(c.Pair)
	}
}

// understood hears messages whose body is JSON of one kind.
func understood[T any](s *Signals, act func(T)) func([]byte) {
	return func(data []byte) {
		var what T
		if err := json.Unmarshal(data, &what); err != nil {
			s.log.Warn("signal from another hub not understood", "error", err)
			return
		}
		act(what)
	}
}
