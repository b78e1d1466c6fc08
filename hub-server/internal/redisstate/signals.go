package redisstate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/hub-server/internal/presence"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/supervise"
)

const (
	maxWaiting = 1024             // signals of a queue that wait for Redis; more are dropped, and found by the checks that do without signals
	maxKept    = 4096             // signals that Redis keeps of a stream, about
	keptFor    = 10 * time.Minute // after the newest
	listenFor  = time.Second      // one read at most
	readAtOnce = 256
	farewell   = time.Second // to write what waits when the hub stops
)

// Telegraph carries the same signals without Redis.
type Telegraph interface {
	LoginEnded(f account.Family)
	EdgeRevoked(e id.Edge)
	CommandsWait(e id.Edge)
	EdgeArrived(a fleet.Arrival)
	EdgeDoubted(d fleet.Doubt)
	ContactChanged(p presence.Pair)
	Run(ctx context.Context) error
}

// Directory says which other hub processes hold an uplink of an edge.
type Directory interface {
	Holders(e id.Edge) []string
}

// Heard is what becomes of signals from other hubs. Each may come twice, and long after it was sent. They must not block.
type Heard struct {
	EdgeArrived  func(fleet.Arrival)
	EdgeDoubted  func(fleet.Doubt)
	LoginEnded   func(account.Family)
	EdgeRevoked  func(id.Edge)
	CommandsWait func(id.Edge)

	ContactChanged func(presence.Pair)
}

// Signals are what hub processes tell one another at once: that a login has ended, that an edge was removed or has come, that commands wait for
// an edge, that two people are friends or not any more. They go through Redis besides the way of the twin, and one that gets there by either is heard. What a hub misses while it cannot reach
// Redis it hears when it can, as far as Redis has kept it. Ends of logins and of edges have a queue and a stream of their own: a crowd of edges that
// arrive pushes none of them out. Safe for concurrent use; no method but Run blocks.
type Signals struct {
	hub       string
	link      *Link
	twin      Telegraph
	directory Directory
	heard     Heard
	ends      chan signal // logins and edges
	waiting   chan signal // all else
}

// signal is an entry of a stream.
type signal struct {
	stream key
	kind   string
	id     string // what it is about: a name, or JSON
}

// Kinds of signal: words on the wire between hubs of different versions. An unknown one is passed over.
const (
	loginEnded   = "login_ended"
	edgeRevoked  = "edge_revoked"
	commandsWait = "commands_wait"
	edgeArrived  = "edge_arrived"
	edgeDoubted  = "edge_doubted"

	contactChanged = "contact_changed"
)

// NewSignals returns the signals of the hub process with that name.
func NewSignals(hub string, link *Link, twin Telegraph, directory Directory, heard Heard) *Signals {
	return &Signals{hub: hub, link: link, twin: twin, directory: directory, heard: heard, ends: make(chan signal, maxWaiting), waiting: make(chan signal, maxWaiting)}
}

// LoginEnded tells all other hubs that a refresh family has ended.
func (s *Signals) LoginEnded(f account.Family) {
	s.twin.LoginEnded(f)
	s.send(s.ends, signal{s.link.keys.ends(), loginEnded, string(f)})
}

// EdgeRevoked tells all other hubs that an edge was removed.
func (s *Signals) EdgeRevoked(e id.Edge) {
	s.twin.EdgeRevoked(e)
	s.send(s.ends, signal{s.link.keys.ends(), edgeRevoked, string(e)})
}

// CommandsWait tells the hub that holds the edge that commands wait for it. If that is not known, the way of the twin has to do.
func (s *Signals) CommandsWait(e id.Edge) {
	s.twin.CommandsWait(e)
	for _, hub := range s.directory.Holders(e) {
		s.send(s.waiting, signal{s.link.keys.signalsTo(hub), commandsWait, string(e)})
	}
}

// EdgeArrived tells all other hubs which connection has taken an edge's lane.
func (s *Signals) EdgeArrived(a fleet.Arrival) {
	s.twin.EdgeArrived(a)
	s.tell(edgeArrived, a)
}

// EdgeDoubted asks the hub that holds a connection whether there is a process behind it.
func (s *Signals) EdgeDoubted(d fleet.Doubt) {
	s.twin.EdgeDoubted(d)
	s.tell(edgeDoubted, d)
}

// ContactChanged tells all other hubs that two people may have become friends, or are not any more.
func (s *Signals) ContactChanged(p presence.Pair) {
	s.twin.ContactChanged(p)
	s.tell(contactChanged, p)
}

func (s *Signals) tell(kind string, what any) {
	data, err := json.Marshal(what)
	if err != nil {
		s.link.log.Error("signal not encoded", "kind", kind, "error", err)
		return
	}
	s.send(s.waiting, signal{s.link.keys.signals(), kind, string(data)})
}

