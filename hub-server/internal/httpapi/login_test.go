package httpapi_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/httpapi"
	"github.com/switchyard-dev/switchyard/shared/id"
)

func credentials(name, password string) object {
	return object{"username": name, "password": password, "device": deviceA}
}

func TestTheFirstUserComesByTheBootstrapTokenOnce(t *testing.T) {
	h := newHub(t)
	token := h.bootstrapToken()
	ada := h.first("ada")
	if ada.login.User.Name != "ada" {
		t.Fatalf("login %+v", ada.login)
	}
	if _, err := os.Stat(filepath.Join(h.home, "bootstrap.token")); !os.IsNotExist(err) {
		t.Fatalf("the token is still there: %v", err)
	}
	for name, tried := range map[string]string{"used": token, "invented": string(account.NewToken(account.BootstrapToken)), "garbage": "x"} {
		h.anonymous().post("/client/auth/bootstrap", object{
			"token": tried, "username": "eve", "password": password, "device": deviceA,
		}).is(403, "bootstrap_done")
		_ = name
	}
	me := ada.get("/client/auth/me").is(200, "")
	if !strings.Contains(string(me.body), ada.login.User.ID) || !strings.Contains(string(me.body), ada.login.Device.ID) {
		t.Fatalf("me %s", me.body)
	}
}

func TestOnlyTheAdministratorInvites(t *testing.T) {
	h := newHub(t)
	ada := h.first("ada")
	bob := ada.invite("bob")
	bob.post("/client/invitations", nil).is(403, "forbidden")
	h.anonymous().post("/client/auth/register", object{
		"token": string(account.NewToken(account.InvitationToken)), "username": "eve", "password": password, "device": deviceA,
	}).is(401, "invitation_invalid")
}

func TestPasswordsAndNamesAreCheckedWithASentence(t *testing.T) {
	h := newHub(t)
	ada := h.first("ada")
	invitation := ada.post("/client/invitations", nil).is(201, "").field("token")
	register := func(name, password string) answer {
		return h.anonymous().post("/client/auth/register", object{
			"token": invitation, "username": name, "password": password, "device": deviceA,
		})
	}
	register("bob", "short").is(400, "invalid_request")
	register("bobbobbobbob", "bobbobbobbob").is(400, "invalid_request")
	register("Bob", password).is(400, "invalid_request")
	register("bob smith", password).is(400, "invalid_request")
	register("ada", password).is(409, "conflict")
	register("bob", password).is(201, "")
}

func TestLoginFailuresAreAlikeWhoeverIsAsked(t *testing.T) {
	h := newHub(t)
	h.first("ada")
	wrong := h.anonymous().post("/client/auth/login", credentials("ada", "wrong password")).is(401, "invalid_credentials")
	unknown := h.anonymous().post("/client/auth/login", credentials("nobody", password)).is(401, "invalid_credentials")
	if withoutTrace(t, wrong) != withoutTrace(t, unknown) {
		t.Fatalf("answers differ:\n%s\n%s", wrong.body, unknown.body)
	}
	h.signedIn(h.anonymous().post("/client/auth/login", credentials("ada", password)).is(200, ""))
}

func TestSEC24HugePasswordsAndManyLoginsAreBounded(t *testing.T) {
	h := newHub(t)
	h.first("ada")
	h.anonymous().post("/client/auth/login", credentials("ada", strings.Repeat("x", 1<<20))).is(400, "invalid_request")
	h.anonymous().post("/client/auth/login", credentials("ada", strings.Repeat("é", 65))).is(400, "invalid_request") // 130 bytes
	var logins sync.WaitGroup
	for range 200 {
		logins.Go(func() {
			if a := h.anonymous().post("/client/auth/login", credentials("ada", password)); a.status != 200 {
				t.Errorf("login answered %d %s", a.status, a.body)
			}
		})
	}
	logins.Wait()
}

func TestLoginsAreLimitedPerAddressAndPerName(t *testing.T) {
	h := newHub(t, func(d *httpapi.Deps) { d.Limits.LoginName = httpapi.Rate{Burst: 3, PerMinute: 1} })
	h.first("ada")
	for range 3 {
		h.anonymous().post("/client/auth/login", credentials("ada", "wrong password")).is(401, "invalid_credentials")
	}
	limited := h.anonymous().post("/client/auth/login", credentials("ada", password)).is(429, "rate_limited")
	if limited.header.Get("Retry-After") != "60" {
		t.Fatalf("Retry-After %q", limited.header.Get("Retry-After"))
	}
	h.anonymous().post("/client/auth/login", credentials("bob", password)).is(401, "invalid_credentials")

	h = newHub(t, func(d *httpapi.Deps) { d.Limits.Login = httpapi.Rate{Burst: 2, PerMinute: 1} })
	h.first("ada")
	h.anonymous().post("/client/auth/login", credentials("bob", password)).is(401, "invalid_credentials")
	h.anonymous().post("/client/auth/login", credentials("carl", password)).is(429, "rate_limited")
}

