package board

import (
	"errors"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// linkState is how the connection stands.
type linkState uint8

const (
	connecting linkState = iota
	catching             // connected, and told what was missed
	live
	offline
)

// link is the connection. Its zero value has not stood yet.
type link struct {
	state linkState
	since time.Time // with offline
	why   string    // "" if there is nothing to add
}

func (l link) live() bool { return l.state == live }

// lost notes that the connection is gone; since when counts from the first time.
func (l *link) lost(err error, now time.Time) {
	if l.state != offline {
		l.since = now
	}
	l.state, l.why = offline, ""
	switch {
	case client.CodeOf(err) != "":
		l.why = "the hub lets nobody in: " + string(client.CodeOf(err))
	case errors.Is(err, client.ErrUnreachable):
		l.why = "the hub cannot be reached"
	}
}

// line says how the connection stands.
func (b *Board) linkLine() line {
	style := b.options.Style
	switch b.link.state {
	case live:
		return line{{"● ", style.Green}, {text: "live"}}
	case catching:
		return line{{"◐ ", style.Yellow}, {text: "catching up"}}
	case offline:
		return line{{"○ ", style.Red}, {text: "offline since " + b.clock(b.link.since)}}
	}
	return line{{"◌ ", style.Yellow}, {text: "connecting"}}
}

func (b *Board) day(t time.Time) string { return t.In(b.options.Zone).Format("2006-01-02 15:04") }

func (b *Board) clock(t time.Time) string { return t.In(b.options.Zone).Format("15:04") }
