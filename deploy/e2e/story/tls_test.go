package story

import (
	"bufio"
	"net/http"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// A hub with a certificate of its own serves streams over HTTP/2, and devices and edges through WebSockets on the same port; a renewed
// certificate disturbs nobody.
func TestOverTLSStreamsAreHTTP2AndSocketsWork(t *testing.T) {
	t.Parallel()
	s := sceneOf(t, rig.New(t, rig.Options{TLS: true}), "--events", "700", "--rate", "60", "--tools")
	run := s.begin()
	browser := s.Transport() // one for all of a browser's tabs
	t.Cleanup(browser.CloseIdleConnections)
	first, second := s.overHTTP2(browser, run), s.overHTTP2(browser, run)
	before := s.serial()
	s.RenewCertificate()
	s.Eventually("the renewed certificate", func() bool { return s.serial() != before })
	s.Proxy.Cut() // the edge comes back and is shown the new one

	s.complete(run)
	log := s.Owner().Log(run)
	for name, got := range map[string]int{"first": <-first, "second": <-second} {
		if got != len(log) {
			t.Errorf("the %s stream had %d events, the log has %d", name, got, len(log))
		}
	}
	plain, err := (&http.Client{Transport: s.Transport()}).Get(strings.Replace(s.HubURL(), "https", "http", 1) + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Body.Close()
	if plain.StatusCode != http.StatusBadRequest {
		t.Errorf("without TLS the port answers %s", plain.Status)
	}
}

// overHTTP2 follows a run over HTTP/2. How many events there were comes in the end.
func (s *scene) overHTTP2(through *http.Transport, run id.Run) <-chan int {
	s.t.Helper()
	login, err := s.a.Keeper.Load()
	if err != nil {
		s.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.HubURL()+"/api/agent-runs/"+string(run)+"/events", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+login.AccessToken)
	resp, err := (&http.Client{Transport: through}).Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	if resp.Proto != "HTTP/2.0" || resp.StatusCode != http.StatusOK {
		s.t.Errorf("the stream is %s %s", resp.Proto, resp.Status)
	}
	events := make(chan int, 1)
	go func() {
		defer resp.Body.Close()
		n := 0
		lines := bufio.NewScanner(resp.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), "id: ") {
				n++
			}
		}
		events <- n
	}()
	return events
}

// serial is that of the certificate which the hub shows to whoever comes now.
func (s *scene) serial() string {
	s.t.Helper()
	once := s.Transport()
	defer once.CloseIdleConnections()
	resp, err := (&http.Client{Transport: once}).Get(s.HubURL() + "/healthz")
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.TLS.PeerCertificates[0].SerialNumber.String()
}
