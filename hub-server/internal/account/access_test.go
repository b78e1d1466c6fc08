package account

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/switchyard-dev/switchyard/shared/fault"
)

// forgery makes tokens like the hub's, but for what the test changes.
type forgery struct {
	t      *testing.T
	issuer *Issuer
	device Device
}

func (f forgery) claims() jwt.MapClaims {
	now := f.issuer.now()
	return jwt.MapClaims{
		"iss": tokenIssuer, "aud": tokenAudience, "sub": string(f.device.User), "jti": "j", "iat": now.Unix(),
		"exp": now.Add(AccessLifetime).Unix(), "device_id": string(f.device.ID), "device_type": "cli", "family_id": string(f.device.Family),
	}
}

func (f forgery) sign(method jwt.SigningMethod, key any, claims jwt.MapClaims) AccessToken {
	f.t.Helper()
	token := jwt.NewWithClaims(method, claims)
	token.Header["kid"] = string(f.issuer.keys.Current().Signing)
	signed, err := token.SignedString(key)
	if err != nil {
		f.t.Fatal(err)
	}
	return AccessToken(signed)
}

func (f forgery) secret() []byte {
	keys := f.issuer.keys.Current()
	return keys.Tokens[keys.Signing]
}

func (f forgery) refused(name string, token AccessToken) {
	f.t.Helper()
	if _, err := f.issuer.verify(token); fault.CodeOf(err) != fault.Unauthenticated {
		f.t.Errorf("%s: %v, want unauthenticated", name, err)
	}
}

func newForgery(t *testing.T) forgery {
	t.Helper()
	return forgery{t: t, issuer: newIssuer(t, time.Now()), device: testDevice()}
}

func TestAccessTokenNamesItsDeviceForFifteenMinutes(t *testing.T) {
	now := time.Now()
	issuer := newIssuer(t, now)
	device := testDevice()
	token, err := issuer.Issue(device)
	if err != nil {
		t.Fatal(err)
	}
	got, err := issuer.verify(token)
	if err != nil || got.user != device.User || got.device != device.ID || got.family != device.Family {
		t.Fatalf("verify = %+v, %v", got, err)
	}
	for after, good := range map[time.Duration]bool{
		AccessLifetime: true, AccessLifetime + clockLeeway - time.Second: true, AccessLifetime + clockLeeway + time.Second: false,
		-clockLeeway - 2*time.Second: false, // from the future
	} {
		later := Issuer{keys: issuer.keys, now: func() time.Time { return now.Add(after) }}
		if _, err := later.verify(token); (err == nil) != good {
			t.Errorf("%s later: %v", after, err)
		}
	}
}

func TestSEC4OnlyHS256UnderAnAcceptedKeyIsBelieved(t *testing.T) {
	f := newForgery(t)
	good := f.sign(jwt.SigningMethodHS256, f.secret(), f.claims())
	if _, err := f.issuer.verify(good); err != nil {
		t.Fatalf("positive control: %v", err)
	}
	f.refused("none", f.sign(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, f.claims()))
	f.refused("HS384", f.sign(jwt.SigningMethodHS384, f.secret(), f.claims()))
	f.refused("HS512", f.sign(jwt.SigningMethodHS512, f.secret(), f.claims()))
	f.refused("other secret", f.sign(jwt.SigningMethodHS256, make([]byte, 32), f.claims()))
	parts := strings.Split(string(good), ".")
	f.refused("empty signature", AccessToken(parts[0]+"."+parts[1]+"."))
	f.refused("two parts", AccessToken(parts[0]+"."+parts[1]))
	f.refused("100k dots", AccessToken(strings.Repeat(".", 100_000)))
	f.refused("1 MiB", AccessToken(strings.Repeat("a", 1<<20)))
	f.refused("nothing", "")
	payload := base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"` + string(f.device.User) + `"}`))
	f.refused("other claims under the same signature", AccessToken(parts[0]+"."+payload+"."+parts[2]))
	for _, kid := range []any{nil, "", "../../etc/passwd", 7, "unknown"} {
		token := jwt.NewWithClaims(jwt.SigningMethodHS256, f.claims())
		token.Header["kid"] = kid
		signed, err := token.SignedString(f.secret())
		if err != nil {
			t.Fatal(err)
		}
		f.refused("kid", AccessToken(signed))
	}
}

// An identity token of somebody else is no session here, whoever signed it (SEC5); and a public key is no HMAC secret.
func TestSEC5AsymmetricTokensAreNeverASession(t *testing.T) {
	f := newForgery(t)
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	ecKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	f.refused("RS256", f.sign(jwt.SigningMethodRS256, rsaKey, f.claims()))
	f.refused("PS256", f.sign(jwt.SigningMethodPS256, rsaKey, f.claims()))
	f.refused("ES256", f.sign(jwt.SigningMethodES256, ecKey, f.claims()))
	public, err := x509.MarshalPKIXPublicKey(&rsaKey.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	f.refused("public key as HMAC secret", f.sign(jwt.SigningMethodHS256, public, f.claims()))
}

func TestSEC4EachClaimIsRequiredAndChecked(t *testing.T) {
	f := newForgery(t)
	for name := range f.claims() {
		if name == "device_type" {
			continue // the store says what kind of device it is
		}
		dropped := f.claims()
		delete(dropped, name)
		f.refused("without "+name, f.sign(jwt.SigningMethodHS256, f.secret(), dropped))
	}
	now := f.issuer.now()
	for name, value := range map[string]any{
		"iss": "somebody", "aud": "another-audience", "sub": "user_1", "device_id": string(f.device.User), "jti": "", "family_id": "",
		"exp": now.Add(-time.Minute).Unix(), "iat": now.Add(time.Hour).Unix(), "nbf": now.Add(time.Hour).Unix(),
	} {
		altered := f.claims()
		altered[name] = value
		f.refused("altered "+name, f.sign(jwt.SigningMethodHS256, f.secret(), altered))
	}
	long := f.claims()
	long["exp"] = now.Add(24 * time.Hour).Unix()
	f.refused("a day long", f.sign(jwt.SigningMethodHS256, f.secret(), long))
}

func FuzzVerify(f *testing.F) {
	ring, err := OpenKeyring(f.TempDir()+"/keys.json", discard)
	if err != nil {
		f.Fatal(err)
	}
	issuer := NewIssuer(ring, time.Now)
	good, err := issuer.Issue(testDevice())
	if err != nil {
		f.Fatal(err)
	}
	header, err := json.Marshal(map[string]string{"alg": "none", "kid": string(ring.Current().Signing)})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(good[:len(good)-1]))
	f.Add(base64.RawURLEncoding.EncodeToString(header) + ".e30.")
	f.Add("..")
	f.Fuzz(func(t *testing.T, token string) {
		if token == string(good) {
			return
		}
		if _, err := issuer.verify(AccessToken(token)); err == nil {
			t.Fatalf("believed %q", token)
		}
	})
}