func TestSEC7FiftyRefreshesAtOnceLogNobodyOut(t *testing.T) {
	h := newHub(t)
	ada := h.first("ada")
	answers := make([]tokens, 50)
	var refreshes sync.WaitGroup
	for i := range answers {
		refreshes.Go(func() { h.refresh(ada.login.Refresh).is(200, "").into(&answers[i]) })
	}
	refreshes.Wait()
	for _, a := range answers {
		if a.Refresh != answers[0].Refresh || a.Refresh == ada.login.Refresh || a.Device.ID != ada.login.Device.ID {
			t.Fatalf("answers differ: %+v, %+v", answers[0], a)
		}
		h.as(a.Access).get("/client/auth/me").is(200, "")
	}
	h.refresh(answers[0].Refresh).is(200, "")
}

func (h *hub) refresh(token string) answer {
	h.t.Helper()
	return h.anonymous().post("/client/auth/refresh", object{"refresh_token": token})
}

func TestSEC7AStolenRefreshTokenEndsTheFamily(t *testing.T) {
	h := newHub(t)
	ada := h.first("ada")
	var honest tokens
	h.refresh(ada.login.Refresh).is(200, "").into(&honest)
	h.clock.advance(31 * time.Second)
	h.refresh(ada.login.Refresh).is(401, "unauthenticated")
	h.refresh(honest.Refresh).is(401, "unauthenticated")
	h.as(honest.Access).get("/client/auth/me").is(401, "unauthenticated")
	select {
	case <-h.ended:
	default:
		t.Fatal("nobody was told that the family ended")
	}
	for _, garbage := range []string{"x", string(account.NewToken(account.RefreshToken)), strings.Repeat("x", 512)} {
		h.refresh(garbage).is(401, "unauthenticated")
	}
}

func TestAnAccessTokenExpires(t *testing.T) {
	h := newHub(t)
	ada := h.first("ada")
	h.clock.advance(account.AccessLifetime + 31*time.Second)
	ada.get("/client/auth/me").is(401, "unauthenticated")
	var next tokens
	h.refresh(ada.login.Refresh).is(200, "").into(&next)
	h.as(next.Access).get("/client/auth/me").is(200, "")
}

func TestLogoutAndRevocationEndADeviceAtOnce(t *testing.T) {
	h := newHub(t)
	ada := h.first("ada")
	phone := h.signedIn(ada.post("/client/devices", object{"type": "mobile", "name": "phone"}).is(201, ""))
	laptop := h.signedIn(ada.post("/client/devices", object{"type": "desktop", "name": "laptop"}).is(201, ""))
	ada.do(http.MethodPost, "/client/auth/logout", nil).is(204, "")
	ada.get("/client/auth/me").is(401, "unauthenticated")
	h.refresh(ada.login.Refresh).is(401, "unauthenticated")

	phone.get("/client/auth/me").is(200, "") // outlives the login that made it
	laptop.delete("/client/devices/"+phone.login.Device.ID).is(204, "")
	phone.get("/client/auth/me").is(401, "unauthenticated")
	if len(h.ended) != 2 {
		t.Fatalf("%d families ended", len(h.ended))
	}
	if list := laptop.get("/client/devices").is(200, ""); strings.Count(string(list.body), `"id"`) != 1 || !strings.Contains(string(list.body), `"current":true`) {
		t.Fatalf("devices %s", list.body)
	}
}

func TestSEC6ARotationDropsNobody(t *testing.T) {
	h := newHub(t)
	ada := h.first("ada")
	clients := make([]*client, 100)
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			clients[i] = h.signedIn(ada.post("/client/devices", object{"type": "cli", "name": "c"}).is(201, ""))
		})
	}
	all.Wait()
	stop := make(chan struct{})
	for _, c := range clients {
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if a := c.get("/client/auth/me"); a.status != 200 {
					t.Errorf("dropped: %d %s", a.status, a.body)
					return
				}
			}
		})
	}
	if err := account.RotateKeyFile(filepath.Join(h.home, "keys.json")); err != nil {
		t.Error(err)
	}
	there, err := account.OpenKeyring(filepath.Join(h.home, "keys.json"), h.deps.Log) // another hub, which signs with the new key
	if err != nil {
		t.Fatal(err)
	}
	device := account.Device{ID: id.Device(ada.login.Device.ID), User: id.User(ada.login.User.ID), Family: h.familyOf(ada)}
	token, err := account.NewIssuer(there, h.clock.now).Issue(device)
	if err != nil {
		t.Fatal(err)
	}
	h.as(string(token)).get("/client/auth/me").is(200, "")
	close(stop)
	all.Wait()
}

// familyOf is the refresh family of a client.
func (h *hub) familyOf(c *client) account.Family {
	h.t.Helper()
	p, err := h.deps.Devices.Authenticate(h.t.Context(), account.AccessToken(c.bearer))
	if err != nil {
		h.t.Fatal(err)
	}
	return p.Family
}

func TestSEC8AFamilyIsAliveUntilItEnds(t *testing.T) {
	h := newHub(t)
	ada := h.first("ada")
	family := h.familyOf(ada)
	alive := func() bool {
		ok, err := h.deps.Devices.FamilyAlive(t.Context(), family)
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	h.clock.advance(time.Hour) // the access token is long gone
	if !alive() {
		t.Fatal("a family ends with its access token")
	}
	h.clock.advance(account.FamilyIdle)
	if alive() {
		t.Fatal("a family lives for ever")
	}
}
