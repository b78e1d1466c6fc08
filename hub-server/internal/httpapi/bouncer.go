package httpapi

import (
	"context"
	"net/http"

	"github.com/switchyard-dev/switchyard/shared/fault"
)

// bouncer turns away what comes on a connection for which there is no place.
type bouncer struct {
	surplus  func(context.Context) bool
	problems problems
	next     http.Handler
}

// ServeHTTP serves the request, or says that there is no place for it.
func (b bouncer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if b.surplus != nil && b.surplus(r.Context()) {
		w.Header().Set("Connection", "close")
		b.problems.answer(w, r, fault.New(fault.Busy, "This hub has as many connections open as it can. Try again in a moment."))
		return
	}
	b.next.ServeHTTP(w, r)
}
