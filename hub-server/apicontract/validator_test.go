package apicontract

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	userID    = "user_0190b4c2-7f7a-7cc1-a94e-2f0d3c1b9a55"
	sessionID = "sess_0190b4c2-7f7a-7cc1-a94e-2f0d3c1b9a55"
	readMark  = `{"session_id":"` + sessionID + `","user_id":"` + userID + `","last_read_seq":4}`
	notFound  = `{"type":"urn:switchyard:problem:not_found","title":"Not found","status":404,"detail":"No such session.",` +
		`"code":"not_found","traceId":"4bf92f3577b34da6a3ce929d0e0e4736"}`
)

func TestAnswersAreHeldToTheContract(t *testing.T) {
	cases := map[string]struct {
		method, path, contentType, body string
		status                          int
		wrong                           string // part of the report; empty: nothing to report
	}{
		"as written":            {"POST", "/read", "application/json", readMark, 200, ""},
		"a problem":             {"POST", "/read", "application/problem+json", notFound, 404, ""},
		"undocumented field":    {"POST", "/read", "application/json", strings.Replace(readMark, "{", `{"extra":1,`, 1), 200, "extra"},
		"missing field":         {"POST", "/read", "application/json", `{"session_id":"` + sessionID + `"}`, 200, "user_id"},
		"malformed id":          {"POST", "/read", "application/json", strings.Replace(readMark, "sess_", "chat_", 1), 200, "session_id"},
		"wrong type":            {"POST", "/read", "application/json", strings.Replace(readMark, "4}", `"4"}`, 1), 200, "last_read_seq"},
		"wrong content type":    {"POST", "/read", "text/plain", readMark, 200, "text/plain"},
		"error without problem": {"POST", "/read", "text/plain; charset=utf-8", "404 page not found", 404, "text/plain"},
		"unknown code":          {"POST", "/read", "application/problem+json", strings.ReplaceAll(notFound, "not_found", "lost"), 404, "code"},
		"code of other status":  {"POST", "/read", "application/problem+json", strings.Replace(notFound, "404", "403", 1), 403, "not_found"},
		"status of other kind":  {"POST", "/read", "application/problem+json", notFound, 403, "404"},
		"unknown path":          {"GET", "/nowhere", "application/json", "{}", 200, "not in the contract"},
		"unknown method":        {"PATCH", "/read", "application/json", "{}", 200, "not in the contract"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			reports := exchange(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.contentType)
				w.WriteHeader(c.status)
				io.WriteString(w, c.body)
			}, c.method, "/client/sessions/"+sessionID+c.path, `{"last_read_seq":4}`, "Bearer token")
			expectReport(t, reports, c.wrong)
		})
	}
}

func TestAcceptedRequestsAreHeldToTheContract(t *testing.T) {
	cases := map[string]struct{ body, authorization, wrong string }{
		"as written":    {`{"last_read_seq":4}`, "Bearer token", ""},
		"unknown field": {`{"last_read_seq":4,"user_id":"` + userID + `"}`, "Bearer token", "user_id"},
		"out of bounds": {`{"last_read_seq":-1}`, "Bearer token", "last_read_seq"},
		"no credential": {`{"last_read_seq":4}`, "", "bearer"},
		"wrong scheme":  {`{"last_read_seq":4}`, "Basic dXNlcg==", "bearer"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			reports := exchange(t, func(w http.ResponseWriter, r *http.Request) {
				if body, err := io.ReadAll(r.Body); err != nil || string(body) != c.body {
					t.Errorf("the hub read %q, %v", body, err)
				}
				w.Header().Set("Content-Type", "application/json")
				io.WriteString(w, readMark)
			}, "POST", "/client/sessions/"+sessionID+"/read", c.body, c.authorization)
			expectReport(t, reports, c.wrong)
		})
	}
}

func TestRefusedRequestsAreNotHeldToTheContract(t *testing.T) {
	reports := exchange(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusNotFound)
		io.WriteString(w, notFound)
	}, "POST", "/client/sessions/"+sessionID+"/read", `{"nonsense":true}`, "")
	expectReport(t, reports, "")
}

