package retry

import (
	"strconv"
	"strings"
	"time"
)

// After reads the value of a Retry-After header, seconds or a date (RFC 9110 §10.2.3). It returns 0 for a date that has passed, and for anything
// that it cannot read. Seconds may have a fraction, as some providers send them.
func After(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		return inSeconds(seconds)
	}
	for _, layout := range []string{"Mon, 02 Jan 2006 15:04:05 GMT", time.RFC850, time.ANSIC} {
		if at, err := time.Parse(layout, value); err == nil {
			return max(0, at.Sub(now))
		}
	}
	return 0
}

// inSeconds keeps what no provider means, such as a number beyond a day, from running over.
func inSeconds(seconds float64) time.Duration {
	if !(seconds > 0) { // also not a number
		return 0
	}
	return time.Duration(min(seconds, (24*time.Hour).Seconds()) * float64(time.Second))
}
