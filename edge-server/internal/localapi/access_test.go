package localapi_test

import (
	"net/http"
	"testing"

	"github.com/coder/websocket"
	"github.com/switchyard-dev/switchyard/shared/fault"
)

// bearer lets a program in by its header.
func bearer(o *websocket.DialOptions) { o.HTTPHeader.Set("Authorization", "Bearer "+string(token)) }

// dial opens a socket; the caller closes it.
func (r *rig) dial(query string, auth func(*websocket.DialOptions)) *websocket.Conn {
	r.t.Helper()
	c, _, err := r.tryDial(query, auth)
	if err != nil {
		r.t.Fatalf("%s: %v", query, err)
	}
	return c
}

// tryDial returns the status of the answer too.
func (r *rig) tryDial(query string, auth func(*websocket.DialOptions)) (*websocket.Conn, int, error) {
	r.t.Helper()
	options := &websocket.DialOptions{
		HTTPHeader: http.Header{}, HTTPClient: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
	}
	auth(options)
	c, answer, err := websocket.Dial(r.t.Context(), "ws://"+r.addr+"/v1/events"+query, options)
	if answer == nil {
		r.t.Fatalf("%s: %v", query, err)
	}
	return c, answer.StatusCode, err
}

func TestTokenOpensTheSocketByEveryCarrierAndNoOther(t *testing.T) {
	const marker = "switchyard.edge.bearer.v1"
	header := func(name, value string) func(*websocket.DialOptions) {
		return func(o *websocket.DialOptions) { o.HTTPHeader.Set(name, value) }
	}
	protocols := func(list ...string) func(*websocket.DialOptions) {
		return func(o *websocket.DialOptions) { o.Subprotocols = list }
	}
	const opened, refused = http.StatusSwitchingProtocols, http.StatusUnauthorized
	for name, tt := range map[string]struct {
		auth func(*websocket.DialOptions)
		want int
	}{
		"bearer":                   {bearer, opened},
		"bearer in other case":     {header("Authorization", "bearer "+string(token)), opened},
		"header of other edges":    {header("X-AgentHub-Edge-Token", string(token)), opened},
		"subprotocol pair":         {protocols(marker, string(token)), opened},
		"nothing":                  {header("X-Other", "x"), refused},
		"wrong bearer":             {header("Authorization", "Bearer "+string(token)+"x"), refused},
		"another scheme":           {header("Authorization", "Basic "+string(token)), refused},
		"empty bearer":             {header("Authorization", "Bearer "), refused},
		"wrong header":             {header("X-AgentHub-Edge-Token", "x"), refused},
		"wrong token in the pair":  {protocols(marker, "x"), refused},
		"marker alone":             {protocols(marker), refused},
		"pair the wrong way round": {protocols(string(token), marker), refused},
		"the hub's marker":         {protocols("switchyard.bearer.v1", string(token)), refused},
		"cookie":                   {header("Cookie", "switchyard_session="+string(token)), refused},
		"wrong bearer, right header": {func(o *websocket.DialOptions) {
			o.HTTPHeader = http.Header{"Authorization": {"Bearer x"}, "X-Agenthub-Edge-Token": {string(token)}}
		}, refused},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			c, status, err := r.tryDial("", tt.auth)
			if status != tt.want {
				t.Fatalf("got %d, %v", status, err)
			}
			if c == nil {
				return
			}
			defer c.CloseNow()
			if name == "subprotocol pair" && c.Subprotocol() != marker {
				t.Errorf("the answer names %q", c.Subprotocol())
			}
		})
	}
}

func TestPagesOfOtherOriginsMayNotFollow(t *testing.T) {
	r := newRig(t)
	for origin, want := range map[string]int{
		string(trusted):                      http.StatusSwitchingProtocols,
		"HTTP://LOCALHOST:5173":              http.StatusSwitchingProtocols,
		"http://" + r.addr:                   http.StatusForbidden,
		"http://localhost:5174":              http.StatusForbidden,
		"http://localhost":                   http.StatusForbidden,
		"https://localhost:5173":             http.StatusForbidden,
		"http://sub.localhost:5173":          http.StatusForbidden,
		"http://localhost:5173.evil.test":    http.StatusForbidden,
		"http://evil.test/?http://localhost": http.StatusForbidden,
		"null":                               http.StatusForbidden,
	} {
		c, status, err := r.tryDial("", func(o *websocket.DialOptions) {
			bearer(o)
			o.HTTPHeader.Set("Origin", origin)
		})
		if status != want {
			t.Errorf("%s: got %d, %v", origin, status, err)
		}
		if c != nil {
			c.CloseNow()
		}
	}
}

func TestBadRequestsGetACodeAndASentence(t *testing.T) {
	r := newRig(t)
	run := r.admit()
	r.say(run, 3)
	for path, want := range map[string]struct {
		status int
		code   fault.Code
	}{
		"/v1/events?cursor=1&token=x":                     {http.StatusBadRequest, fault.InvalidRequest},
		"/v1/events?cursor=1&access_token=x":              {http.StatusBadRequest, fault.InvalidRequest},
		"/v1/runs?x=" + string(token):                     {http.StatusBadRequest, fault.InvalidRequest},
		"/v1/events?cursor=":                              {http.StatusBadRequest, fault.CursorInvalid},
		"/v1/events?cursor=-1":                            {http.StatusBadRequest, fault.CursorInvalid},
		"/v1/events?cursor=1.0":                           {http.StatusBadRequest, fault.CursorInvalid},
		"/v1/events?cursor=18446744073709551616":          {http.StatusBadRequest, fault.CursorInvalid},
		"/v1/events?cursor=1&pageCursor=1":                {http.StatusBadRequest, fault.CursorInvalid},
		"/v1/events?cursor=5":                             {http.StatusUnprocessableEntity, fault.CursorAhead},
		"/v1/events?incarnation=other":                    {http.StatusConflict, fault.CursorReset},
		"/v1/runs?limit=0":                                {http.StatusBadRequest, fault.InvalidRequest},
		"/v1/runs?limit=many":                             {http.StatusBadRequest, fault.InvalidRequest},
		"/v1/runs?before=run_0000000000000000":            {http.StatusNotFound, fault.NotFound},
		"/v1/runs/run_0000000000000000/events":            {http.StatusNotFound, fault.NotFound},
		"/v1/runs/nonsense/events":                        {http.StatusNotFound, fault.NotFound},
		"/v1/runs/" + string(run) + "/events?after_seq=x": {http.StatusBadRequest, fault.CursorInvalid},
		"/v1/runs/" + string(run) + "/events?after_seq=4": {http.StatusUnprocessableEntity, fault.CursorAhead},
		"/v1/runs/" + string(run) + "/events?limit=-1":    {http.StatusBadRequest, fault.InvalidRequest},
	} {
		var p struct {
			Code   fault.Code
			Detail string
			Status int
		}
		if status := r.get(path, &p); status != want.status || p.Status != status || p.Code != want.code || p.Detail == "" {
			t.Errorf("%s: got %d %+v", path, status, p)
		}
	}
}
