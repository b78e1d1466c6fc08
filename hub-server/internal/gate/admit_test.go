package gate

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"testing"

	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

// upgrade is a WebSocket handshake with the given headers.
func upgrade(target string, headers http.Header) *http.Request {
	r := httptest.NewRequest(http.MethodGet, target, nil)
	r.Header = headers.Clone()
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "websocket")
	r.Header.Set("Sec-WebSocket-Version", "13")
	r.Header.Set("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")
	return r
}

func TestCredentialsAndOrigins(t *testing.T) {
	w := newWorld(t)
	g := New(Deps{Log: quiet(), Metrics: telemetry.NewRegistry("hub"), Devices: w.devices, Origins: []string{"https://app.example", "http://127.0.0.1:8080/"}})
	token, who := w.login(id.NewUser())
	header := func(pairs ...string) http.Header {
		h := http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			h.Add(pairs[i], pairs[i+1])
		}
		return h
	}
	bearer, cookie, protocol := "Bearer "+string(token), sessionCookie+"="+string(token), bearerProtocol+", "+string(token)
	for name, c := range map[string]struct {
		headers http.Header
		want    fault.Code
	}{
		"nothing":                       {header(), fault.Unauthenticated},
		"header":                        {header("Authorization", bearer), ""},
		"header, small scheme":          {header("Authorization", "bearer "+string(token)), ""},
		"header, other scheme":          {header("Authorization", "Basic "+string(token)), fault.Unauthenticated},
		"header, forged":                {header("Authorization", "Bearer x"), fault.Unauthenticated},
		"protocol pair":                 {header("Sec-WebSocket-Protocol", protocol), ""},
		"protocol pair in two lines":    {header("Sec-WebSocket-Protocol", bearerProtocol, "Sec-WebSocket-Protocol", string(token)), ""},
		"marker alone":                  {header("Sec-WebSocket-Protocol", bearerProtocol), fault.Unauthenticated},
		"another protocol":              {header("Sec-WebSocket-Protocol", "chat, "+string(token)), fault.Unauthenticated},
		"pair and a third":              {header("Sec-WebSocket-Protocol", protocol+", chat"), fault.Unauthenticated},
		"cookie with origin":            {header("Cookie", cookie, "Origin", "https://app.example"), ""},
		"cookie, second origin":         {header("Cookie", cookie, "Origin", "http://127.0.0.1:8080"), ""},
		"cookie without origin":         {header("Cookie", cookie), fault.OriginRefused},
		"cookie, evil origin":           {header("Cookie", cookie, "Origin", "https://evil.example"), fault.OriginRefused},
		"cookie, sub-domain":            {header("Cookie", cookie, "Origin", "https://x.app.example"), fault.OriginRefused},
		"cookie, suffix trick":          {header("Cookie", cookie, "Origin", "https://app.example.evil.com"), fault.OriginRefused},
		"cookie, other scheme":          {header("Cookie", cookie, "Origin", "http://app.example"), fault.OriginRefused},
		"cookie, other port":            {header("Cookie", cookie, "Origin", "https://app.example:444"), fault.OriginRefused},
		"cookie, null":                  {header("Cookie", cookie, "Origin", "null"), fault.OriginRefused},
		"cookie, two origins":           {header("Cookie", cookie, "Origin", "https://app.example", "Origin", "https://app.example"), fault.OriginRefused},
		"header, trusted origin":        {header("Authorization", bearer, "Origin", "https://app.example"), ""},
		"header, evil origin":           {header("Authorization", bearer, "Origin", "https://evil.example"), fault.OriginRefused},
		"protocol, evil origin":         {header("Sec-WebSocket-Protocol", protocol, "Origin", "https://evil.example"), fault.OriginRefused},
		"empty cookie":                  {header("Cookie", sessionCookie+"="), fault.Unauthenticated},
		"bad header beside good cookie": {header("Authorization", "Bearer x", "Cookie", cookie, "Origin", "https://app.example"), fault.Unauthenticated},
	} {
		got, err := g.door.Admit(upgrade("/client/ws", c.headers))
		if fault.CodeOf(err) != c.want || (err == nil && got != who) {
			t.Errorf("%s: got %q, want %q", name, fault.CodeOf(err), c.want)
		}
	}
}

func TestTokensInTheURLAreRefused(t *testing.T) {
	w := newWorld(t)
	g := New(Deps{Log: quiet(), Metrics: telemetry.NewRegistry("hub"), Devices: w.devices})
	token, _ := w.login(id.NewUser())
	for _, query := range []string{
		"access_token=x", "token=x", "Authorization=x", "jwt=x", "bearer=x", "api_key=x", "q=eyJhbGciOiJIUzI1NiJ9.e30.c2ln",
		"cursor=eyJhbGciOiJIUzI1NiJ9.e30.c2ln",
	} {
		_, err := g.door.Admit(upgrade("/client/ws?"+query, http.Header{"Authorization": {"Bearer " + string(token)}}))
		if fault.CodeOf(err) != fault.InvalidRequest {
			t.Errorf("%s: got %v, want a refusal", query, err)
		}
	}
	for _, query := range []string{"", "cursor=ARAw", "lang=de"} {
		if err := checkQuery(must(url.ParseQuery(query))); err != nil {
			t.Errorf("%q: %v", query, err)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestAnUnauthenticatedUpgradeStartsNothing(t *testing.T) {
	h := newWorld(t).hub(nil)
	token, _ := h.world.login(id.NewUser())
	c := h.dial(token, "")
	c.greeted() // by now all that serves connections has begun
	before := runtime.NumGoroutine()
	for range 100 {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, upgrade("/client/ws", http.Header{"Authorization": {"Bearer forged"}}))
		if rec.Code != http.StatusUnauthorized {
			t.Fatalf("answered %d", rec.Code)
		}
	}
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines before, %d after", before, after)
	}
}

func TestAnOrdinaryRequestIsToldWhatThisIs(t *testing.T) {
	h := newWorld(t).hub(nil)
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/client/ws", nil))
	if rec.Code != http.StatusBadRequest {
		t.Errorf("answered %d, want 400", rec.Code)
	}
}

func TestTheServerAnswersTheMarkerAlone(t *testing.T) {
	h := newWorld(t).hub(nil)
	token, _ := h.world.login(id.NewUser())
	r := upgrade(h.server.URL+"/client/ws", http.Header{"Sec-Websocket-Protocol": {bearerProtocol + ", " + string(token)}})
	r.RequestURI = ""
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got := resp.Header.Values("Sec-WebSocket-Protocol"); resp.StatusCode != http.StatusSwitchingProtocols || len(got) != 1 || got[0] != bearerProtocol {
		t.Errorf("answered %d with protocols %q", resp.StatusCode, got)
	}
	if resp.Header.Get("Sec-WebSocket-Extensions") != "" {
		t.Error("compression was agreed on")
	}
}
