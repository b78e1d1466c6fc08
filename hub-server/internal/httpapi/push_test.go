package httpapi_test

import (
	"context"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/push"
	"github.com/switchyard-dev/switchyard/hub-server/internal/pushtest"
	"github.com/switchyard-dev/switchyard/shared/id"
)

const (
	selfPush  = "/client/devices/self/push"
	ntfyTopic = "https://ntfy.example/ada-7Qx2"
)

type pushOverview struct {
	Key   string `json:"vapid_public_key"`
	Items []struct {
		Device  string `json:"device_id"`
		Channel string
		Host    string
		Text    bool `json:"show_text"`
	}
}

// troubled is a sender whose services take nothing.
type troubled struct{}

func (troubled) Send(context.Context, push.Target, push.Message) push.Result {
	return push.Result{Code: push.CodeUnavailable, Status: 503, Later: true}
}

func (c *client) pushes() (o pushOverview, body string) {
	c.hub.t.Helper()
	a := c.get("/client/push").is(200, "")
	a.into(&o)
	return o, string(a.body)
}

func TestADeviceIsRegisteredForPushesAndItsSecretsAreNeverShownAgain(t *testing.T) {
	h := newHub(t)
	ada := h.first("ada")
	bob := ada.invite("bob")
	browser := pushtest.NewBrowser()
	ada.post(selfPush, object{"channel": "ntfy", "url": ntfyTopic, "token": "tk_canary"}).is(200, "")
	subscription := object{
		"channel": "webpush", "url": "https://push.example/send/canary", "p256dh": pushtest.Encode(browser.Key()), "auth": pushtest.Encode(browser.Secret()) + "==",
		"show_text": true,
	}
	for range 2 { // in place of the first, and again
		ada.post(selfPush, subscription).is(200, "")
	}
	got, body := ada.pushes()
	if len(got.Items) != 1 || got.Items[0].Device != ada.login.Device.ID || got.Items[0].Channel != "webpush" || got.Items[0].Host != "push.example" || !got.Items[0].Text {
		t.Errorf("registered is %s", body)
	}
	if got.Key != h.deps.PushKey {
		t.Errorf("the key is %q", got.Key)
	}
	for _, secret := range []string{"canary", "ada-7Qx2", pushtest.Encode(browser.Secret())} {
		if strings.Contains(body, secret) || h.logs.contains(secret) {
			t.Errorf("%s is shown or logged", secret)
		}
	}
	bob.do("DELETE", selfPush, nil).is(204, "")
	if none, body := bob.pushes(); len(none.Items) != 0 {
		t.Errorf("somebody else sees %s", body)
	}
	if still, _ := ada.pushes(); len(still.Items) != 1 {
		t.Error("somebody else has ended it")
	}
	for range 2 {
		ada.do("DELETE", selfPush, nil).is(204, "")
	}
	if none, body := ada.pushes(); len(none.Items) != 0 {
		t.Errorf("after the end: %s", body)
	}
}

func TestAnAddressThatCannotBePushedToIsRefused(t *testing.T) {
	h := newHub(t)
	ada := h.first("ada")
	b := pushtest.NewBrowser()
	key, auth := pushtest.Encode(b.Key()), pushtest.Encode(b.Secret())
	for _, bad := range []object{
		{"channel": "ntfy", "url": "ntfy.example/topic"},
		{"channel": "ntfy", "url": "ftp://ntfy.example/topic"},
		{"channel": "ntfy", "url": "https://ntfy.example/"},
		{"channel": "ntfy", "url": "https://ntfy.example/a/../b"},
		{"channel": "ntfy", "url": "https://ntfy.example/topic?x=1"},
		{"channel": "ntfy", "url": "https://ada:secret@ntfy.example/topic"},
		{"channel": "ntfy", "url": "https://ntfy.example/topic", "token": "two words"},
		{"channel": "ntfy", "url": "https://ntfy.example/topic", "p256dh": key, "auth": auth},
		{"channel": "webpush", "url": "https://push.example/send/1"},
		{"channel": "webpush", "url": "http://push.example/send/1", "p256dh": key, "auth": auth},
		{"channel": "webpush", "url": "https://push.example/send/1", "p256dh": key[:80], "auth": auth},
		{"channel": "webpush", "url": "https://push.example/send/1", "p256dh": key, "auth": "!"},
		{"channel": "webpush", "url": "https://push.example/send/1", "p256dh": key, "auth": auth, "token": "x"},
		{"channel": "webpush", "url": "https://push.example/send/1", "p256dh": key, "auth": auth, "device_id": string(id.NewDevice())},
	} {
		ada.post(selfPush, bad).is(400, "invalid_request")
	}
	if got, body := ada.pushes(); len(got.Items) != 0 {
		t.Errorf("registered is %s", body)
	}
}

func TestATestPushSaysWhatBecameOfIt(t *testing.T) {
	h := newHub(t)
	ada := h.first("ada")
	ada.post(selfPush+"/test", nil).is(404, "not_found")
	ada.post(selfPush, object{"channel": "ntfy", "url": ntfyTopic}).is(200, "")
	var result struct {
		Sent   bool
		Code   push.Code
		Status int `json:"http_status"`
	}
	ada.post(selfPush+"/test", nil).is(200, "").into(&result)
	if result.Sent || result.Code != push.CodeUnavailable || result.Status != 503 { // of the sender of these tests
		t.Errorf("said %+v", result)
	}
	for range 10 {
		if ada.post(selfPush+"/test", nil).status == 429 {
			return
		}
	}
	t.Error("a person may test without an end")
}

// Somebody else's notification looks like none at all (SEC11).
func TestSEC11WhatBecameOfAForeignNotificationIsNothing(t *testing.T) {
	h := newHub(t)
	ada := h.first("ada")
	random := ada.get("/client/notifications/"+string(id.NewRequest())+"/deliveries").is(200, "")
	if string(random.body) != `{"items":[]}`+"\n" {
		t.Errorf("said %q", random.body)
	}
}
