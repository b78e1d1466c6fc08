package sqlstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/switchyard-dev/switchyard/hub-server/internal/runlog"
	"github.com/switchyard-dev/switchyard/shared/event"
	"github.com/switchyard-dev/switchyard/shared/fault"
	"github.com/switchyard-dev/switchyard/shared/id"
)

func hashOf(data []byte) runlog.BlobHash {
	sum := sha256.Sum256(data)
	return runlog.BlobHash(hex.EncodeToString(sum[:]))
}

func (r *record) put(tb testing.TB, edge id.Edge, data []byte) runlog.BlobHash {
	tb.Helper()
	if err := r.Blobs.Put(tb.Context(), edge, hashOf(data), bytes.NewReader(data)); err != nil {
		tb.Fatal(err)
	}
	return hashOf(data)
}

func (r *record) readBlob(tb testing.TB, hash runlog.BlobHash) []byte {
	tb.Helper()
	size, body, err := r.Blobs.Open(tb.Context(), hash)
	if err != nil {
		tb.Fatal(err)
	}
	data, err := io.ReadAll(body)
	if err != nil || int64(len(data)) != size {
		tb.Fatalf("read %d of %d bytes: %v", len(data), size, err)
	}
	return data
}

func TestABlobComesBackAsItWentIn(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		edge := id.NewEdge()
		for _, size := range []int{0, 1, 1 << 20, 1<<20 + 1, 3 << 20} {
			data := bytes.Repeat([]byte("s"), size)
			if got := r.readBlob(t, r.put(t, edge, data)); !bytes.Equal(got, data) {
				t.Errorf("%d bytes came back as %d", size, len(got))
			}
		}
		if parts := r.count(t, `SELECT MAX(LENGTH(data)) FROM blob_chunks`); parts != 1<<20 {
			t.Errorf("the largest part has %d bytes", parts)
		}
	})
}

func (r *record) count(tb testing.TB, query string) (n int) {
	tb.Helper()
	if err := r.store.readDB.QueryRowContext(tb.Context(), query).Scan(&n); err != nil {
		tb.Fatal(err)
	}
	return n
}

func TestKnowingAHashIsNotHavingItsBlob(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		mine, other := id.NewEdge(), id.NewEdge()
		hash := r.put(t, mine, []byte("secret"))
		for edge, want := range map[id.Edge]bool{mine: true, other: false} {
			if has, err := r.Blobs.Has(t.Context(), edge, hash); err != nil || has != want {
				t.Errorf("has = %t, %v, want %t", has, err, want)
			}
		}
		r.put(t, other, []byte("secret"))
		if has, err := r.Blobs.Has(t.Context(), other, hash); err != nil || !has {
			t.Errorf("after its own upload: %t, %v", has, err)
		}
		if n := r.count(t, `SELECT COUNT(*) FROM blob_chunks`); n != 1 {
			t.Errorf("the bytes are stored %d times", n)
		}
	})
}

func TestABadUploadLeavesNoBlob(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		edge, hash := id.NewEdge(), hashOf([]byte("what was promised"))
		torn := errors.New("torn")
		huge := io.LimitReader(zeros{}, 4<<20+1)
		for name, c := range map[string]struct {
			body io.Reader
			want error
		}{
			"other bytes": {strings.NewReader("what came"), fault.New(fault.BlobMismatch, "")},
			"torn":        {io.MultiReader(strings.NewReader("what was"), iotest.ErrReader(torn)), torn},
			"too large":   {huge, fault.New(fault.BodyTooLarge, "")},
		} {
			if err := r.Blobs.Put(t.Context(), edge, hash, c.body); !errors.Is(err, c.want) {
				t.Errorf("%s: got %v, want %v", name, err, c.want)
			}
		}
		if has, err := r.Blobs.Has(t.Context(), edge, hash); err != nil || has {
			t.Errorf("has = %t, %v", has, err)
		}
		_, _, err := r.Blobs.Open(t.Context(), hash)
		if !errors.Is(err, fault.New(fault.NotFound, "")) {
			t.Errorf("open: %v, want NotFound", err)
		}
		if err := NewRunlog(r.store, r.writer, "hub").SweepUploads(t.Context(), time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		if n := r.count(t, `SELECT COUNT(*) FROM blob_chunks`); n != 0 {
			t.Errorf("%d parts of dead uploads are left", n)
		}
	})
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestAFrameWaitsForTheBlobThatARowNames(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		j, n := launched(t, r)
		report := []byte("# Report\n")
		made := event.ArtifactCreatedPayload{
			Type: "file", ArtifactID: id.NewArtifact(), Filename: "report.md", ContentType: "text/markdown",
			Size: int64(len(report)), Checksum: string(hashOf(report)),
		}
		long := strings.Repeat("long ", 40_000)
		msg := id.NewMessage()
		j.write(t, n.ID, wireArtifact, made)
		j.write(t, n.ID, wireSaid, event.MessageCompletedPayload{
			MessageID: msg, ContentBlob: &event.BlobRef{SHA256: string(hashOf([]byte(long))), Size: int64(len(long))},
			ContentChecksum: event.TextChecksum(long),
		})
		j.write(t, n.ID, wireFinished, event.RunCompletedPayload{MessageID: msg})
		r.put(t, id.NewEdge(), report) // somebody else's does not count
		for _, missing := range [][]byte{report, []byte(long)} {
			if res := j.flush(t, r); res.NeedBlob != hashOf(missing) || res.Watermark != 0 {
				t.Fatalf("got %+v, want to need %s", res, hashOf(missing))
			}
			r.put(t, j.edge, missing)
		}
		if res := j.flush(t, r); res.Watermark != 3 {
			t.Fatalf("got %+v", res)
		}
		if got := r.messagesOf(t, n.Session); !slices.Equal(got, []string{long}) {
			t.Errorf("the message has %d bytes of text, want %d", len(strings.Join(got, "")), len(long))
		}
		listed, err := r.Runs.Artifacts(t.Context(), n.ID)
		if err != nil || len(listed) != 1 || listed[0].ID != made.ArtifactID || listed[0].Seq != 1 || listed[0].Filename != "report.md" {
			t.Fatalf("artifacts are %+v, %v", listed, err)
		}
		one, err := r.Runs.Artifact(t.Context(), made.ArtifactID)
		if err != nil || one != listed[0] || string(r.readBlob(t, one.Blob)) != string(report) {
			t.Errorf("artifact is %+v, %v", one, err)
		}
		if _, err := r.Runs.Artifact(t.Context(), id.NewArtifact()); !errors.Is(err, fault.New(fault.NotFound, "")) {
			t.Errorf("unknown artifact: %v", err)
		}
	})
}

func TestAReaderOfABlobEndsWithItsContext(t *testing.T) {
	eachRecord(t, func(t *testing.T, r *record) {
		hash := r.put(t, id.NewEdge(), make([]byte, 2<<20))
		ctx, cancel := context.WithCancel(t.Context())
		_, body, err := r.Blobs.Open(ctx, hash)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.CopyN(io.Discard, body, 10); err != nil {
			t.Fatal(err)
		}
		cancel()
		if _, err := io.Copy(io.Discard, body); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want the context's end", err)
		}
	})
}
