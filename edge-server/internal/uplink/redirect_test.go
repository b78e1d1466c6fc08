package uplink_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/edge-server/internal/uplink"
)

// An enrolment token and a credential are for the hub that the edge was told of.
func TestNoRedirectIsFollowed(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		t.Errorf("%s %s came elsewhere, with %q and %q", r.Method, r.URL, r.Header.Get("Authorization"), body)
	}))
	t.Cleanup(elsewhere.Close)
	h := newHub(t)
	h.http.Config.Handler = http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect)
	_, err := uplink.Enrol(t.Context(), h.http.URL, uplink.Enrolment{Token: "sye_token"})
	if err == nil || !strings.Contains(err.Error(), elsewhere.URL) {
		t.Errorf("enrolment: %v, want where it leads", err)
	}
	e := connect(t, h, credential)
	eventually(t, "the refusal", func() bool { return strings.Contains(e.Status().Detail, elsewhere.URL) })
}
