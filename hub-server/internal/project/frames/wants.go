package frames

import (
	"cmp"
	"slices"

	"github.com/switchyard-dev/switchyard/hub-server/internal/delivery"
	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// wants are what rows are about, each once.
type wants struct {
	messages  []id.Message
	prompts   []id.Request
	runs      []id.Run // of rows that tell of their events
	stretches []Stretch
}

func wantsOf(rows []delivery.Row) (w wants) {
	for i := range rows {
		row := &rows[i]
		switch row.Kind {
		case delivery.KindMessage:
			w.messages = append(w.messages, row.Message)
		case delivery.KindRun:
			w.runs = append(w.runs, row.Run)
			w.stretches = append(w.stretches, stretchOf(row))
		case delivery.KindPrompt:
			w.prompts = append(w.prompts, row.Prompt)
			w.stretches = append(w.stretches, stretchOf(row))
		}
	}
	w.messages, w.prompts, w.runs, w.stretches = once(w.messages), once(w.prompts), once(w.runs), joined(w.stretches)
	return w
}

// stretchOf are the events that a row is about.
func stretchOf(row *delivery.Row) Stretch {
	return Stretch{row.Run, runlog.EventSeq(row.From), runlog.EventSeq(row.To)}
}

// once sorts ids and drops those that are there already.
func once[T cmp.Ordered](all []T) []T {
	slices.Sort(all)
	return slices.Compact(all)
}

// joined sorts stretches and makes one of those that touch or overlap.
func joined(all []Stretch) []Stretch {
	slices.SortFunc(all, func(a, b Stretch) int { return cmp.Or(cmp.Compare(a.Run, b.Run), cmp.Compare(a.From, b.From)) })
	out := all[:0]
	for _, s := range all {
		if last := len(out) - 1; last >= 0 && out[last].Run == s.Run && s.From <= out[last].To+1 {
			out[last].To = max(out[last].To, s.To)
			continue
		}
		out = append(out, s)
	}
	return out
}
