package httpapi_test

import (
	"context"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/push"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/subject"
)

// silentBus has nobody on it.
type silentBus struct{}

func (silentBus) Publish(subject.Subject, []byte) error { return nil }

func (silentBus) Listen(context.Context, subject.Pattern, func(subject.Subject, []byte)) (func(), error) {
	return func() {}, nil
}

func TestADeviceSaysThatItIsLookedAtAndOnlyForItself(t *testing.T) {
	h := newHub(t)
	ada := h.first("ada")
	bob := ada.invite("bob")
	session := id.NewSession()
	const path = "/client/devices/self/attention"
	ada.do("PUT", path, object{"foreground": true, "session_id": session}).is(204, "")
	want := push.Glance{User: id.User(ada.login.User.ID), Device: id.Device(ada.login.Device.ID), Session: session}
	if got := h.deps.Attention.Looking(t.Context(), want.User); len(got) != 1 || got[0] != want {
		t.Fatalf("looked at: %+v, want %+v", got, want)
	}
	bob.do("PUT", path, object{"foreground": false}).is(204, "")
	if len(h.deps.Attention.Looking(t.Context(), want.User)) != 1 {
		t.Error("somebody else has put the device away")
	}
	for _, bad := range []object{{"foreground": true, "user_id": bob.login.User.ID}, {"foreground": true, "device_id": "x"}, {"foreground": true, "session_id": "x"}} {
		ada.do("PUT", path, bad).is(400, "invalid_request")
	}
	ada.do("PUT", path, object{"foreground": false}).is(204, "")
	if got := h.deps.Attention.Looking(t.Context(), want.User); len(got) > 0 {
		t.Errorf("still looked at: %+v", got)
	}
}
