package board

import (
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/screen"
)

const maxReason = 200 // runes

// runLines draws a run.
func (b *Board) runLines(x *run, width int) []line {
	style := b.options.Style
	all := []line{append(line{{b.name(x.agent), style.Name}, {text: " "}}, b.runState(x)...)}
	if x.over() && x.settled {
		return all
	}
	for _, t := range x.tools {
		mark := span{text: " …"}
		switch {
		case t.failed:
			mark = span{" ✗", style.Red}
		case t.done:
			mark = span{" ✓", style.Green}
		}
		head := line{{text: "  "}, {"⚙ ", style.Cyan}, {text: t.name}, {" " + t.arguments, style.Dim}}
		all = append(all, sides(head, line{mark}, width))
	}
	if words := strings.TrimSpace(x.words); words != "" {
		if x.cut {
			words = "…" + words
		}
		all = append(all, wrapped(words, "  ", width)...)
	}
	return all
}

func (b *Board) runState(x *run) line {
	style := b.options.Style
	note := ""
	if x.note != "" {
		note = ": " + screen.Line(x.note, maxReason)
	}
	switch x.state {
	case client.RunStateRunning:
		if x.thinks {
			return line{{"▶ thinks", style.Cyan}}
		}
		return line{{"▶ works", style.Cyan}}
	case client.RunStateWaitingPerson:
		return line{{"? waits for an answer", style.Yellow}}
	case client.RunStateCancelling:
		return line{{"■ is being stopped", style.Yellow}}
	case client.RunStateCompleted:
		return line{{"✓ has ended", style.Green}}
	case client.RunStateCancelled:
		return line{{"■ was cancelled", style.Yellow}}
	case client.RunStateFailed:
		return line{{"✗ has failed" + note, style.Red}}
	case client.RunStateInterrupted:
		return line{{"✗ was interrupted" + note, style.Red}}
	case client.RunStateWaitingEdge:
		return line{{"… waits for its machine" + note, style.Dim}}
	}
	return line{{"… is about to start" + note, style.Dim}}
}
