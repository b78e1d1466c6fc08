package httpapi_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/hub-server/apicontract"
	"github.com/switchyard-dev/switchyard/hub-server/internal/httpapi"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/id"
)

// operation is one of the contract.
type operation struct {
	method, path string
	open         bool     // needs no credential
	json         bool     // takes JSON …
	fields       []string // … of these fields
}

// names says whether the path names something.
func (o operation) names() bool { return strings.Contains(o.path, "{") }

// ofEdges says whether it takes the credential of an edge.
func (o operation) ofEdges() bool { return strings.HasPrefix(o.path, "/edge/") }

// judgeThemselves are the operations whose handler judges the credential: these have tests of their own, see SEC3 and SEC26.
var judgeThemselves = []string{"openClientSocket", "openCardSocket", "openEdgeUplink", "getMetrics"}

// operations are those of the contract, by operationId.
func operations(t *testing.T) map[string]operation {
	t.Helper()
	doc, err := apicontract.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]operation{}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			o := operation{method: strings.ToUpper(method), path: path, open: op.Security != nil && len(*op.Security) == 0}
			if op.RequestBody != nil {
				if body := op.RequestBody.Value.Content.Get("application/json"); body != nil {
					o.json = true
					for field := range body.Schema.Value.Properties {
						o.fields = append(o.fields, field)
					}
				}
			}
			all[op.OperationID] = o
		}
	}
	return all
}

// covers demands a line for each operation that is wanted, and no line for any other.
func covers[T any](t *testing.T, table map[string]T, but map[string]string, wanted func(operation) bool) {
	t.Helper()
	all := operations(t)
	for name, op := range all {
		_, listed := table[name]
		_, excused := but[name]
		if due := wanted(op) && !slices.Contains(judgeThemselves, name); due && !listed && !excused {
			t.Errorf("%s %s (%s) is in no table: say how it is refused", op.method, op.path, name)
		} else if !due && (listed || excused) || listed && excused {
			t.Errorf("%s (%s) does not belong into this table", op.path, name)
		}
	}
	for name := range table {
		if _, known := all[name]; !known {
			t.Errorf("there is no operation %s", name)
		}
	}
	for name := range but {
		if _, known := all[name]; !known {
			t.Errorf("there is no operation %s", name)
		}
	}
}

// fits says whether a path is one of a template.
func fits(template, path string) bool {
	path, _, _ = strings.Cut(path, "?")
	want, got := strings.Split(template, "/"), strings.Split(path, "/")
	return slices.EqualFunc(want, got, func(w, g string) bool { return w == g || strings.HasPrefix(w, "{") && g != "" })
}

// full is a place with something of every kind, all of it ada's: and with dan, who was in her conversation and is not any more.
type full struct {
	*place
	dan                                   *client
	file, artifact, notification, request string
}

func newFull(t *testing.T, adjust ...func(*httpapi.Deps)) *full {
	t.Helper()
	f := &full{place: newPlace(t, adjust...), artifact: string(id.NewArtifact())}
	f.dan = f.ada.invite("dan")
	eve := f.ada.invite("eve")
	demo := "/client/sessions/" + f.session
	f.ada.post(demo+"/members", object{"member_id": f.dan.login.User.ID}).is(201, "")
	file := f.ada.uploaded("plan", "", []byte("plan"))
	f.file = file.ID
	f.ada.post(demo+"/messages", attached("read", file.URL)).is(201, "")
	report := []byte("report")
	f.as(f.credential).upload(hashOf(report), report).is(204, "")
	f.report(map[event.WireType]any{"artifact.created": event.ArtifactCreatedPayload{
		Type: "file", ArtifactID: id.Artifact(f.artifact), Filename: "report", ContentType: "text/plain", Size: int64(len(report)), Checksum: hashOf(report),
	}})
	eve.post("/client/sessions/group", object{"name": "eve's", "member_ids": []string{f.ada.login.User.ID}}).is(201, "")
	f.notification = f.ada.told("").Items[0].ID
	eve.post("/client/contacts", object{"username": "ada"}).is(200, "")
	_, f.request = f.ada.stands("eve")
	for _, what := range []string{demo, demo + "/messages", "/client/artifacts/" + f.artifact, "/client/attachments/" + f.file} { // positive control
		f.dan.get(what).is(200, "")
	}
	f.ada.delete(demo+"/members/"+f.dan.login.User.ID).is(204, "")
	return f
}
