package main

import "fmt"

// cards measures what it costs to tell a conversation as cards: how long somebody waits for the first frame of a long one of which this hub knows
// nothing, the newest 100 events of which are not told yet, and what each event costs while somebody looks, the disk sync of the frames included.
func (b bench) cards(t *stage) []row {
	wait := b.beside(t, "hub-server", "./internal/sqlstore", "BenchmarkCardsOpen", "µs/open")
	each := b.beside(t, "hub-server", "./internal/sqlstore", "BenchmarkCardsLive", "ns/event")
	return []row{
		{"cards of a conversation of 100,000 events, from its checkpoint to the first frame", "≤ 50 ms", fmt.Sprintf("%.1f ms", wait/1000), wait <= 50_000},
		{"cards while somebody looks: fold and storage of an event", "≤ 20 µs", fmt.Sprintf("%.1f µs", each/1000), each <= 20_000},
	}
}
