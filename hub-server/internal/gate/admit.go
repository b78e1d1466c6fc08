package gate

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/telemetry"
)

const (
	bearerProtocol = "switchyard.bearer.v1" // marker of the subprotocol pair; all that the server answers (ruling R16)
	sessionCookie  = "switchyard_session"
)

// carrier is how a credential came.
type carrier uint8

const (
	byHeader   carrier = iota + 1 // Authorization
	byProtocol                    // subprotocol pair
	byCookie                      // only a browser sends it, and sends it unasked
)

// Admission decides whether a request may become a socket, and whose. Safe for concurrent use.
type Admission struct {
	devices Devices
	origins originList
}

// NewAdmission lets in whom devices knows, and browser pages of the origins alone: scheme://host[:port], exactly as a browser writes them.
func NewAdmission(devices Devices, origins []string) Admission {
	return Admission{devices: devices, origins: newOriginList(origins)}
}

// Admit decides on the request alone, before the upgrade: there is no unauthenticated socket (SEC1 to SEC3). Its errors are faults.
func (a Admission) Admit(r *http.Request) (account.Principal, error) {
	if err := checkQuery(r.URL.Query()); err != nil {
		return account.Principal{}, err
	}
	if err := checkUpgrade(r); err != nil {
		return account.Principal{}, err
	}
	token, by := credential(r)
	if by == 0 {
		return account.Principal{}, fault.New(fault.Unauthenticated,
			"Connect with an access token: in the Authorization header, or as the second subprotocol behind %s.", bearerProtocol)
	}
	if err := a.origins.check(r.Header.Values("Origin"), by); err != nil {
		return account.Principal{}, err
	}
	return a.devices.Authenticate(r.Context(), token)
}

// checkQuery refuses tokens in the URL, where logs and histories would keep them.
func checkQuery(query url.Values) error {
	for name, values := range query {
		if telemetry.Secret(name) || name == "jwt" || name == "bearer" || slices.ContainsFunc(values, looksLikeToken) {
			return fault.New(fault.InvalidRequest, "Send the access token in a header, never in the URL, and get a new one: this one may be in logs now.")
		}
	}
	return nil
}

// looksLikeToken recognises a JWT: three parts, the first of which begins like a JSON object.
func looksLikeToken(value string) bool {
	return strings.HasPrefix(value, "eyJ") && strings.Count(value, ".") == 2
}

// checkUpgrade lets ordinary requests hear of their mistake as a problem; the library judges the rest of the handshake.
func checkUpgrade(r *http.Request) error {
	if r.Method != http.MethodGet || !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") || r.Header.Get("Sec-WebSocket-Key") == "" {
		return fault.New(fault.InvalidRequest, "This address speaks WebSocket only. Open it with a WebSocket client.")
	}
	return nil
}

// credential finds the token; carrier 0 means that there is none. A header wins over a cookie.
func credential(r *http.Request) (account.AccessToken, carrier) {
	if scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		return account.AccessToken(strings.TrimSpace(token)), byHeader
	}
	if token, ok := protocolToken(r.Header.Values("Sec-WebSocket-Protocol")); ok {
		return account.AccessToken(token), byProtocol
	}
	if cookie, err := r.Cookie(sessionCookie); err == nil && cookie.Value != "" {
		return account.AccessToken(cookie.Value), byCookie
	}
	return "", 0
}

// protocolToken reads `switchyard.bearer.v1, <jwt>`.
func protocolToken(headers []string) (string, bool) {
	offered := strings.Split(strings.Join(headers, ","), ",")
	if len(offered) != 2 || strings.TrimSpace(offered[0]) != bearerProtocol {
		return "", false
	}
	token := strings.TrimSpace(offered[1])
	return token, token != ""
}

// originList is the browser pages that may connect.
type originList map[string]struct{}

func newOriginList(origins []string) originList {
	list := originList{}
	for _, o := range origins {
		list[strings.ToLower(strings.TrimSuffix(o, "/"))] = struct{}{}
	}
	return list
}

// check compares whole origins, scheme and port included. A program that is no browser sends none, and then must not come by cookie.
func (l originList) check(origins []string, by carrier) error {
	if len(origins) == 0 && by != byCookie {
		return nil
	}
	if len(origins) == 1 {
		if _, ok := l[strings.ToLower(origins[0])]; ok {
			return nil
		}
	}
	return fault.New(fault.OriginRefused, "This page may not connect to the hub. Its origin is not among those that the hub trusts.")
}
