package main

import (
	"fmt"
	"time"
)

// omni measures OmniMessages on one core: how many are made and read in a second, what it costs to fold an event of a conversation into them, and how
// long somebody waits for the first of a long one of which this hub knows nothing.
func (b bench) omni(t *stage) []row {
	times := b.times(5, 1)
	rates := b.benchmark(t, "shared", "./omni", "Benchmark(En|De)code", times)
	rate := func(name, what, goal string, least float64) row {
		got := reported(t, rates, "Benchmark"+name, "messages/s")
		return row{what, goal, fmt.Sprintf("%.0f messages/s", got), got >= least}
	}
	fold := b.beside(t, "hub-server", "./internal/project/omni", "BenchmarkFold", "µs/event")
	const each = 10
	rows := []row{
		rate("Encode", "an OmniMessage with a text of 300 bytes: from its constructor to its line, on one core", "≥ 500,000 messages/s", 500_000),
		rate("Decode/form", "the same line read to a message, its form checked", "≥ 150,000 messages/s", 150_000),
		rate("Decode/valid", "the same, each field checked", "", 0),
		rate("Decode/body", "the same, and read to its payload", "", 0),
		{"an event of a conversation, folded into OmniMessages", fmt.Sprintf("≤ %d µs", each), micros(time.Duration(fold * float64(time.Microsecond))), fold <= each},
	}
	return append(rows, b.omniOpen(t)...)
}

func (b bench) omniOpen(t *stage) (rows []row) {
	const open = 50 * time.Millisecond
	out := b.benchmark(t, "hub-server", "./internal/sqlstore", "BenchmarkOmniOpen", b.times(3, 1))
	in := func(name string) time.Duration {
		return time.Duration(reported(t, out, "BenchmarkOmniOpen/"+name, "µs/open") * float64(time.Microsecond))
	}
	for _, store := range []struct{ name, in string }{{"sqlite", ""}, {"postgres", ", in PostgreSQL"}} {
		stream, newest := in(store.name+"/stream"), in(store.name+"/newest")
		rows = append(rows,
			row{"OmniMessages of a conversation of 100,000 events, to the first of a stream from any place" + store.in, "≤ 50 ms", show(stream), stream <= open},
			row{"the same, to the newest 200 messages" + store.in, "", show(newest), true},
		)
	}
	return rows
}
