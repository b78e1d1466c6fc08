package sqlstore

import (
	"bytes"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/account"
	"github.com/switchyard-dev/switchyard/hub-server/internal/chat"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
	"github.com/switchyard-dev/switchyard/shared/wire"
)

const (
	mostOfAFile = 2 << 20 // bytes
	mostOfAll   = 3 << 20
)

// files are what the people of the town have sent one another, by the clock of the town.
func (w *town) files() *chat.Attachments {
	record := newRecord(w.t, w.store, w.accounts.writer)
	return &chat.Attachments{
		Store: w.chat, Shelf: record.Blobs, Most: mostOfAFile, Quota: mostOfAll, Now: func() time.Time { return w.now }, Log: slog.New(slog.DiscardHandler),
	}
}

func (w *town) upload(files *chat.Attachments, by account.User, name string, data []byte) chat.Attachment {
	w.t.Helper()
	file, err := files.Keep(w.ctx(), by.ID, name, "", bytes.NewReader(data))
	w.must(err)
	return file
}

func (w *town) having(s id.Session, by account.User, file chat.Attachment) chat.Posting {
	p := w.posting(s, by.ID)
	p.Message.Attachments = []wire.Attachment{attachmentOf(file)}
	return p
}

func attachmentOf(file chat.Attachment) wire.Attachment {
	return wire.Attachment{Kind: "file", URL: file.URL(), Filename: file.Filename, MIMEType: file.MIMEType, Size: file.Size}
}

func (w *town) sent(s id.Session, by account.User, file chat.Attachment) chat.Message {
	w.t.Helper()
	m, _, err := w.chat.Post(w.ctx(), w.having(s, by, file))
	w.must(err)
	return m
}

// reads fails unless exactly these people read a file.
func (w *town) reads(file chat.Attachment, when string, want map[string]account.User, not ...account.User) {
	w.t.Helper()
	for name, who := range want {
		if got, err := w.chat.AttachmentFor(w.ctx(), who.ID, file.ID); err != nil || got != file {
			w.t.Errorf("%s, %s reads %+v, %v, want %+v", when, name, got, err, file)
		}
	}
	for i, who := range not {
		_, err := w.chat.AttachmentFor(w.ctx(), who.ID, file.ID)
		_, none := w.chat.AttachmentFor(w.ctx(), who.ID, id.NewAttachment())
		if fault.CodeOf(err) != fault.NotFound || err.Error() != none.Error() {
			w.t.Errorf("%s, outsider %d: %v, of no file: %v", when, i, err, none)
		}
	}
}

func (w *town) rows(query string) (n int) {
	w.t.Helper()
	w.must(w.store.readDB.QueryRowContext(w.ctx(), query).Scan(&n))
	return n
}

const (
	countParts   = `SELECT COUNT(*) FROM blob_chunks`
	countUploads = `SELECT COUNT(*) FROM blob_uploads`
	countFiles   = `SELECT COUNT(*) FROM attachments`
)

func TestTheSameFileOfOnePersonIsKeptOnce(t *testing.T) {
	eachTown(t, func(w *town) {
		ada, bob, files := w.person("ada"), w.person("bob"), w.files()
		data := bytes.Repeat([]byte("0123456789abcdef"), (1<<20+32)/16)
		first := w.upload(files, ada, "plan", data)
		w.now = w.now.Add(time.Minute)
		again := w.upload(files, ada, "plan", data)
		if again.ID != first.ID || again.Upload != first.Upload || !again.CreatedAt.Equal(w.now) {
			w.t.Errorf("%+v came of %+v", again, first)
		}
		if parts, open := w.rows(countParts), w.rows(countUploads); parts != 2 || open != 0 {
			w.t.Errorf("%d parts, %d open uploads", parts, open)
		}
		if got, err := io.ReadAll(files.Open(w.ctx(), again)); err != nil || !bytes.Equal(got, data) {
			w.t.Errorf("%d bytes came back, %v", len(got), err)
		}
		for name, other := range map[string]chat.Attachment{"other name": w.upload(files, ada, "copy", data), "other owner": w.upload(files, bob, "plan", data)} {
			if other.ID == first.ID || other.Upload == first.Upload {
				w.t.Errorf("%s: %+v shares with %+v", name, other, first)
			}
		}
		errs := together(8, func(int) error {
			_, err := files.Keep(w.ctx(), bob.ID, "at once", "", bytes.NewReader([]byte("x")))
			return err
		})
		if n := w.rows(`SELECT COUNT(*) FROM attachments WHERE filename = 'at once'`); n != 1 || count(errs, "") != 8 {
			w.t.Errorf("%d files of eight at once: %v", n, errs)
		}
	})
}

