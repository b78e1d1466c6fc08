package localapi

import (
	"math"
	"net/url"
	"slices"
	"strconv"

	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

// cursor is the number of the row that a program expects next. The zero value means that it wants none of the past.
type cursor wire.ProducerSeq

// parseCursor reads `cursor`, or its alias `pageCursor`. A program that has seen nothing may begin with 0 or 1.
func parseCursor(q url.Values) (cursor, error) {
	given := slices.Concat(q["cursor"], q["pageCursor"])
	if len(given) == 0 {
		return 0, nil
	}
	n, ok := parseSeq(given[0])
	if len(given) > 1 || !ok {
		return 0, fault.New(fault.CursorInvalid, "cursor must be given once, as the number of the event that you expect next.")
	}
	return cursor(max(n, 1)), nil
}

// parseAfter reads `after_seq`, the number of the last event that a program has seen.
func parseAfter(q url.Values) (wire.ProducerSeq, error) {
	given := q["after_seq"]
	if len(given) == 0 {
		return 0, nil
	}
	n, ok := parseSeq(given[0])
	if len(given) > 1 || !ok {
		return 0, fault.New(fault.CursorInvalid, "after_seq must be the number of the last event that you have.")
	}
	return n, nil
}

// parseSeq accepts what the journal can number.
func parseSeq(s string) (wire.ProducerSeq, bool) {
	n, err := strconv.ParseUint(s, 10, 64)
	return wire.ProducerSeq(n), err == nil && n < math.MaxInt64
}

// parseLimit reads `limit`: at least 1; more than most counts as most.
func parseLimit(q url.Values, usual, most int) (int, error) {
	given := q.Get("limit")
	if given == "" {
		return usual, nil
	}
	n, err := strconv.Atoi(given)
	if err != nil || n < 1 {
		return 0, fault.New(fault.InvalidRequest, "limit must be a number from 1 to %d.", most)
	}
	return min(n, most), nil
}
