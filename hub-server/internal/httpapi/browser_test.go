package httpapi_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestSEC1OnlyTrustedPagesMayUseTheHub(t *testing.T) {
	h := newHub(t)
	ada := h.first("ada")
	cookie := "switchyard_session=" + ada.bearer
	for origin, trusted := range map[string]bool{
		ownOrigin:                       true,
		"HTTPS://HUB.EXAMPLE":           true, // hosts have no case
		"https://sub.hub.example":       false,
		"https://hub.example.evil.test": false,
		"https://evilhub.example":       false,
		"http://hub.example":            false,
		"https://hub.example:8443":      false,
		"https://evil.test":             false,
		"null":                          false,
	} {
		withCookie := h.anonymous().with("Cookie", cookie).with("Origin", origin).get("/client/auth/me")
		withBearer := ada.with("Origin", origin).get("/client/auth/me")
		login := h.anonymous().with("Origin", origin).post("/client/auth/login", credentials("ada", password))
		for name, a := range map[string]answer{"cookie": withCookie, "bearer": withBearer, "login": login} {
			if trusted {
				a.is(200, "")
			} else {
				a.is(403, "origin_refused")
			}
			_ = name
		}
	}
	h.anonymous().with("Cookie", cookie).get("/client/auth/me").is(403, "origin_refused") // missing: whose cookie is it?
	ada.get("/client/auth/me").is(200, "")                                                // missing: a program
}

func TestSEC2ABrowserGetsACookieThatItsScriptsCannotRead(t *testing.T) {
	h := newHub(t)
	h.first("ada")
	page := h.anonymous().with("Origin", ownOrigin)
	login := page.post("/client/auth/login", credentials("ada", password)).is(200, "")
	cookie, err := http.ParseSetCookie(login.header.Get("Set-Cookie"))
	if err != nil {
		t.Fatal(err)
	}
	if !cookie.HttpOnly || !cookie.Secure || cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/" || cookie.MaxAge != 900 {
		t.Fatalf("cookie %s", login.header.Get("Set-Cookie"))
	}
	browser := page.with("Cookie", cookie.Name+"="+cookie.Value)
	browser.get("/client/auth/me").is(200, "")
	out := browser.do(http.MethodPost, "/client/auth/logout", nil).is(204, "")
	if gone, err := http.ParseSetCookie(out.header.Get("Set-Cookie")); err != nil || gone.MaxAge >= 0 || gone.Value != "" {
		t.Fatalf("logout set %q, %v", out.header.Get("Set-Cookie"), err)
	}
	browser.get("/client/auth/me").is(401, "unauthenticated")
	if program := h.anonymous().post("/client/auth/login", credentials("ada", password)).is(200, ""); program.header.Get("Set-Cookie") != "" {
		t.Fatal("a program got a cookie")
	}
}

func TestSEC2NoCredentialIsTakenFromTheURLOrAForm(t *testing.T) {
	h := newHub(t)
	ada := h.first("ada")
	for _, query := range []string{"?access_token=", "?token=", "?authorization=Bearer+", "?switchyard_session="} {
		h.anonymous().get("/client/auth/me"+query+ada.bearer).is(401, "unauthenticated")
	}
	if h.logs.contains(ada.bearer) {
		t.Fatal("a token from the URL is in the log")
	}
	form := h.anonymous().with("Content-Type", "application/x-www-form-urlencoded")
	form.post("/client/auth/login", "username=ada&password="+password).is(415, "invalid_request")
	form.with("Content-Type", "text/plain").with("Cookie", "switchyard_session="+ada.bearer).with("Origin", "https://evil.test").
		post("/client/sessions/group", `{"name":"x"}`).is(403, "origin_refused")
}

func TestSEC26NoAnswerOrLogHoldsASecret(t *testing.T) {
	h := newHub(t)
	ada := h.first("ada")
	edge, credential, _ := ada.enrolled("laptop")
	h.anonymous().post("/client/auth/login", credentials("ada", "canary-password")).is(401, "invalid_credentials")
	h.as("canary.bearer.token").get("/client/auth/me").is(401, "unauthenticated")
	h.refresh("canary-refresh-token").is(401, "unauthenticated")
	h.as(credential).do(http.MethodHead, "/edge/blobs/"+strings.Repeat("0", 64), nil)
	ada.get("/client/edges/"+string(edge)).is(200, "")
	for _, canary := range []string{
		password, "canary", ada.bearer, ada.login.Refresh, credential, string(h.keys.Current().Receipts),
	} {
		if h.logs.contains(canary) {
			t.Errorf("the log holds %.12q…", canary)
		}
	}
	if !h.logs.contains(`"pattern":"POST /client/auth/login"`) {
		t.Fatal("positive control: the log says nothing about requests")
	}
}
