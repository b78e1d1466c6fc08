package client

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func fileClient(t *testing.T, hub http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(hub)
	t.Cleanup(server.Close)
	c, err := New(Options{Hub: server.URL, Keeper: NewMemoryKeeper(Credentials{AccessToken: "access-0", RefreshToken: "r", ExpiresAt: time.Now().Add(time.Hour)})})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A hub that wants another token in the middle gets the whole file once more.
func TestAnUploadIsWholeWhenTheTokenHasRunOut(t *testing.T) {
	data := strings.Repeat("0123456789", 50_000)
	c := fileClient(t, func(w http.ResponseWriter, r *http.Request) {
		got, err := io.ReadAll(r.Body)
		switch {
		case r.URL.Path == "/client/auth/refresh":
			io.WriteString(w, `{"access_token":"access-1","refresh_token":"r1","expires_in":900}`)
		case r.Header.Get("Authorization") != "Bearer access-1":
			w.WriteHeader(http.StatusUnauthorized)
		case err != nil || string(got) != data || r.ContentLength != int64(len(data)) || r.URL.RawQuery != "filename=a+b.txt&mime_type=text%2Fplain":
			t.Errorf("%s: %d of %d bytes, %v", r.URL, len(got), r.ContentLength, err)
		default:
			w.WriteHeader(http.StatusCreated)
			io.WriteString(w, `{"id":"att_1","url":"attachment:att_1"}`)
		}
	})
	file, err := c.Upload(t.Context(), "a b.txt", "text/plain", strings.NewReader(data))
	if err != nil || file.URL != "attachment:att_1" {
		t.Errorf("%+v, %v", file, err)
	}
}

func TestADownloadThatBreaksOffGoesOnWhereItDid(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789"), 10_000)
	var asked atomic.Int32
	c := fileClient(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"v1"`)
		if asked.Add(1) == 1 {
			w.Header().Set("Content-Length", "100000")
			w.Write(data[:30_000])
			panic(http.ErrAbortHandler)
		}
		if r.Header.Get("If-Range") != `"v1"` {
			t.Errorf("goes on with %v", r.Header)
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
	})
	var got bytes.Buffer
	if err := c.Download(t.Context(), "att_1", &got); err != nil || !bytes.Equal(got.Bytes(), data) || asked.Load() != 2 {
		t.Errorf("%d bytes in %d requests, %v", got.Len(), asked.Load(), err)
	}
}

func TestADownloadThatIsRefusedSaysSo(t *testing.T) {
	c := fileClient(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		io.WriteString(w, `{"code":"not_found","detail":"There is nothing here."}`)
	})
	var problem *ProblemError
	if err := c.Download(t.Context(), "att_1", io.Discard); !errors.As(err, &problem) || problem.Code != "not_found" {
		t.Error(err)
	}
}
