package cards

import (
	"cmp"
	"encoding/json"

	"github.com/switchyard-dev/switchyard/shared/card"
	"github.com/switchyard-dev/switchyard/shared/event"
)

// agentResult remembers what the agent says that the run has cost: the turn's end tells it.
func (s *State) agentResult(f Fact) {
	p, ok := read[event.AgentResultPayload](f)
	if !ok {
		return
	}
	t := s.of(f.Run)
	if m := metricsOf(p.Usage); m != nil {
		m.BudgetSpent, m.BudgetLimit = t.usage.BudgetSpent, t.usage.BudgetLimit
		t.usage = *m
		s.model = cmp.Or(m.Model, s.model)
	}
}

// sessionInit remembers the model that an agent begins with.
func (s *State) sessionInit(f Fact) {
	if p, ok := read[event.SessionInitPayload](f); ok {
		s.model = cmp.Or(firstBytes(p.Model, maxModel), s.model)
	}
}

// metricsOf reads an agent's usage, under the names that providers have for the same counts; nil if there is nothing in it.
func metricsOf(usage json.RawMessage) *card.Metrics {
	if len(usage) == 0 {
		return nil
	}
	var fields map[string]any
	if json.Unmarshal(usage, &fields) != nil {
		return nil
	}
	m := card.Metrics{
		TokensIn:         count(fields, "input_tokens", "tokens_in", "prompt_tokens"),
		TokensOut:        count(fields, "output_tokens", "tokens_out", "completion_tokens"),
		CacheReadTokens:  count(fields, "cache_read_input_tokens", "cached_input_tokens", "cache_read_tokens"),
		CacheWriteTokens: count(fields, "cache_creation_input_tokens", "cache_write_tokens"),
		CostUSD:          number(fields, "cost_usd", "total_cost_usd"),
	}
	m.Model, _ = fields["model"].(string)
	m.Model = firstBytes(m.Model, maxModel)
	if m == (card.Metrics{}) {
		return nil
	}
	return &m
}

const maxModel = 128 // bytes of a model's name

// number is the first of the fields that is a count of something.
func number(fields map[string]any, names ...string) float64 {
	for _, name := range names {
		if v, ok := fields[name].(float64); ok && v > 0 {
			return v
		}
	}
	return 0
}

const mostTokens = 1 << 53 // what a reader in any language can count to

func count(fields map[string]any, names ...string) int64 {
	return int64(min(number(fields, names...), mostTokens))
}
