package lane

import "github.com/switchyard-dev/switchyard/shared/wire"

// maxUnreadable is how many frames of a connection may be unreadable before it is refused.
const maxUnreadable = 3

// Fate is what becomes of a frame.
type Fate uint8

// Fates of a frame.
const (
	Drop   Fate = iota // sent before the edge heard of a newer generation: it sends those rows again
	Commit             // to be committed, but for the rows at its head that are committed already
	Ask                // rows before it are missing: tell the edge what Rewind returns, if anything
	Give               // up: too many frames could not be read
)

// Receiver decides what the hub does with the frames of one connection: the other half of a Sender, and as pure. Which rows are committed is for
// the store to say (fence and watermark); the receiver knows it from Welcome and Committed. Owned by the connection's loop. The zero value
// waits for a hello.
type Receiver struct {
	open       bool
	watermark  wire.ProducerSeq
	generation wire.Generation
	rewound    bool // this generation has had its rewind
	unreadable int
}

// Welcome begins a generation behind the watermark of a lane that a hello has opened.
func (r *Receiver) Welcome(watermark wire.ProducerSeq) wire.Generation {
	r.open, r.watermark = true, watermark
	r.next()
	return r.generation
}

func (r *Receiver) next() {
	r.generation++
	r.rewound = false
}

// Frame judges a frame that could be read.
func (r *Receiver) Frame(f wire.Frame) Fate {
	switch {
	case !r.open:
		return r.Unreadable()
	case f.Generation != r.generation:
		return Drop
	case f.First > r.watermark+1:
		return Ask
	}
	return Commit
}

// Unreadable judges a frame that could not be read, or came before the hello.
func (r *Receiver) Unreadable() Fate {
	if r.unreadable++; r.unreadable >= maxUnreadable {
		return Give
	}
	return Ask
}

// Rewind begins a new generation at what is missing, once: the frames that are still on their way are of the old one and say nothing new.
func (r *Receiver) Rewind() (wire.Rewind, bool) {
	if r.rewound || !r.open {
		return wire.Rewind{}, false
	}
	r.next()
	r.rewound = true
	return wire.Rewind{Generation: r.generation, From: r.watermark + 1}, true
}

// Committed notes how far the rows are on the hub's disk now.
func (r *Receiver) Committed(watermark wire.ProducerSeq) {
	r.watermark, r.rewound = watermark, false
}

// Continues says whether b may be committed in one with a, which came before it.
func Continues(a, b wire.Frame) bool { return a.Generation == b.Generation && b.First == a.Last()+1 }
