package main

import (
	"fmt"
	"time"
)

// cards measures what it costs to tell a conversation as cards: how long somebody waits for the first frame of a long one of which this hub knows
// nothing, the newest 100 events of which are not told yet, and what each event costs while somebody looks, the disk sync of the frames included.
func (b bench) cards(t *stage) (rows []row) {
	const open, each = 50 * time.Millisecond, 20 * time.Microsecond
	out := b.benchmark(t, "hub-server", "./internal/sqlstore", "BenchmarkCards(Open|Live)", b.times(3, 1))
	in := func(name, unit string, of time.Duration) time.Duration {
		return time.Duration(reported(t, out, "BenchmarkCards"+name, unit) * float64(of))
	}
	for _, store := range []struct{ name, in string }{{"sqlite", ""}, {"postgres", ", in PostgreSQL"}} {
		wait := in("Open/"+store.name, "µs/open", time.Microsecond)
		busy := in("Live/"+store.name+"/busy", "ns/event", time.Nanosecond)
		alone := in("Live/"+store.name+"/alone", "ns/event", time.Nanosecond)
		rows = append(rows,
			row{"cards of a conversation of 100,000 events, from its checkpoint to the first frame" + store.in, "≤ 50 ms", show(wait), wait <= open},
			row{"cards while somebody looks: fold and storage of an event of a busy agent" + store.in, "≤ 20 µs", micros(busy), busy <= each},
			row{"the same for an event that comes alone, its sync included" + store.in, "", micros(alone), true},
		)
	}
	return rows
}

func micros(d time.Duration) string {
	return fmt.Sprintf("%.1f µs", float64(d)/float64(time.Microsecond))
}
