package main

import (
	"fmt"
	"time"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/fanload"
)

// many is how many subscribers the comparisons have, most as many as two processes with 20,000 open files each can bear.
const (
	many = 1000
	most = 9500
)

const cpuFormat = "%.2f s"

// flat measures how much the servers can deliver, and what a delivery costs them.
func (b bench) flat(t *stage) []row {
	r := b.turns(t, b.flatOut(), ours, inMemory, inRedis, inPostgres)
	what := fmt.Sprintf("%d subscribers flat out: ", many)
	rows := []row{
		r.against(inMemory.name, what+"CPU of the server for a million deliveries, against "+inMemory.name, "≤ 0.35 ×", cpuFormat, fanload.Result.CPU, atMost(0.35)),
		r.against(inMemory.name, what+"deliveries/s, against "+inMemory.name, "≥ 3 ×", "%.0f", fanload.Result.Rate, atLeast(3)),
		r.both(what+"publish → receive", ours.name, inMemory.name),
	}
	for _, other := range []string{inRedis.name, inPostgres.name} {
		rows = append(rows, row{what + other, "", fmt.Sprintf("%s of CPU for a million, %s deliveries/s",
			r.of(other, fanload.Result.CPU).show(cpuFormat), r.of(other, fanload.Result.Rate).show("%.0f")), true})
	}
	return rows
}

func (b bench) flatOut() fanload.Plan {
	return fanload.Plan{Work: fanload.Fan, Subscribers: many, Window: 64, WarmUp: b.seconds(3, 2), Span: b.seconds(10, 5)}
}

// encrypted measures the same over TLS, for which no goal was set: most of it is the work of the cipher.
func (b bench) encrypted(t *stage) []row {
	r := b.turns(t, b.flatOut(), oursEncrypted, inMemoryEncrypted)
	own, other := oursEncrypted.name, inMemoryEncrypted.name
	of := func(number func(fanload.Result) float64, format string) string {
		return fmt.Sprintf("%s against %s", r.of(own, number).show(format), r.of(other, number).show(format))
	}
	what := fmt.Sprintf("%d subscribers flat out over TLS: ", many)
	return []row{
		{what + "CPU of the server for a million deliveries", "", of(fanload.Result.CPU, cpuFormat), true},
		{what + "deliveries/s", "", of(fanload.Result.Rate, "%.0f"), true},
		r.both(what+"publish → receive", own, other),
	}
}

// both shows the ages of two contestants; it has no goal.
func (r runs) both(what, one, other string) row {
	ages := func(name string) string {
		return fmt.Sprintf("p50 %s, p99 %s", r.of(name, p50Of).show("%.1f ms"), r.of(name, p99Of).show("%.1f ms"))
	}
	return row{what, "", ages(one) + " against " + ages(other), true}
}

// steady measures how soon everybody has what is published at a rate that both can bear, and what that costs; then, with more subscribers than
// the other can bear, ours alone.
func (b bench) steady(t *stage) []row {
	plan := fanload.Plan{Work: fanload.Fan, Subscribers: many, PerSecond: 100, WarmUp: b.seconds(3, 2), Span: b.seconds(10, 5)}
	r := b.turns(t, plan, ours, inMemory)
	what := "1,000 subscribers at 100 messages/s: "
	rows := []row{
		r.against(inMemory.name, what+"publish → receive, p99, against "+inMemory.name, "≤ 0.6 ×", "%.1f ms", p99Of, atMost(0.6)),
		r.against(inMemory.name, what+"CPU of the server for a million deliveries, against "+inMemory.name, "≤ 0.8 ×", cpuFormat, fanload.Result.CPU, atMost(0.8)),
		r.both(what+"publish → receive", ours.name, inMemory.name),
	}
	plan.Subscribers, plan.PerSecond = most, 10
	r = b.turns(t, plan, ours)
	p99 := r.of(ours.name, p99Of)
	return append(rows, row{"9,500 subscribers at 10 messages/s: publish → receive, p99, nothing lost", "≤ 250 ms", p99.show("%.0f ms"), p99.median() <= 250})
}

