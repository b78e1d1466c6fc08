package lossyfs

import (
	"math/rand/v2"
	"slices"
)

// sector is the unit that a disk writes whole or not at all.
const sector = 512

// content is the bytes of a file. Durable and pending together give volatile.
type content struct {
	durable  []byte
	volatile []byte
	pending  []change // since the last sync, in order
}

// change is a write, or, without data, a new length.
type change struct {
	at   int64
	data []byte
}

func (c *content) write(at int64, data []byte) { c.change(change{at, slices.Clone(data)}) }

func (c *content) truncate(length int64) { c.change(change{at: length}) }

func (c *content) change(ch change) {
	c.volatile = ch.applyTo(c.volatile)
	c.pending = append(c.pending, ch)
}

func (c *content) read(at int64, into []byte) []byte {
	if at >= int64(len(c.volatile)) {
		return nil
	}
	return into[:copy(into, c.volatile[at:])]
}

func (c *content) sync() {
	for _, ch := range c.pending {
		c.durable = ch.applyTo(c.durable)
	}
	c.pending = nil
}

// cut forgets what was not synced, but for what chance keeps.
func (c *content) cut(luck luck) {
	for _, ch := range c.pending {
		for _, piece := range ch.pieces(luck.tear) {
			if luck.kept() {
				c.durable = piece.applyTo(c.durable)
			}
		}
	}
	c.volatile, c.pending = slices.Clone(c.durable), nil
}

func (ch change) applyTo(bytes []byte) []byte {
	end := ch.at + int64(len(ch.data))
	switch had := int64(len(bytes)); {
	case had < end:
		bytes = slices.Grow(bytes, int(end-had))[:end]
		clear(bytes[had:])
	case ch.data == nil:
		return bytes[:ch.at]
	}
	copy(bytes[ch.at:], ch.data)
	return bytes
}

// pieces are the parts of a change that reach the disk each for itself.
func (ch change) pieces(size int64) (all []change) {
	if ch.data == nil {
		return []change{ch}
	}
	for at, data := ch.at, ch.data; len(data) > 0; {
		n := min(size-at%size, int64(len(data)))
		all = append(all, change{at, data[:n]})
		at, data = at+n, data[n:]
	}
	return all
}

// luck decides what survives one cut.
type luck struct {
	random *rand.Rand
	odds   float64 // that a thing survives
	tear   int64   // bytes that survive or do not survive together
}

// drawLuck mixes cuts after which nothing unsynced is there, everything, or some.
func drawLuck(random *rand.Rand) luck {
	odds := []float64{0, 0, 0.1, 0.5, 0.9, 1}
	tears := []int64{sector, 8 * sector}
	return luck{random, odds[random.IntN(len(odds))], tears[random.IntN(len(tears))]}
}

func (l luck) kept() bool { return l.random.Float64() < l.odds }
