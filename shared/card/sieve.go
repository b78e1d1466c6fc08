package card

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"slices"
)

const (
	firstFilter = 128  // bytes
	lastFilter  = 2048 // bytes; the filter of this size is never full
	bitsPerText = 10
	probes      = 7
)

// sieve is a set of texts in little room: it never forgets one, and rarely takes one for known that is not. It is a row of Bloom filters, each
// twice as large as the one before, so that few texts need few bytes. With many thousands of texts it takes more and more for known; whoever
// asks gives those another name, which costs beauty alone.
type sieve struct {
	filters [][]byte
	held    int // texts in the last filter
}

func (s *sieve) has(text string) bool {
	places := spots(text)
	for _, f := range s.filters {
		if covers(f, places) {
			return true
		}
	}
	return false
}

func (s *sieve) add(text string) {
	if len(s.filters) == 0 {
		s.filters = append(s.filters, make([]byte, firstFilter))
	}
	last := s.filters[len(s.filters)-1]
	if size := len(last); s.held >= size*8/bitsPerText && size < lastFilter {
		last = make([]byte, size*2)
		s.filters, s.held = append(s.filters, last), 0
	}
	for _, place := range spots(text) {
		bit := place % uint64(len(last)*8)
		last[bit/8] |= 1 << (bit % 8)
	}
	s.held++
}

// spots spreads a text over two halves of a hash, as is enough for a filter.
func spots(text string) [probes]uint64 {
	sum := sha256.Sum256([]byte(text))
	a, b := binary.BigEndian.Uint64(sum[:8]), binary.BigEndian.Uint64(sum[8:16])
	var places [probes]uint64
	for i := range places {
		places[i] = a + uint64(i)*b
	}
	return places
}

func covers(filter []byte, places [probes]uint64) bool {
	for _, place := range places {
		bit := place % uint64(len(filter)*8)
		if filter[bit/8]&(1<<(bit%8)) == 0 {
			return false
		}
	}
	return true
}

type sieveState struct {
	Filters [][]byte `json:"filters,omitempty"`
	Held    int      `json:"held,omitempty"`
}

// MarshalJSON writes what a checkpoint keeps.
func (u IDs) MarshalJSON() ([]byte, error) {
	return json.Marshal(sieveState{Filters: u.used.filters, Held: u.used.held})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (u *IDs) UnmarshalJSON(state []byte) error {
	var s sieveState
	if err := json.Unmarshal(state, &s); err != nil {
		return err
	}
	if slices.ContainsFunc(s.Filters, func(filter []byte) bool { return len(filter) == 0 }) {
		return errors.New("card ids: an empty filter")
	}
	u.used = sieve{filters: s.Filters, held: s.Held}
	return nil
}
