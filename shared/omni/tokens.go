package omni

import (
	"bytes"
	"encoding/json"
	"errors"
)

// Count counts tokens, turns, attempts or milliseconds. Every reader of JSON has it exactly up to MaxCount.
type Count int64

// MaxCount is the largest number that a JavaScript program has exactly.
const MaxCount Count = 1<<53 - 1

var errCount = errors.New("is no whole number")

// UnmarshalJSON reads any whole number, however it is written: 12, 12.0 or 1.2e1.
func (c *Count) UnmarshalJSON(value []byte) error {
	var number float64
	if bytes.Equal(value, []byte("null")) || json.Unmarshal(value, &number) != nil {
		return errCount
	}
	if number < -float64(MaxCount) || number > float64(MaxCount) || number != float64(int64(number)) {
		return errCount
	}
	*c = Count(number)
	return nil
}

// Plus adds, and stays at MaxCount rather than to leave it.
func (c Count) Plus(more Count) Count {
	if more > 0 && c > MaxCount-more {
		return MaxCount
	}
	return c + more
}

// TokenCounts is how many tokens a request or a session used (S1, token_usage). Total is the provider's own sum: it has the fresh input too, which
// no other field counts. The zero TokenCounts is that of a session without a request.
type TokenCounts struct {
	CacheRead  Count `json:"cache_read"`
	CacheWrite Count `json:"cache_write"`
	Output     Count `json:"output"`
	Total      Count `json:"total"`
}

// Plus returns the counts of both.
func (c TokenCounts) Plus(more TokenCounts) TokenCounts {
	return TokenCounts{
		CacheRead: c.CacheRead.Plus(more.CacheRead), CacheWrite: c.CacheWrite.Plus(more.CacheWrite),
		Output: c.Output.Plus(more.Output), Total: c.Total.Plus(more.Total),
	}
}

// IsZero says whether nothing was used.
func (c TokenCounts) IsZero() bool { return c == TokenCounts{} }