// idle measures what a connection costs that has nothing to say: once, for it waits minutes for collections, and comes out the same each time.
func (b bench) idle(t *stage) []row {
	r := b.rounds(t, 1, fanload.Plan{Work: fanload.Idle, Subscribers: most}, ours, inMemory)
	kib := func(number func(fanload.Result) float64) func(fanload.Result) float64 {
		return func(r fanload.Result) float64 { return number(r) / 1024 }
	}
	live := kib(func(r fanload.Result) float64 { return r.IdleHeap })
	resident := kib(func(r fanload.Result) float64 { return r.IdleResident })
	own, others := r.of(ours.name, live), r.of(inMemory.name, live)
	what := "9,500 idle connections, each: "
	return []row{
		{what + "memory of the server in use", "≤ 14 KiB", fmt.Sprintf("%s against %s", own.show("%.1f KiB"), others.show("%.1f KiB")), own.median() <= 14},
		{what + "resident memory of the server", "", fmt.Sprintf("%s against %s",
			r.of(ours.name, resident).show("%.1f KiB"), r.of(inMemory.name, resident).show("%.1f KiB")), true},
	}
}

// publish measures how many single messages programs can publish that wait for each to be kept.
func (b bench) publish(t *stage) []row {
	r := b.turns(t, fanload.Plan{
		Work: fanload.Post, Subscribers: 1, Posters: 16, WarmUp: b.seconds(3, 2), Span: b.seconds(10, 5),
	}, ours, inPostgres, inRedis)
	rate := func(r fanload.Result) float64 { return float64(r.Published) / r.Span.Seconds() }
	what := "single messages over HTTP by 16 programs, each kept before it is acknowledged: messages/s"
	return []row{
		r.against(inPostgres.name, what+", against "+inPostgres.name, "≥ 10 ×", "%.0f", rate, atLeast(10)),
		{what + ", " + inRedis.name + ", which keeps nothing", "", r.of(inRedis.name, rate).show("%.0f"), true},
	}
}

// publishLatency measures how soon a single message that is kept is with its subscriber.
func (b bench) publishLatency(t *stage) []row {
	r := b.turns(t, fanload.Plan{
		Work: fanload.Post, Subscribers: 1, Posters: 1, PerSecond: 20, WarmUp: b.seconds(3, 2), Span: b.seconds(20, 10),
	}, ours, inPostgres, inNotifyingPostgres)
	what := "single messages over HTTP at 20/s, kept: publish → receive"
	return []row{
		r.against(inPostgres.name, what+", p99, against "+inPostgres.name, "≤ 0.2 ×", "%.1f ms", p99Of, atMost(0.2)),
		r.both(what+", against "+inNotifyingPostgres.name, ours.name, inNotifyingPostgres.name),
	}
}

// comeBack measures how long many take to be where the others are after they were cut off, and whether the others feel it.
func (b bench) comeBack(t *stage) []row {
	const returning, stay, short, long = 5000, 1000, 10, 600
	plan := fanload.Plan{
		Work: fanload.Return, Subscribers: returning + stay, Returning: returning, Missed: short, PerSecond: 10, WarmUp: b.seconds(3, 2), Span: b.seconds(10, 5),
	}
	r := b.turns(t, plan, ours, inMemory)
	plan.Missed = long
	replayed := b.turns(t, plan, ours, inMemory)
	back := func(r fanload.Result) float64 { return r.Back.Seconds() }
	worse := func(r fanload.Result) float64 { return float64(r.P99During) / float64(r.P99) }
	rate := func(r fanload.Result) float64 { return returning * long / r.Back.Seconds() }
	took, felt, frames := r.of(ours.name, back), r.of(ours.name, worse), replayed.of(ours.name, rate)
	what := "5,000 of 6,000 subscribers come back at once, 10 messages/s go on: "
	return []row{
		{what + "until all have what they missed, 10 messages", "< 10 s",
			fmt.Sprintf("%s against %s", took.show("%.1f s"), r.of(inMemory.name, back).show("%.1f s")), took.median() < 10},
		{what + "p99 of the others against before", "≤ 1.5 ×",
			fmt.Sprintf("%s against %s", felt.show("%.2f ×"), r.of(inMemory.name, worse).show("%.2f ×")), felt.median() <= 1.5},
		{"the same with 600 missed messages: frames/s to those who come back", "≥ 300,000",
			fmt.Sprintf("%s against %s", frames.show("%.0f"), replayed.of(inMemory.name, rate).show("%.0f")), frames.median() >= 300_000},
	}
}

func (b bench) seconds(thorough, quick int) time.Duration {
	return time.Duration(b.times(thorough, quick)) * time.Second
}
