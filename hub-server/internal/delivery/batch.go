package delivery

import (
	"slices"

	"github.com/switchyard-dev/switchyard/shared/id"
)

// Bounds of what is handed to streams at once: rows that follow one another and are for the same people.
const (
	batchRows  = 128
	batchBytes = 64 << 10
)

// entry is a row's frames on their way to readers; an ephemeral has no position.
type entry struct {
	frames []Frame
	pos    Position
}

// batch is entries in position order, shared by all streams that get them. It is not changed once it is handed out.
type batch struct {
	entries []entry
	frames  int
	bytes   int
}

func (b *batch) add(e entry) {
	if len(e.frames) == 0 {
		return // nobody hears of the row
	}
	b.entries = append(b.entries, e)
	b.frames += len(e.frames)
	b.bytes += sizeOf(e.frames)
}

// first is the position of the first durable row, 0 if there is none.
func (b *batch) first() Position {
	for _, e := range b.entries {
		if e.pos != 0 {
			return e.pos
		}
	}
	return 0
}

// last is the position of the last entry; the batch is not empty.
func (b *batch) last() Position { return b.entries[len(b.entries)-1].pos }

// views is a batch as different people see it: the owner and everybody else. They are the same until a row comes that is not.
type views struct {
	all    batch
	owner  id.User
	others *batch // nil: the same for all
}

// add puts a row behind the others; false means that it has another owner and must wait for the next batch.
func (v *views) add(row Row, f rowFrames) bool {
	if f.others != nil {
		if v.others != nil && v.owner != f.owner {
			return false
		}
		if v.others == nil {
			v.others = &batch{entries: slices.Clone(v.all.entries), frames: v.all.frames, bytes: v.all.bytes}
			v.owner = f.owner
		}
	}
	v.all.add(entry{f.all, row.Position})
	if v.others != nil {
		seen := f.all
		if f.others != nil {
			seen = f.others
		}
		v.others.add(entry{seen, row.Position})
	}
	return true
}

// full says that the batch is worth handing out.
func (v *views) full() bool { return v.all.bytes >= batchBytes }

// of returns what a user gets.
func (v *views) of(user id.User) *batch {
	if v.others == nil || user == v.owner {
		return &v.all
	}
	return v.others
}

// together is how many of the rows, at least one, are for the same people and leave it as it is who they are.
func together(rows []Row) int {
	n := 1
	if rows[0].Change != NoChange {
		return n
	}
	for n < len(rows) && n < batchRows && rows[n].Change == NoChange && rows[n].Audience == rows[0].Audience {
		n++
	}
	return n
}
