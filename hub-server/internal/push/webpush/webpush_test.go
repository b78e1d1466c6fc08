package webpush

import (
	"bytes"
	"crypto/ecdh"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/hub-server/internal/pushtest"
)

// The example of RFC 8291, section 5 and appendix A, to the byte.
func TestTheExampleOfTheRFCComesOutToTheByte(t *testing.T) {
	const want = "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
	browser := pushtest.ExampleBrowser()
	reader, err := NewReader(browser.Key(), browser.Secret())
	if err != nil {
		t.Fatal(err)
	}
	sender, err := ecdh.P256().NewPrivateKey(pushtest.Decode("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := reader.seal([]byte("When I grow up, I want to be a watermelon"), 0, sender, pushtest.Decode("DGv6ra1nlYgDCS1FRnbzlw"))
	if err != nil || base64.RawURLEncoding.EncodeToString(got) != want {
		t.Errorf("sealed %s (%v), want %s", base64.RawURLEncoding.EncodeToString(got), err, want)
	}
}

func TestWhatIsSealedIsReadByItsReaderAlone(t *testing.T) {
	browser, other := pushtest.NewBrowser(), pushtest.NewBrowser()
	reader, err := NewReader(browser.Key(), browser.Secret())
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		// Text ends in no zero byte: the reader of the tests takes those for padding, as RFC 8188 does before the delimiter.
		text := append(rapid.SliceOfN(rapid.Byte(), 0, MaxText-1).Draw(t, "text"), 'x')
		pad := rapid.IntRange(0, MaxText).Draw(t, "pad")
		sealed, err := reader.Seal(text, pad)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := browser.Open(sealed); err != nil || !bytes.Equal(got, text) {
			t.Fatalf("%q (%v), want %q", got, err, text)
		}
		if want := headSize + max(len(text), pad) + overhead; len(sealed) != want {
			t.Fatalf("%d bytes, want %d", len(sealed), want)
		}
		if _, err := other.Open(sealed); err == nil {
			t.Fatal("somebody else can read it")
		}
	})
	if _, err := reader.Seal(make([]byte, MaxText+1), 0); err == nil {
		t.Error("more text than a push service takes was sealed")
	}
}

func TestKeysThatAreNoneAreRefused(t *testing.T) {
	b := pushtest.NewBrowser()
	for name, keys := range map[string][2][]byte{
		"no point": {bytes.Repeat([]byte{4}, 65), b.Secret()}, "short": {b.Key()[:64], b.Secret()}, "nothing": {nil, nil},
		"short secret": {b.Key(), b.Secret()[:15]}, "infinity": {[]byte{0}, b.Secret()},
	} {
		if _, err := NewReader(keys[0], keys[1]); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

func TestASenderVouchesForItselfAtOneServiceForHalfADay(t *testing.T) {
	s, err := NewSender([]byte("secret"), "mailto:ops@example.org")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	value, err := s.Authorization("https://push.example:8443/send/abc?x=1", now)
	if err != nil {
		t.Fatal(err)
	}
	header := http.Header{"Authorization": {value}}
	claims, err := pushtest.Vouched(header, "https://push.example:8443", s.PublicKey(), now)
	if err != nil || claims["sub"] != "mailto:ops@example.org" {
		t.Errorf("claims %v: %v", claims, err)
	}
	for what, no := range map[string]func() error{
		"another service": func() error {
			_, err := pushtest.Vouched(header, "https://other.example", s.PublicKey(), now)
			return err
		},
		"the next day": func() error {
			_, err := pushtest.Vouched(header, "https://push.example:8443", s.PublicKey(), now.Add(vouchFor+time.Second))
			return err
		},
		"altered": func() error {
			_, err := pushtest.Vouched(http.Header{"Authorization": {strings.Replace(value, "t=ey", "t=ez", 1)}}, "https://push.example:8443", s.PublicKey(), now)
			return err
		},
	} {
		if no() == nil {
			t.Errorf("%s is vouched for", what)
		}
	}
}

func TestASecretAlwaysGivesTheSameKeyAndAnotherAnother(t *testing.T) {
	key := func(secret string) string {
		s, err := NewSender([]byte(secret), "")
		if err != nil {
			t.Fatal(err)
		}
		return s.PublicKey()
	}
	// Subscriptions of browsers are bound to the key: it may never change.
	const want = "BKNfwF35Ia0oDo_7_W957QiXypiGN9oNsNfspg60ZDmtSxlx4pGK4z1iJ2vhua8wOYVGlUkzVq2xHI4LJtYQGaA"
	if got := key("0123456789abcdef0123456789abcdef"); got != want {
		t.Errorf("the key of a known secret is %s, was %s", got, want)
	}
	if one := key("one"); one != key("one") || one == key("two") {
		t.Error("keys do not follow from secrets")
	}
}