func TestFilesBeyondWhatOnePersonMayKeepLeaveNothing(t *testing.T) {
	eachTown(t, func(w *town) {
		ada, bob, files := w.person("ada"), w.person("bob"), w.files()
		w.upload(files, ada, "one", make([]byte, mostOfAFile))
		full := bytes.Repeat([]byte("x"), mostOfAll-mostOfAFile)
		for name, c := range map[string]struct {
			data []byte
			want fault.Code
		}{"one byte too many": {append(full, 'x'), fault.TooLarge}, "too large by itself": {make([]byte, mostOfAFile+1), fault.BodyTooLarge}} {
			_, err := files.Keep(w.ctx(), ada.ID, name, "", bytes.NewReader(c.data))
			w.wants(c.want, err)
			if parts, open := w.rows(countParts), w.rows(countUploads); parts != 2 || open != 0 {
				w.t.Errorf("%s: %d parts and %d open uploads are left", name, parts, open)
			}
		}
		errs := together(3, func(i int) error {
			_, err := files.Keep(w.ctx(), ada.ID, string(rune('a'+i)), "", bytes.NewReader(full))
			return err
		})
		if held := w.rows(`SELECT CAST(SUM(size) AS BIGINT) FROM attachments`); count(errs, "") != 1 || count(errs, fault.TooLarge) != 2 || held != mostOfAll {
			w.t.Errorf("at once: %v, held %d", errs, held)
		}
		w.upload(files, ada, "one", make([]byte, mostOfAFile)) // the answer may have been lost
		w.upload(files, bob, "one", make([]byte, mostOfAFile))
	})
}

func TestWhoReadsAFileFollowsWhoReadsItsMessages(t *testing.T) {
	eachTown(t, func(w *town) {
		ada, bob, carl, files := w.person("ada"), w.person("bob"), w.person("carl"), w.files()
		file := w.upload(files, ada, "plan", []byte("plan"))
		owner := map[string]account.User{"the owner": ada}
		both := map[string]account.User{"the owner": ada, "a member": bob}
		here, bobs := w.group(ada, userOf(bob)), w.group(bob, userOf(ada), userOf(carl))
		w.reads(file, "unsent", owner, bob, carl)

		_, _, err := w.chat.Post(w.ctx(), w.having(bobs.ID, bob, file))
		w.wants(fault.NotFound, err)
		if page, err := w.chat.After(w.ctx(), bobs.ID, 0, 9); err != nil || len(page) != 0 {
			w.t.Errorf("a refused message is there: %+v, %v", page, err)
		}
		m := w.sent(here.ID, ada, file)
		w.reads(file, "sent", both, carl)
		w.leave(here.ID, userOf(bob))
		w.reads(file, "after bob left", owner, bob, carl)
		w.must(w.join(here.ID, ada, bob))
		w.reads(file, "after bob came back", both, carl)

		w.must(w.edit(m, ada, `{"text":"without"}`))
		w.reads(file, "edited away", owner, bob, carl)
		w.must(w.edit(m, ada, `{"text":"with"}`, attachmentOf(file)))
		w.reads(file, "edited back", both, carl)
		w.must(w.recall(m, ada))
		w.reads(file, "taken back", owner, bob, carl)

		passed := w.sent(here.ID, ada, file)
		w.sent(bobs.ID, bob, file) // whoever reads it passes it on
		w.must(w.recall(passed, ada))
		w.reads(file, "taken back where it came from", map[string]account.User{"the owner": ada, "who passed it on": bob, "who got it": carl})
		w.leave(bobs.ID, userOf(ada))
		w.reads(file, "after its owner left", map[string]account.User{"the owner": ada})
	})
}

// A sender who has lost a file cannot give it back to themselves through a message that had it once.
func TestAMessageThatHadAFileOnceIsNoWayBackToIt(t *testing.T) {
	eachTown(t, func(w *town) {
		ada, bob, files := w.person("ada"), w.person("bob"), w.files()
		file := w.upload(files, ada, "plan", []byte("plan"))
		s := w.group(ada, userOf(bob))
		from := w.sent(s.ID, ada, file)
		own := w.sent(s.ID, bob, file)
		w.must(w.edit(own, bob, `{"text":"same file"}`, attachmentOf(file))) // it may stay …
		w.must(w.recall(from, ada))
		w.must(w.edit(own, bob, `{"text":"still"}`, attachmentOf(file))) // … as long as a message has it, this one too
		w.must(w.edit(own, bob, `{"text":"gone"}`))
		w.wants(fault.NotFound, w.edit(own, bob, `{"text":"back"}`, attachmentOf(file)))
		for name, trick := range map[string]wire.Attachment{
			"a name":      {Kind: "file", URL: "https://example.com/", Filename: file.URL()},
			"an address":  {Kind: "file", URL: "https://example.com/" + file.URL()},
			"a quotation": {Kind: "file", URL: "https://example.com/", Filename: `"url":"` + file.URL() + `"`},
		} {
			w.must(w.edit(own, bob, `{"text":"`+name+`"}`, trick))
			w.reads(file, name, map[string]account.User{"the owner": ada}, bob)
		}
	})
}

