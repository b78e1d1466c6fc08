package main

import (
	"context"
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rawedge"
	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/subject"
	"github.com/switchyard-dev/switchyard/shared/supervise"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// commit measures how many events per second the hub takes from edges that have more to say than it can take, in frames as a real edge
// packs them, each acknowledged after a commit with FULL durability.
func (b bench) commit(t *stage) []row {
	var rows []row
	for _, edges := range []int{1, 4} {
		var rates []float64
		for range b.times(3, 1) {
			rate, err := onStage(t.ctx, func(t *stage) float64 { return b.commitRate(t, edges) })
			t.must(err)
			rates = append(rates, rate)
		}
		rate := median(rates)
		what := fmt.Sprintf("hub commit path, FULL, frames of up to 64 KiB from %s", plural(edges))
		rows = append(rows, row{what, "≥ 10,000 events/s", fmt.Sprintf("%.0f events/s", rate), rate >= 10_000})
	}
	return rows
}

func plural(edges int) string {
	if edges == 1 {
		return "one edge"
	}
	return fmt.Sprintf("%d edges", edges)
}

func median(numbers []float64) float64 {
	var s spread
	for _, n := range numbers {
		s = append(s, time.Duration(n))
	}
	return float64(s.at(0.5))
}

// firehose is an edge whose run has more to say than the hub can take.
type firehose struct {
	conn       *rawedge.Conn
	lane       rawedge.Lane
	generation wire.Generation
	run        id.Run
}

// commitRate lets edges send for some seconds and returns events per second.
func (b bench) commitRate(t *stage, edges int) float64 {
	duration := time.Duration(b.times(10, 3)) * time.Second
	r := rig.New(t, rig.Options{Bin: b.bin})
	hoses := make([]*firehose, edges)
	for i := range hoses {
		hoses[i] = newFirehose(t, r, fmt.Sprintf("hose-%d", i))
	}
	ctx, cancel := context.WithTimeout(t.ctx, duration)
	defer cancel()
	start := time.Now()
	pouring := supervise.NewGroup(t.ctx)
	for _, h := range hoses {
		pouring.Go(func(whole context.Context) error {
			return h.pour(whole, func() bool { return ctx.Err() == nil })
		})
	}
	t.must(pouring.Wait())
	taken := time.Since(start)
	total := wire.ProducerSeq(0)
	for _, h := range hoses {
		total += h.lane.Head
	}
	return float64(total) / taken.Seconds()
}

func newFirehose(t *stage, r *rig.Rig, name string) *firehose {
	who, err := rawedge.Enrol(t.ctx, r.HubURL(), r.Enrolment(name).Token)
	t.must(err)
	h := &firehose{}
	h.conn, err = rawedge.Dial(t.ctx, who)
	t.must(err)
	t.Cleanup(h.conn.Close)
	h.lane.Incarnation = wire.Incarnation(fmt.Sprintf("%016x", time.Now().UnixNano()))
	welcome, err := h.conn.Hello(t.ctx, h.lane.Incarnation, name)
	t.must(err)
	h.generation = welcome.Generation
	d := r.Owner()
	h.run = d.Run(d.Group(name, name), "@"+name+" go")
	_, err = h.conn.Accept(t.ctx)
	t.must(err)
	t.must(h.send(event.RunStarted, event.RunStartedPayload{StartedAt: time.Now()}))
	return h
}

// send sends a frame of one row and waits for its commit.
func (h *firehose) send(typ event.Type, payload any) error {
	row, err := h.lane.Row(h.conn.Edge, h.run, typ, payload)
	if err != nil {
		return err
	}
	if err := h.conn.Send(h.generation, &h.lane, row); err != nil {
		return err
	}
	_, err = rawedge.Hear[wire.CommittedTo](context.Background(), h.conn, subject.Committed)
	return err
}

// window is how many bytes of rows an edge sends ahead of their commit: within the hub's credit of 1 MiB, as edge-server does.
const window = 512 << 10

// flown is a frame on its way.
type flown struct {
	last  wire.ProducerSeq
	bytes int
}

// pour sends deltas of some sixty characters, as fast as they are committed, while there shall be more; then it waits for what is on its way.
func (h *firehose) pour(ctx context.Context, more func() bool) error {
	message := id.NewMessage()
	var flight []flown
	inFlight := 0
	for more() || len(flight) > 0 {
		for more() && inFlight < window {
			rows, size, err := h.pack(message)
			if err != nil {
				return err
			}
			if err := h.conn.Send(h.generation, &h.lane, rows...); err != nil {
				return err
			}
			flight, inFlight = append(flight, flown{h.lane.Head, size}), inFlight+size
		}
		committed, err := rawedge.Hear[wire.CommittedTo](ctx, h.conn, subject.Committed)
		if err != nil {
			return err
		}
		for len(flight) > 0 && flight[0].last <= committed.Receipt.Seq {
			inFlight -= flight[0].bytes
			flight = flight[1:]
		}
	}
	return nil
}

// pack makes the rows of one full frame.
func (h *firehose) pack(message id.Message) (rows [][]byte, size int, err error) {
	for size < wire.DefaultFrame-512 {
		row, err := h.lane.Row(h.conn.Edge, h.run, event.MessageDelta, event.DeltaPayload{
			MessageID: message, Delta: "sixty characters of text, which is what a model says in one go.",
		})
		if err != nil {
			return nil, 0, err
		}
		rows, size = append(rows, row), size+len(row)
	}
	return rows, size, nil
}
