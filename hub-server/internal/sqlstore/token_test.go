package sqlstore

import (
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
)

// rotate presents a token; the next one is sealed as the service would, readably for the test.
func (w *town) rotate(presented account.Token, at time.Time) (account.Rotated, account.Token) {
	w.t.Helper()
	next := account.NewToken(account.RefreshToken)
	out, err := w.accounts.Rotate(w.ctx(), account.Rotation{
		Presented: presented.Hash(), Next: next.Hash(), Sealed: []byte(next), Now: at,
	})
	w.must(err)
	return out, next
}

func TestSEC7OfManyRefreshesWithOneTokenOneRotatesAndAllGetItsSuccessor(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		ada := w.person("ada")
		login, token := w.login(ada.ID)
		w.must(w.accounts.AddDevice(t.Context(), login))
		results := make([]account.Rotated, 50)
		nexts := make([]account.Token, 50)
		together(50, func(i int) error {
			results[i], nexts[i] = w.rotate(token, w.now)
			return nil
		})
		var winner account.Token
		rotated := 0
		for i, r := range results {
			if r.Verdict == account.Rotate {
				rotated, winner = rotated+1, nexts[i]
			}
		}
		for _, r := range results {
			if r.Verdict == account.Replay && string(r.Sealed) != string(winner) {
				t.Fatal("a replay gives another successor")
			}
			if r.Verdict != account.Replay && r.Verdict != account.Rotate || r.User != ada || r.Device.ID != login.Device.ID {
				t.Fatalf("result %+v", r)
			}
		}
		if rotated != 1 {
			t.Fatalf("%d rotated", rotated)
		}
		if out, _ := w.rotate(winner, w.now.Add(time.Hour)); out.Verdict != account.Rotate {
			t.Fatalf("the successor is not good: %d", out.Verdict)
		}
	})
}

func TestSEC7ReuseAfterTheWindowEndsTheFamilyForThiefAndOwner(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		ada := w.person("ada")
		login, stolen := w.login(ada.ID)
		w.must(w.accounts.AddDevice(t.Context(), login))
		_, honest := w.rotate(stolen, w.now)
		if out, _ := w.rotate(stolen, w.now.Add(31*time.Second)); out.Verdict != account.Theft || out.Device.Family != login.Device.Family {
			t.Fatalf("verdict %+v", out)
		}
		for _, token := range []account.Token{honest, stolen} {
			if out, _ := w.rotate(token, w.now.Add(32*time.Second)); out.Verdict != account.Refuse {
				t.Fatalf("a token of the ended family: verdict %d", out.Verdict)
			}
		}
		if _, _, err := w.accounts.LiveDevice(t.Context(), login.Device.Family, w.now); err == nil {
			t.Fatal("the device still lives")
		}
	})
}

func TestRefreshMovesTheExpiryAndUnknownTokensAreRefused(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		ada := w.person("ada")
		login, token := w.login(ada.ID)
		w.must(w.accounts.AddDevice(t.Context(), login))
		later := w.now.Add(account.FamilyIdle - time.Hour)
		_, next := w.rotate(token, later)
		_, device, err := w.accounts.LiveDevice(t.Context(), login.Device.Family, login.Expires.Add(time.Hour))
		if err != nil || !device.LastSeenAt.Equal(later) {
			t.Fatalf("device %+v, %v", device, err)
		}
		if out, _ := w.rotate(next, later.Add(account.FamilyIdle)); out.Verdict != account.Refuse {
			t.Fatalf("an expired token: verdict %d", out.Verdict)
		}
		if out, _ := w.rotate(account.NewToken(account.RefreshToken), w.now); out.Verdict != account.Refuse {
			t.Fatalf("an unknown token: verdict %d", out.Verdict)
		}
	})
}
