package httpapi_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/fleet"
	"github.com/switchyard-dev/switchyard/hub-server/internal/httpapi"
)

func TestSEC15AnEnrolmentTokenIsGoodForOneEdgeOnce(t *testing.T) {
	h := newHub(t)
	ada := h.first("ada")
	made := ada.post("/client/edges/enrolments", object{"name": "laptop"}).is(201, "")
	redeem := func() answer {
		return h.anonymous().post("/edge/enrol", object{"token": made.field("token"), "hostname": "box", "version": "1"})
	}
	statuses := make([]int, 2)
	var both sync.WaitGroup
	for i := range statuses {
		both.Go(func() { statuses[i] = redeem().status })
	}
	both.Wait()
	if statuses[0]+statuses[1] != 201+401 {
		t.Fatalf("two redemptions answered %v", statuses)
	}
	redeem().is(401, "enrolment_invalid").sentence("yard edge enrol") // cannot re-register the edge that exists
	if edge := ada.get("/client/edges/"+made.field("edge_id")).is(200, ""); edge.field("name") != "laptop" || edge.field("state") != "offline" {
		t.Fatalf("edge %s", edge.body)
	}
	late := ada.post("/client/edges/enrolments", object{"name": "late"}).is(201, "")
	h.clock.advance(fleet.EnrolmentLifetime)
	h.anonymous().post("/edge/enrol", object{"token": late.field("token"), "hostname": "box", "version": "1"}).is(401, "enrolment_invalid")
	for _, garbage := range []string{"x", string(account.NewToken(account.EnrolmentToken))} {
		h.anonymous().post("/edge/enrol", object{"token": garbage, "hostname": "box", "version": "1"}).is(401, "enrolment_invalid")
	}
}

func TestARevokedEdgeIsOut(t *testing.T) {
	h := newHub(t)
	ada := h.first("ada")
	edge, credential, agent := ada.enrolled("laptop")
	if a := ada.get("/client/agents/"+agent).is(200, ""); !strings.Contains(string(a.body), `"online":true`) {
		t.Fatalf("agent %s", a.body)
	}
	ada.delete("/client/edges/"+string(edge)).is(204, "")
	ada.delete("/client/edges/"+string(edge)).is(204, "")
	if closed := <-h.closed; closed != edge {
		t.Fatalf("closed %s", closed)
	}
	h.as(credential).do(http.MethodPut, "/edge/blobs/"+strings.Repeat("0", 64), "x").is(401, "edge_revoked").sentence("Enrol it again")
	if a := ada.get("/client/agents/"+agent).is(200, ""); !strings.Contains(string(a.body), `"online":false`) {
		t.Fatalf("agent %s", a.body)
	}
	if list := ada.get("/client/edges").is(200, ""); strings.Contains(string(list.body), string(edge)) {
		t.Fatalf("edges %s", list.body)
	}
	if one := ada.get("/client/edges/"+string(edge)).is(200, ""); one.field("state") != "revoked" {
		t.Fatalf("edge %s", one.body)
	}
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func (c *client) upload(name string, data []byte) answer {
	c.hub.t.Helper()
	return c.with("Content-Type", "application/octet-stream").do(http.MethodPut, "/edge/blobs/"+name, data)
}

func TestBlobsAreStoredUnderTheirHash(t *testing.T) {
	h := newHub(t)
	ada := h.first("ada")
	_, credential, _ := ada.enrolled("laptop")
	_, other, _ := ada.enrolled("server")
	data := bytes.Repeat([]byte("0123456789abcdef"), 200_000) // 3 MiB: several parts
	edge := h.as(credential)
	has := func(c *client) int { return c.do(http.MethodHead, "/edge/blobs/"+hashOf(data), nil).status }
	if has(edge) != 404 {
		t.Fatal("there before it was sent")
	}
	edge.upload(hashOf([]byte("other")), data).is(422, "blob_mismatch")
	edge.upload("not-a-hash", data).is(400, "invalid_request")
	edge.upload(strings.ToUpper(hashOf(data)), data).is(400, "invalid_request")
	for range 2 {
		edge.upload(hashOf(data), data).is(204, "")
	}
	if has(edge) != 200 || has(h.as(other)) != 404 {
		t.Fatalf("the edge has it: %d, another one: %d", has(edge), has(h.as(other)))
	}
}

func TestAnEdgeIsNotAskedForItsOrigin(t *testing.T) {
	h := newHub(t)
	_, credential, _ := h.first("ada").enrolled("laptop")
	h.as(credential).with("Origin", "https://evil.test").upload(hashOf(nil), []byte{}).is(403, "origin_refused") // no edge is a page
}

func TestMetricsAreForTheTokenOrThisMachine(t *testing.T) {
	h := newHub(t)
	h.anonymous().get("/healthz").is(200, "")
	if a := h.anonymous().get("/metrics").is(200, ""); !strings.Contains(string(a.body), "http_requests_total") {
		t.Fatalf("metrics %s", a.body)
	}
	for _, forwarded := range []string{"X-Forwarded-For", "Forwarded", "Via", "X-Real-Ip"} {
		h.anonymous().with(forwarded, "127.0.0.1").get("/metrics").is(401, "unauthenticated")
	}
	h = newHub(t, func(d *httpapi.Deps) { d.MetricsToken = "scrape-me" })
	h.anonymous().get("/metrics").is(401, "unauthenticated")
	h.as("scrape-you").get("/metrics").is(401, "unauthenticated")
	h.as("scrape-me").with("X-Forwarded-For", "10.0.0.1").get("/metrics").is(200, "")
}

func TestReadinessNamesTheCheckAndNotTheReason(t *testing.T) {
	h := newHub(t)
	h.anonymous().get("/readyz").is(200, "")
	h.deps.Health.Add("bus", func(context.Context) error { return errors.New("canary: bus is away") })
	a := h.anonymous().get("/readyz")
	if a.status != 503 || !strings.Contains(string(a.body), `"name":"bus","ok":false`) || strings.Contains(string(a.body), "canary") {
		t.Fatalf("readyz %d %s", a.status, a.body)
	}
	if !h.logs.contains("canary") {
		t.Fatal("the reason is not in the log")
	}
	h.anonymous().get("/healthz").is(200, "")
}

func TestLastSeenOfAnEdgeIsKept(t *testing.T) {
	h := newHub(t)
	ada := h.first("ada")
	edge, _, _ := ada.enrolled("laptop")
	before := time.Now().Add(-time.Minute)
	if err := h.deps.Edges.Seen(t.Context(), edge); err != nil {
		t.Fatal(err)
	}
	h.online.set(edge, false)
	seen, err := time.Parse(time.RFC3339Nano, ada.get("/client/edges/"+string(edge)).is(200, "").field("last_seen_at"))
	if err != nil || seen.Before(before) {
		t.Fatalf("last seen %s, %v", seen, err)
	}
	if err := h.deps.Edges.Refuse(t.Context(), edge, "frame_unreadable"); err != nil {
		t.Fatal(err)
	}
	if one := ada.get("/client/edges/"+string(edge)).is(200, ""); one.field("state") != "refused" {
		t.Fatalf("edge %s", one.body)
	}
}
