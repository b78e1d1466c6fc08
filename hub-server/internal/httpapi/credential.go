package httpapi

import (
	"crypto/subtle"
	"net"
	"net/http"
	"strings"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/shared/fault"
)

const sessionCookie = "switchyard_session"

// bearer returns the token of the Authorization header, "" when there is none.
func bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// accessToken finds a person's credential: the header, or the cookie of a page that is trusted. A cookie comes unasked, so unless the
// browser says which page sent it nobody knows (SEC1, SEC2).
func accessToken(r *http.Request, page origin) (account.AccessToken, error) {
	if token := bearer(r); token != "" {
		return account.AccessToken(token), nil
	}
	cookie, err := r.Cookie(sessionCookie)
	if err != nil || cookie.Value == "" {
		return "", fault.New(fault.Unauthenticated, "Log in first: this address needs an access token in the Authorization header.")
	}
	if page == "" && !fromOwnPage(r) {
		return "", originRefused()
	}
	return account.AccessToken(cookie.Value), nil
}

// fromOwnPage says whether the browser itself vouches that a page of the very origin that is asked sent the request. When such a page
// reads, as EventSource does, browsers send no Origin but this; no page can set or change a header of that name.
func fromOwnPage(r *http.Request) bool {
	return r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Site") == "same-origin"
}

// newSessionCookie holds the access token for a browser, out of reach of its scripts.
func newSessionCookie(token account.AccessToken, page origin) string {
	return (&http.Cookie{
		Name: sessionCookie, Value: string(token), Path: "/", MaxAge: int(account.AccessLifetime.Seconds()),
		HttpOnly: true, Secure: page.secure(), SameSite: http.SameSiteStrictMode,
	}).String()
}

func clearedSessionCookie(page origin) string {
	return (&http.Cookie{
		Name: sessionCookie, Path: "/", MaxAge: -1, HttpOnly: true, Secure: page.secure(), SameSite: http.SameSiteStrictMode,
	}).String()
}

// mayScrape says whether the request may read metrics: with the token if one is set, else only straight from this machine.
func mayScrape(r *http.Request, token string) bool {
	if token != "" {
		return subtle.ConstantTimeCompare([]byte(bearer(r)), []byte(token)) == 1
	}
	for _, forwarded := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Via"} {
		if r.Header.Get(forwarded) != "" {
			return false
		}
	}
	ip := net.ParseIP(peer(r))
	return ip != nil && ip.IsLoopback()
}