func (s *Signals) send(queue chan<- signal, one signal) {
	select {
	case queue <- one:
	default:
		s.link.metrics.dropped.Inc()
	}
}

// Run carries signals until ctx ends.
func (s *Signals) Run(ctx context.Context) error {
	return supervise.All(ctx, s.twin.Run, s.write(s.ends), s.write(s.waiting), s.read)
}

// write takes the signals of a queue to Redis in their order, and tries again until it is there. Those that wait at the end of ctx are written as
// far as that takes a moment.
func (s *Signals) write(queue <-chan signal) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		for {
			select {
			case <-ctx.Done():
				s.flush(ctx, queue)
				return nil
			case one := <-queue:
				for s.add(ctx, one) != nil {
					select {
					case <-ctx.Done():
						return nil
					case <-s.link.returned():
					}
				}
			}
		}
	}
}

// flush gives up at the first failure.
func (s *Signals) flush(ctx context.Context, queue <-chan signal) {
	for begin := time.Now(); time.Since(begin) < farewell; {
		select {
		case one := <-queue:
			if s.add(ctx, one) != nil {
				return
			}
		default:
			return
		}
	}
}

func (s *Signals) add(ctx context.Context, one signal) error {
	return s.link.do(ctx, commandLimit, func(ctx context.Context) error {
		_, err := s.link.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
			p.XAdd(ctx, &redis.XAddArgs{
				Stream: one.stream, MaxLen: maxKept, Approx: true,
				Values: []string{"kind", one.kind, "id", one.id, "from", s.hub},
			})
			p.PExpire(ctx, one.stream, keptFor)
			return nil
		})
		return err
	})
}

// place is how far a hub has read.
type place struct {
	contents string    // of Redis, when it was read
	last     [3]string // of each stream, in the order of Signals.streams
}

// read hears what the others have sent. It begins with all that is kept, and again whenever Redis has lost what it held: its numbers may begin
// anew then.
func (s *Signals) read(ctx context.Context) error {
	var at place
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			return nil
		case <-s.link.returned():
		}
		if contents := s.link.contents(); at.contents != contents {
			at = place{contents: contents, last: [3]string{"0", "0", "0"}}
		}
		s.take(ctx, &at) //nolint:errcheck // the link has said so; next comes the wait for its return
	}
	return nil
}

// streams are those that this hub reads.
func (s *Signals) streams() []string {
	return []string{s.link.keys.ends(), s.link.keys.signals(), s.link.keys.signalsTo(s.hub)}
}

func (s *Signals) take(ctx context.Context, at *place) error {
	streams := s.streams()
	var read []redis.XStream
	err := s.link.do(ctx, listenFor+probeLimit, func(bounded context.Context) error {
		bounded, cancel := context.WithCancel(bounded)
		defer cancel()
		defer context.AfterFunc(ctx, cancel)()
		var err error
		read, err = s.link.client.XRead(bounded, &redis.XReadArgs{
			Streams: append(streams, at.last[:]...), Count: readAtOnce, Block: listenFor,
		}).Result()
		if ctx.Err() != nil {
			return nil
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, stream := range read {
		for _, m := range stream.Messages {
			if s.hear(m.Values) != nil {
				s.link.log.Debug("signal from another hub not understood", "signal", m.ID)
			}
			at.last[slices.Index(streams, stream.Stream)] = m.ID
		}
	}
	return nil
}

// hear acts on a signal that another hub has sent.
func (s *Signals) hear(values map[string]any) error {
	kind, _ := values["kind"].(string)
	name, _ := values["id"].(string)
	from, _ := values["from"].(string)
	if name == "" || from == "" {
		return errors.New("signal without id or sender")
	}
	if from == s.hub {
		return nil
	}
	switch kind {
	case loginEnded:
		s.heard.LoginEnded(account.Family(name))
	case edgeRevoked:
		s.heard.EdgeRevoked(id.Edge(name))
	case commandsWait:
		s.heard.CommandsWait(id.Edge(name))
	case edgeArrived:
		return understood(name, s.heard.EdgeArrived)
	case edgeDoubted:
		return understood(name, s.heard.EdgeDoubted)
	case contactChanged:
		return understood(name, s.heard.ContactChanged)
	default:
		return fmt.Errorf("signal of kind %q", kind)
	}
	return nil
}

// understood acts on a signal that is more than a name.
func understood[T any](text string, act func(T)) error {
	var what T
	if err := json.Unmarshal([]byte(text), &what); err != nil {
		return fmt.Errorf("read signal: %w", err)
	}
	act(what)
	return nil
}