func TestOnlyFilesThatNobodySentAreSwept(t *testing.T) {
	eachTown(t, func(w *town) {
		ada, files := w.person("ada"), w.files()
		s := w.group(ada)
		sent, late := w.upload(files, ada, "sent", []byte("sent")), w.upload(files, ada, "late", []byte("late"))
		again, edited := w.upload(files, ada, "again", []byte("again")), w.upload(files, ada, "edited", []byte("edited"))
		m := w.sent(s.ID, ada, sent)
		w.must(w.edit(m, ada, `{"text":"another"}`, attachmentOf(edited)))
		w.must(w.recall(m, ada)) // its owner keeps what they sent
		w.now = w.now.Add(23 * time.Hour)
		w.upload(files, ada, "again", []byte("again"))
		w.must(files.Sweep(w.ctx()))
		if n := w.rows(countFiles); n != 4 {
			w.t.Errorf("%d files are left within a day", n)
		}
		w.now = w.now.Add(2 * time.Hour)
		w.twice(func() error { return files.Sweep(w.ctx()) })
		for _, file := range []chat.Attachment{sent, edited, again} {
			got, err := files.Get(w.ctx(), ada.ID, file.ID)
			w.must(err)
			if data, err := io.ReadAll(files.Open(w.ctx(), got)); err != nil || string(data) != file.Filename {
				w.t.Errorf("%s has %q, %v", file.Filename, data, err)
			}
		}
		if files, parts := w.rows(countFiles), w.rows(countParts); files != 3 || parts != 3 {
			w.t.Errorf("%d files in %d parts are left", files, parts)
		}
		_, _, err := w.chat.Post(w.ctx(), w.having(s.ID, ada, late))
		w.wants(fault.NotFound, err)
	})
}

// A file is either sent and there, or swept and in no message.
func TestAFileIsNotSweptFromUnderAMessage(t *testing.T) {
	eachTown(t, func(w *town) {
		ada, files := w.person("ada"), w.files()
		s := w.group(ada)
		m := w.post(s.ID, ada.ID)
		for i := range 10 {
			file := w.upload(files, ada, "plan", []byte{byte(i)})
			w.now = w.now.Add(25 * time.Hour)
			at := w.now
			errs := together(2, func(n int) error {
				if n == 0 {
					return w.chat.SweepAttachments(w.ctx(), at)
				}
				if i%2 == 0 {
					return w.edit(m, ada, `{"text":"with"}`, attachmentOf(file))
				}
				_, _, err := w.chat.Post(w.ctx(), w.having(s.ID, ada, file))
				return err
			})
			_, err := w.chat.AttachmentFor(w.ctx(), ada.ID, file.ID)
			if errs[0] != nil || fault.CodeOf(errs[1]) != fault.CodeOf(err) {
				w.t.Errorf("swept: %v, sent: %v, there: %v", errs[0], errs[1], err)
			}
		}
	})
}

// An upload that took so long that it was swept is no file.
func TestAFileHasItsBytesOrIsNone(t *testing.T) {
	eachTown(t, func(w *town) {
		ada, files := w.person("ada"), w.files()
		upload, hash, size, err := files.Shelf.Receive(w.ctx(), bytes.NewReader([]byte("slow")), mostOfAFile)
		w.must(err)
		w.must(w.runs.SweepUploads(w.ctx(), time.Now().Add(time.Hour)))
		slow := chat.Attachment{ID: id.NewAttachment(), Owner: ada.ID, Filename: "slow", MIMEType: "x/y", Size: size, Hash: hash, Upload: upload, CreatedAt: w.now}
		_, err = w.chat.KeepAttachment(w.ctx(), slow, mostOfAll)
		w.wants(fault.Conflict, err)
		if n := w.rows(countFiles); n != 0 {
			w.t.Errorf("%d files", n)
		}
	})
}