func TestACookieOrASubprotocolIsACredentialWhereTheContractSaysSo(t *testing.T) {
	validator := newValidator(t)
	cases := map[string]struct {
		path, header, value string
		ok                  bool
	}{
		"cookie for a client":          {"/client/auth/me", "Cookie", "switchyard_session=x", true},
		"other cookie":                 {"/client/auth/me", "Cookie", "session=x", false},
		"subprotocol for a socket":     {"/client/ws", "Sec-WebSocket-Protocol", "switchyard.bearer.v1, x", true},
		"subprotocol for a plain call": {"/client/auth/me", "Sec-WebSocket-Protocol", "switchyard.bearer.v1, x", false},
		"cookie for an edge":           {"/edge/uplink", "Cookie", "switchyard_session=x", false},
		"nothing for a health page":    {"/healthz", "Accept", "*/*", true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			request := httptest.NewRequest(http.MethodGet, c.path, nil)
			request.Header.Set(c.header, c.value)
			if err := validator.Request(request); (err == nil) != c.ok {
				t.Errorf("accepted %t: %v", err == nil, err)
			}
		})
	}
}

func TestFramesAreHeldToTheContract(t *testing.T) {
	validator := newValidator(t)
	typing := `{"session_id":"` + sessionID + `","user_id":"` + userID + `"}`
	cases := map[string]struct{ frame, wrong string }{
		"as written":           {`{"type":"typing","seq_id":7,"payload":` + typing + `}`, ""},
		"with a cursor":        {`{"type":"message.read","seq_id":7,"payload":` + readMark + `,"cursor":"c1.x"}`, ""},
		"not JSON":             {`{"type":`, "not JSON"},
		"unknown type":         {`{"type":"agent.timeout","seq_id":7,"payload":{}}`, "type"},
		"unknown frame field":  {`{"type":"typing","seq":7,"payload":` + typing + `}`, "seq"},
		"seq_id zero":          {`{"type":"typing","seq_id":0,"payload":` + typing + `}`, "seq_id"},
		"payload of another":   {`{"type":"typing","seq_id":7,"payload":` + readMark + `}`, "payload of typing"},
		"payload missing":      {`{"type":"typing","seq_id":7}`, "payload"},
		"payload a string":     {`{"type":"typing","seq_id":7,"payload":"x"}`, "payload"},
		"malformed time":       {pinned("yesterday"), "pinned_at"},
		"well-formed time":     {pinned("2026-09-07T10:30:00.123456Z"), ""},
		"payload field absent": {`{"type":"typing","seq_id":7,"payload":{}}`, "session_id"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var reports []error
			if err := validator.Frame([]byte(c.frame)); err != nil {
				reports = append(reports, err)
			}
			expectReport(t, reports, c.wrong)
		})
	}
}

func pinned(at string) string {
	return `{"type":"message.pin","seq_id":1,"payload":{"session_id":"` + sessionID +
		`","message_id":"msg_0190b4c2-7f7a-7cc1-a94e-2f0d3c1b9a55","pinned_by_user_id":"` + userID + `","pinned_at":"` + at + `"}}`
}

// exchange sends one request through a Transport to a hub that is only handler, and returns what the Transport reported.
func exchange(t *testing.T, handler http.HandlerFunc, method, path, body, authorization string) []error {
	t.Helper()
	server := httptest.NewServer(handler)
	defer server.Close()
	var reports []error
	transport := &Transport{
		Base:      server.Client().Transport,
		Validator: newValidator(t),
		Report:    func(err error) { reports = append(reports, err) },
	}
	request, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if authorization != "" {
		request.Header.Set("Authorization", authorization)
	}
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if answered, err := io.ReadAll(response.Body); err != nil || len(answered) == 0 {
		t.Errorf("the client reads %d bytes after the check, %v", len(answered), err)
	}
	return reports
}

// expectReport demands no report for want == "", else a report that has want in it.
func expectReport(t *testing.T, reports []error, want string) {
	t.Helper()
	if want == "" {
		for _, report := range reports {
			t.Errorf("reported: %v", report)
		}
		return
	}
	for _, report := range reports {
		if strings.Contains(report.Error(), want) {
			return
		}
	}
	t.Errorf("no report about %q in %v", want, reports)
}

func newValidator(t *testing.T) *Validator {
	t.Helper()
	validator, err := New(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return validator
}
