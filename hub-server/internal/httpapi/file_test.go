package httpapi_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/shared/id"
)

const (
	maxFile  = 3 << 20 // bytes
	maxFiles = 5 << 20
)

type uploadedFile struct {
	ID     string `json:"id"`
	URL    string `json:"url"`
	Name   string `json:"filename"`
	Media  string `json:"mime_type"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

func (c *client) uploadFile(name, media string, data []byte) answer {
	c.hub.t.Helper()
	query := url.Values{"filename": {name}}
	if media != "" {
		query.Set("mime_type", media)
	}
	r, err := http.NewRequestWithContext(c.hub.t.Context(), http.MethodPost, c.hub.server.URL+"/client/attachments?"+query.Encode(), bytes.NewReader(data))
	if err != nil {
		c.hub.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/octet-stream")
	r.Header.Set("Authorization", "Bearer "+c.bearer)
	return c.hub.send(r)
}

func (c *client) uploaded(name, media string, data []byte) (file uploadedFile) {
	c.hub.t.Helper()
	c.uploadFile(name, media, data).is(201, "").into(&file)
	return file
}

func attached(words, url string) object {
	m := text(words)
	m["attachments"] = []object{{"kind": "file", "url": url, "filename": "a lie.exe", "mime_type": "text/lie", "size": 7}}
	return m
}

// three parts of the store, and a bit
func bigFile() []byte { return bytes.Repeat([]byte("0123456789abcdef"), (2<<20+4096)/16) }

func TestAFileIsReadByItsOwnerAndByWhoeverMayReadAMessageThatHasIt(t *testing.T) {
	p := newPlace(t)
	data := bigFile()
	file := p.ada.uploaded("plan.pdf", "application/pdf", data)
	if file.Size != int64(len(data)) || file.Name != "plan.pdf" || file.URL != "attachment:"+file.ID {
		t.Fatalf("%+v", file)
	}
	if again := p.ada.uploaded("plan.pdf", "application/pdf", data); again != file {
		t.Errorf("the same file once more is %+v", again)
	}
	path := "/client/attachments/" + file.ID
	if got := p.ada.get(path+"/content").is(200, ""); !bytes.Equal(got.body, data) {
		t.Errorf("%d bytes came", len(got.body))
	}
	unseen := func(when string) {
		t.Helper()
		for _, at := range []string{"", "/content"} {
			theirs := withoutTrace(t, p.bob.get(path+at).is(404, "not_found"))
			if none := withoutTrace(t, p.bob.get("/client/attachments/"+string(id.NewAttachment())+at).is(404, "not_found")); theirs != none {
				t.Errorf("%s: %s, of none %s", when, theirs, none)
			}
		}
	}
	unseen("before it was sent")
	pair := p.ada.post("/client/sessions/private", object{"member_id": p.bob.login.User.ID}).field("id")
	group := p.ada.group("files")
	send := func(by *client, where string) answer { return by.post(where+"/messages", attached("here", file.URL)) }
	bobs := p.bob.group("mine")
	send(p.bob, bobs).is(404, "not_found")
	send(p.ada, group).is(201, "")
	unseen("sent elsewhere")
	p.ada.post(group+"/members", object{"member_id": p.bob.login.User.ID}).is(201, "")
	if got := p.bob.get(path+"/content").is(200, ""); !bytes.Equal(got.body, data) {
		t.Errorf("a member got %d bytes", len(got.body))
	}
	page := p.bob.get(group+"/messages?limit=1").is(200, "")
	if want := fmt.Sprintf(`"attachments":[{"filename":"plan.pdf","kind":"file","mime_type":"application/pdf","size":%d,"url":%q}]`, len(data), file.URL); !strings.Contains(string(page.body), want) {
		t.Errorf("page %s, want %s", page.body, want)
	}
	p.ada.delete(group+"/members/"+p.bob.login.User.ID).is(204, "")
	unseen("after the removal")
	send(p.ada, "/client/sessions/"+pair).is(201, "")
	send(p.bob, bobs).is(201, "") // whoever may read it may pass it on
}

// A message that was taken back, or says something else now, gives nobody its file any more.
func TestAFileIsReadAsLongAsAMessageHasIt(t *testing.T) {
	p := newPlace(t)
	one, two := p.ada.uploaded("one", "", []byte("one")), p.ada.uploaded("two", "", []byte("two"))
	group := p.ada.group("files", p.bob.login.User.ID)
	reads := func(file uploadedFile, want int) {
		t.Helper()
		if got := p.bob.get("/client/attachments/" + file.ID + "/content").status; got != want {
			t.Errorf("%s: %d, want %d", file.Name, got, want)
		}
	}
	first := p.ada.post(group+"/messages", attached("first", one.URL)).receipt().Message
	reads(one, 200)
	edit := attached("second", two.URL)
	delete(edit, "client_msg_id")
	p.ada.do(http.MethodPut, "/client/messages/"+first, edit).is(200, "")
	reads(one, 404)
	reads(two, 200)
	if page := p.bob.get(group+"/messages?limit=1").is(200, ""); strings.Contains(string(page.body), "a lie") {
		t.Errorf("under another name: %s", page.body)
	}
	p.ada.post("/client/messages/"+first+"/recall", nil).is(200, "")
	reads(two, 404)
	p.ada.get("/client/attachments/"+two.ID).is(200, "")
}

func TestABrokenDownloadGoesOn(t *testing.T) {
	p := newPlace(t)
	data := bigFile()
	file := p.ada.uploaded("plan.pdf", "", data)
	path := "/client/attachments/" + file.ID + "/content"
	tag := p.ada.get(path).header.Get("ETag")
	for value, want := range map[string][]byte{"bytes=1048570-1048589": data[1048570:1048590], "bytes=2097152-": data[2<<20:], "bytes=-3": data[len(data)-3:]} {
		part := p.ada.with("Range", value).with("If-Range", tag).get(path)
		if part.status != 206 || !bytes.Equal(part.body, want) {
			t.Errorf("%s: %d, %d bytes", value, part.status, len(part.body))
		}
	}
	if whole := p.ada.with("Range", "bytes=5-").with("If-Range", `"another"`).get(path); whole.status != 200 || len(whole.body) != len(data) {
		t.Errorf("of another version: %d, %d bytes", whole.status, len(whole.body))
	}
	if none := p.ada.with("Range", "bytes=9999999-").get(path); none.status != 416 {
		t.Errorf("beyond the end: %d", none.status)
	}
}

// A file is saved, not shown, whatever it is and whatever its owner calls it.
func TestSEC21AnUploadedFileCannotActOnTheHubsOrigin(t *testing.T) {
	p := newPlace(t)
	file := p.ada.uploaded("x.html", "text/html", []byte("<script>alert(1)</script>"))
	got := p.ada.get("/client/attachments/"+file.ID+"/content").is(200, "")
	for name, want := range map[string]string{
		"Content-Type": "application/octet-stream", "X-Content-Type-Options": "nosniff", "Content-Security-Policy": "sandbox; default-src 'none'",
		"Content-Disposition": "attachment; filename=x.html", "Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store",
	} {
		if got.header.Get(name) != want {
			t.Errorf("%s is %q", name, got.header.Get(name))
		}
	}
	for _, name := range []string{"", "../x", "a/b", `a\b`, "..", "nul\x00", strings.Repeat("x", 256)} {
		if a := p.ada.uploadFile(name, "", []byte("x")); a.status != http.StatusBadRequest {
			t.Errorf("%q was taken with %d", name, a.status)
		}
	}
	for _, path := range []string{"..", "%2e%2e", "art_1", file.ID + "%00", "..%2f" + file.ID} {
		if a := p.ada.get("/client/attachments/" + path + "/content"); a.status == 200 {
			t.Errorf("%s: %d", path, a.status)
		}
	}
}

func TestFilesAreBoundedEachAndTogether(t *testing.T) {
	p := newPlace(t)
	p.ada.uploadFile("big", "", make([]byte, maxFile+1)).is(413, "body_too_large")
	p.ada.uploaded("one", "", make([]byte, maxFile))
	p.ada.uploadFile("two", "", bytes.Repeat([]byte{1}, maxFile)).is(422, "too_large")
	p.ada.uploaded("three", "", bytes.Repeat([]byte{1}, maxFiles-maxFile))
	p.ada.uploadFile("four", "", []byte("x")).is(422, "too_large")
	p.bob.uploaded("one", "", make([]byte, maxFile))
	p.anonymous().uploadFile("x", "", []byte("x")).is(401, "unauthenticated")
}

func TestAFileThatNobodySendsIsDropped(t *testing.T) {
	p := newPlace(t)
	kept, lost := p.ada.uploaded("kept", "", []byte("kept")), p.ada.uploaded("lost", "", []byte("lost"))
	p.ada.post("/client/sessions/"+p.session+"/messages", attached("@scout look", kept.URL)).is(201, "")
	sweep := func(after time.Duration) {
		p.clock.advance(after)
		if err := p.deps.Files.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	sweep(23 * time.Hour)
	p.refresh(p.ada)
	p.ada.get("/client/attachments/"+lost.ID).is(200, "")
	sweep(2 * time.Hour)
	p.refresh(p.ada)
	p.ada.get("/client/attachments/"+lost.ID).is(404, "not_found")
	p.ada.post("/client/sessions/"+p.session+"/messages", attached("late", lost.URL)).is(404, "not_found")
	p.ada.get("/client/attachments/"+kept.ID+"/content").is(200, "")
}

// refresh renews a login whose access token has run out of time.
func (p *place) refresh(c *client) {
	c.bearer = p.signedIn(p.hub.anonymous().post("/client/auth/login", credentials("ada", password)).is(200, "")).bearer
}

// An agent has no login at the hub: what is small goes along, what is not is refused, visibly.
func TestAnAgentIsGivenWhatASmallFileHasInIt(t *testing.T) {
	p := newPlace(t)
	demo := "/client/sessions/" + p.session
	small, big := p.ada.uploaded("n.txt", "text/plain; charset=utf-8", []byte("words")), p.ada.uploaded("b.bin", "", make([]byte, 64<<10))
	sent := p.ada.post(demo+"/messages", attached("@scout read", small.URL)).receipt()
	check := func(task string) {
		t.Helper()
		if d := p.told(task); len(d.Attachments) != 1 || d.Attachments[0].URL != "data:text/plain;base64,d29yZHM=" || d.Attachments[0].Filename != "n.txt" {
			t.Errorf("dispatch %+v", d.Attachments)
		}
	}
	check(sent.Tasks[0])
	check(p.ada.post("/web/agent-tasks", object{"session_id": p.session, "agent_id": p.agent, "trigger_message_id": sent.Message}).is(201, "").field("id"))
	p.ada.post(demo+"/messages", attached("@scout read", big.URL)).is(422, "too_large").sentence("agent")
	p.ada.post(demo+"/messages", attached("x", "attachment:nonsense")).is(400, "invalid_request")
}
