package client

import (
	"fmt"
	"net/http"
	"testing"
)

func TestSearchAsksForAsManyPagesAsAreTaken(t *testing.T) {
	var asked []string
	c := fileClient(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.RawQuery)
		page := r.URL.Query().Get("after")
		if page == "p3" {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"type":"x","title":"x","status":400,"code":"cursor_invalid","traceId":"x"}`)
			return
		}
		next := map[string]string{"": "p1", "p1": "p2", "p2": "p3"}[page]
		fmt.Fprintf(w, `{"items":[{"id":"msg_%s"}],"next":%q,"partial":false}`, page, next)
	})
	for m, err := range c.Search(t.Context(), "a b", "sess_1") {
		if err != nil {
			t.Fatal(err)
		}
		if m.ID == "msg_p1" {
			break
		}
	}
	if got, want := fmt.Sprint(asked), "[q=a+b&session_id=sess_1 q=a+b&session_id=sess_1&after=p1]"; got != want {
		t.Errorf("asked %s, want %s", got, want)
	}
	found, last := 0, error(nil)
	for _, err := range c.Search(t.Context(), "a", "") {
		if last = err; err == nil {
			found++
		}
	}
	if found != 3 || CodeOf(last) != ProblemCodeCursorInvalid {
		t.Errorf("%d found, then %v", found, last)
	}
}
