package httpapi_test

import (
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/hub-server/internal/contact"
	"github.com/switchyard-dev/switchyard/hub-server/internal/httpapi"
)

func TestLimitsOfGroupsAndContactsSayWhichTheyAre(t *testing.T) {
	h := newHub(t, func(d *httpapi.Deps) {
		d.Sessions.Limits = chat.Limits{Members: 2, Groups: 1}
		d.Contacts.Limits = contact.Limits{All: 2, Open: 1}
	})
	ada := h.first("ada")
	bob, eve := ada.invite("bob"), ada.invite("eve")
	both := []string{bob.login.User.ID, eve.login.User.ID}
	ada.post("/client/sessions/group", object{"name": "all", "member_ids": both}).is(422, "too_large").sentence("HUB_GROUP_MEMBERS")
	group := ada.post("/client/sessions/group", object{"name": "two", "member_ids": both[:1]}).is(201, "").field("id")
	ada.post("/client/sessions/"+group+"/members", object{"member_id": both[1]}).is(422, "too_large").sentence("HUB_GROUP_MEMBERS")
	ada.post("/client/sessions/group", object{"name": "again"}).is(422, "too_large").sentence("HUB_GROUPS_PER_USER")
	eve.post("/client/sessions/group", object{"name": "hers", "member_ids": both[:1]}).is(422, "too_large").sentence("HUB_GROUPS_PER_USER")

	ada.post("/client/contacts", object{"username": "bob"}).is(200, "")
	ada.post("/client/contacts", object{"username": "eve"}).is(422, "too_large").sentence("HUB_FRIEND_REQUESTS_OPEN")
	eve.post("/client/contacts", object{"username": "bob"}).is(200, "")
	dan := ada.invite("dan")
	dan.post("/client/contacts", object{"username": "bob"}).is(422, "too_large").sentence("HUB_CONTACTS_PER_USER")
	bob.put("/client/contacts/"+dan.login.User.ID+"/block").is(422, "too_large").sentence("HUB_CONTACTS_PER_USER")
	bob.put("/client/contacts/"+eve.login.User.ID+"/block").is(204, "") // in place of her request
}

func TestPeopleAreNotAskedWithoutAnEnd(t *testing.T) {
	h := newHub(t, func(d *httpapi.Deps) { d.Limits.Invite = httpapi.Rate{Burst: 3, PerMinute: 1} })
	ada := h.first("ada")
	bob := ada.invite("bob").login.User.ID
	for range 10 {
		ada.post("/client/sessions/group", object{"name": "alone"}).is(201, "") // brings nobody
	}
	ada.post("/client/sessions/group", object{"name": "two", "member_ids": []string{bob}}).is(201, "")
	ada.post("/client/contacts", object{"username": "bob"}).is(200, "")
	ada.post("/client/sessions/private", object{"member_id": bob}).is(201, "")
	for path, body := range map[string]object{
		"/client/contacts": {"username": "bob"}, "/client/sessions/group": {"name": "x", "member_ids": []string{bob}}, "/client/sessions/private": {"member_id": bob},
	} {
		a := ada.post(path, body).is(429, "rate_limited")
		a.sentence("HUB_INVITES_PER_MINUTE")
		if a.header.Get("Retry-After") == "" {
			t.Errorf("%s does not say when to come again", path)
		}
	}
	ada.post("/client/sessions/group", object{"name": "alone"}).is(201, "")
}
