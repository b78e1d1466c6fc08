package httpapi

import (
	"mime"
	"strconv"
	"strings"
)

const eventStream = "text/event-stream"

// wantsPage says whether an Accept header prefers JSON to a stream. Whoever leaves the choice to us gets the stream.
func wantsPage(accept []string) bool {
	page, stream := 0.0, 0.0
	for part := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		media, params, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		switch media {
		case "application/json":
			page = max(page, quality(params["q"]))
		case eventStream:
			stream = max(stream, quality(params["q"]))
		}
	}
	return page > stream
}

func quality(q string) float64 {
	if q == "" {
		return 1
	}
	value, err := strconv.ParseFloat(q, 64)
	if err != nil {
		return 0
	}
	return value
}
