package sqlstore

import (
	"errors"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

func TestOfManyFirstUsersOneBecomesIt(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		some, err := w.accounts.HasUsers(t.Context())
		if err != nil || some {
			t.Fatalf("HasUsers = %v, %v in an empty store", some, err)
		}
		errs := together(8, func(i int) error {
			j := w.joining("first" + string(rune('a'+i)))
			j.User.Role = account.Admin
			return w.accounts.AddFirstUser(t.Context(), j)
		})
		if count(errs, "") != 1 || count(errs, fault.BootstrapDone) != 7 {
			t.Fatalf("errors %v", errs)
		}
		if some, err = w.accounts.HasUsers(t.Context()); err != nil || !some {
			t.Fatalf("HasUsers = %v, %v", some, err)
		}
	})
}

func TestAnInvitationMakesOneUser(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		inv := w.invitation()
		errs := together(8, func(i int) error {
			return w.accounts.AddInvitedUser(t.Context(), inv.Token.Hash(), w.joining("guest"+string(rune('a'+i))))
		})
		if count(errs, "") != 1 || count(errs, fault.InvitationInvalid) != 7 {
			t.Fatalf("errors %v", errs)
		}
	})
}

func TestAnInvitationOutlivesATakenNameButNotItsTime(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		w.person("ada")
		inv := w.invitation()
		w.wants(fault.Conflict, w.accounts.AddInvitedUser(t.Context(), inv.Token.Hash(), w.joining("ada")))
		w.must(w.accounts.AddInvitedUser(t.Context(), inv.Token.Hash(), w.joining("bob")))

		late := w.invitation()
		w.now = w.now.Add(time.Hour)
		w.wants(fault.InvitationInvalid, w.accounts.AddInvitedUser(t.Context(), late.Token.Hash(), w.joining("carl")))
	})
}

func TestCredentialOfAnUnknownUserIsEmpty(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		ada := w.person("ada")
		user, hash, err := w.accounts.Credential(t.Context(), "ada")
		if err != nil || user != ada || hash != "hash of ada" {
			t.Fatalf("Credential = %+v, %q, %v", user, hash, err)
		}
		user, hash, err = w.accounts.Credential(t.Context(), "nobody")
		if err != nil || user != (account.User{}) || hash != "" {
			t.Fatalf("Credential = %+v, %q, %v", user, hash, err)
		}
	})
}

func TestADeviceLivesUntilItsFamilyEndsOrExpires(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		ada := w.person("ada")
		login, _ := w.login(ada.ID)
		w.must(w.accounts.AddDevice(t.Context(), login))
		user, device, err := w.accounts.LiveDevice(t.Context(), login.Device.Family, w.now)
		if err != nil || user != ada || device != login.Device {
			t.Fatalf("LiveDevice = %+v, %+v, %v", user, device, err)
		}
		_, _, err = w.accounts.LiveDevice(t.Context(), login.Device.Family, login.Expires)
		w.wants(fault.NotFound, err)

		_, err = w.accounts.EndDevice(t.Context(), id.NewUser(), device.ID, account.RevokedByMe, w.now)
		w.wants(fault.NotFound, err) // somebody else's
		for range 2 {
			family, err := w.accounts.EndDevice(t.Context(), ada.ID, device.ID, account.RevokedByMe, w.now)
			if err != nil || family != device.Family {
				t.Fatalf("EndDevice = %q, %v", family, err)
			}
		}
		_, _, err = w.accounts.LiveDevice(t.Context(), device.Family, w.now)
		w.wants(fault.NotFound, err)
		devices, err := w.accounts.LiveDevices(t.Context(), ada.ID, w.now)
		if err != nil || len(devices) != 1 || devices[0].ID == device.ID {
			t.Fatalf("LiveDevices = %+v, %v", devices, err)
		}
	})
}

func TestDevicesOfAUserAreBounded(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		ada := w.person("ada") // has one
		errs := together(account.MaxDevices, func(int) error {
			login, _ := w.login(ada.ID)
			return w.accounts.AddDevice(t.Context(), login)
		})
		if count(errs, "") != account.MaxDevices-1 || count(errs, fault.TooLarge) != 1 {
			t.Fatalf("%d stored, %d refused", count(errs, ""), count(errs, fault.TooLarge))
		}
	})
}

func TestOfManyEqualAttemptsOneHasItsEffect(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		ada := w.person("ada")
		claim := w.claim()
		errs := together(8, func(int) error {
			login, _ := w.login(ada.ID)
			return w.accounts.AddDeviceOnce(t.Context(), login, claim)
		})
		repeats := 0
		for _, err := range errs {
			var repeated *account.Repeated
			if errors.As(err, &repeated) && string(repeated.Answer) == string(claim.Answer) {
				repeats++
			}
		}
		if count(errs, "") != 1 || repeats != 7 {
			t.Fatalf("errors %v", errs)
		}
		devices, err := w.accounts.LiveDevices(t.Context(), ada.ID, w.now)
		if err != nil || len(devices) != 2 {
			t.Fatalf("%d devices, %v", len(devices), err)
		}
		answer, err := w.accounts.PriorAnswer(t.Context(), claim.Attempt, w.now.Add(-time.Hour))
		if err != nil || string(answer) != string(claim.Answer) {
			t.Fatalf("PriorAnswer = %q, %v", answer, err)
		}
		other := claim
		other.Request[0]++
		_, err = w.accounts.PriorAnswer(t.Context(), other.Attempt, w.now.Add(-time.Hour))
		w.wants(fault.IdempotencyConflict, err)
		login, _ := w.login(ada.ID)
		w.wants(fault.IdempotencyConflict, w.accounts.AddDeviceOnce(t.Context(), login, other))
	})
}

func TestAnAttemptWhoseEffectFailsIsNotRecorded(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		ada := w.person("ada")
		agent := w.joiningAgent(ada.ID)
		w.must(w.fleet.AddAgent(t.Context(), agent, w.claim()))
		claim := w.claim()
		agent.ID = id.NewAgent()
		w.wants(fault.Conflict, w.fleet.AddAgent(t.Context(), agent, claim)) // the name is taken
		if answer, err := w.accounts.PriorAnswer(t.Context(), claim.Attempt, time.Time{}); err != nil || answer != nil {
			t.Fatalf("PriorAnswer = %q, %v", answer, err)
		}
	})
}

func TestAnswersAreForgottenAfterTwoDays(t *testing.T) {
	eachTown(t, func(w *town) {
		t := w.t
		ada := w.person("ada")
		claim := w.claim()
		login, _ := w.login(ada.ID)
		w.must(w.accounts.AddDeviceOnce(t.Context(), login, claim))
		since := time.Now().Add(time.Second) // as seen by somebody who asks in 48 h and a second
		if answer, err := w.accounts.PriorAnswer(t.Context(), claim.Attempt, since); err != nil || answer != nil {
			t.Fatalf("PriorAnswer = %q, %v", answer, err)
		}
	})
}
