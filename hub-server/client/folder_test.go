package client

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func openFolder(t *testing.T, dir string) *Folder {
	t.Helper()
	f, err := OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

var input = LoginInput{Username: "ada", Password: "x", Device: DeviceInput{Name: "notes", Type: DeviceTypeCli}}

func TestADeviceInAFolderIsTheSameAfterARestart(t *testing.T) {
	h := newFakeHub(t)
	dir := filepath.Join(t.TempDir(), "deep", "notes")
	opts := Options{Hub: h.server.URL, Transport: h.transport}
	first := openFolder(t, dir)
	if _, err := first.Load(); !errors.Is(err, ErrLoggedOut) {
		t.Fatalf("an empty folder: %v", err)
	}
	if err := first.LogIn(t.Context(), opts, input); err != nil {
		t.Fatal(err)
	}
	for _, cursor := range []string{strings.Repeat("x", 256), "c1"} {
		if err := first.SaveCursor(cursor); err != nil {
			t.Fatal(err)
		}
		if got, err := first.LoadCursor(); err != nil || got != cursor {
			t.Fatalf("read back %q, %v", got, err)
		}
	}
	err := first.Update(t.Context(), func(c Credentials) (Credentials, error) {
		c.RefreshToken = "refresh-1"
		return c, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}

	second := openFolder(t, dir)
	if err := second.LogIn(t.Context(), opts, input); err != nil {
		t.Fatal(err)
	}
	c, err := second.Load()
	at, _ := second.LoadCursor()
	if err != nil || c.RefreshToken != "refresh-1" || c.Username != "ada" || at != "c1" || h.logins != 1 {
		t.Errorf("after a restart: %+v, %v, at %q, %d logins", c, err, at, h.logins)
	}
}

func TestAFolderBelongsToOneProcess(t *testing.T) {
	dir := t.TempDir()
	openFolder(t, dir)
	if _, err := OpenFolder(dir); !errors.Is(err, ErrFolderInUse) {
		t.Errorf("opened twice: %v", err)
	}
}

func TestAFolderIsForItsOwnerAlone(t *testing.T) {
	h := newFakeHub(t)
	dir := filepath.Join(t.TempDir(), "notes")
	if err := openFolder(t, dir).LogIn(t.Context(), Options{Hub: h.server.URL, Transport: h.transport}, input); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 3 {
		t.Fatalf("%d files, %v", len(entries), err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", e.Name(), info.Mode(), err)
		}
	}
}

func TestAnotherLoginBeginsAtNoPlace(t *testing.T) {
	h := newFakeHub(t)
	f := openFolder(t, t.TempDir())
	if err := f.SaveCursor("of another device"); err != nil {
		t.Fatal(err)
	}
	if err := f.LogIn(t.Context(), Options{Hub: h.server.URL, Transport: h.transport}, input); err != nil {
		t.Fatal(err)
	}
	if at, err := f.LoadCursor(); at != "" || err != nil {
		t.Errorf("at %q, %v", at, err)
	}
}

func TestCredentialsThatCannotBeKeptAreNotUsed(t *testing.T) {
	h := newFakeHub(t)
	dir := t.TempDir()
	f := openFolder(t, dir)
	if err := f.LogIn(t.Context(), Options{Hub: h.server.URL, Transport: h.transport}, input); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	err := f.Update(t.Context(), func(c Credentials) (Credentials, error) {
		c.ExpiresAt = time.Now()
		return c, nil
	})
	if err == nil {
		t.Error("kept in a folder that is gone")
	}
}

// The hub has spent the old refresh token by the time that the disk turns out to be full.
func TestANewLoginOnAFullDiskIsUsedAndWrittenLater(t *testing.T) {
	h := newFakeHub(t)
	dir := filepath.Join(t.TempDir(), "notes")
	f := openFolder(t, dir)
	opts := Options{Hub: h.server.URL, Transport: h.transport, Keeper: f}
	if err := f.LogIn(t.Context(), opts, input); err != nil {
		t.Fatal(err)
	}
	c, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	full(t, dir)
	h.expire()
	if _, err := Decode[Me](c.API().GetMe(t.Context())); err == nil || !strings.Contains(err.Error(), "keep login") {
		t.Fatalf("error %v, want that the login could not be kept", err)
	}
	wantMe(t, c) // with what is in memory
	h.expire()
	wantMe(t, c) // renewed from it
	roomAgain(t, dir)
	wantMe(t, c)
	wantKept(t, f, h)

	full(t, dir)
	h.expire()
	s := follow(t, c, &place{})
	room := make(chan struct{})
	go func() {
		hub := <-h.sockets
		hub.hello("fresh", "")
		<-room
		hub.hello("fresh", "") // a heartbeat: nothing else asks for a token while the socket stands
	}()
	if err := s.down(); !strings.Contains(err.Error(), "keep login") {
		t.Fatalf("error %v, want that the login could not be kept", err)
	}
	s.up()
	roomAgain(t, dir)
	close(room)
	s.event()
	wantKept(t, f, h)
}

// full makes a folder one that cannot be written to.
func full(t *testing.T, dir string) {
	t.Helper()
	if err := os.Rename(dir, dir+"-away"); err != nil {
		t.Fatal(err)
	}
}

func roomAgain(t *testing.T, dir string) {
	t.Helper()
	if err := os.Rename(dir+"-away", dir); err != nil {
		t.Fatal(err)
	}
}

func wantMe(t *testing.T, c *Client) {
	t.Helper()
	if _, err := Decode[Me](c.API().GetMe(t.Context())); err != nil {
		t.Fatal(err)
	}
}

// wantKept wants the login on disk that the hub takes.
func wantKept(t *testing.T, f *Folder, h *fakeHub) {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if data, err := os.ReadFile(f.credentials()); err != nil || !strings.Contains(string(data), `"`+h.refresh+`"`) {
		t.Fatalf("kept %s, %v, want %s", data, err, h.refresh)
	}
}

// A machine sleeps and its monotonic clock with it; a token does not.
func TestATokenExpiresByTheWallClock(t *testing.T) {
	if at := CredentialsOf(Tokens{ExpiresIn: 900}).ExpiresAt; at != at.Round(0) { //nolint:revive // the reading is what is compared
		t.Errorf("%v has a reading of the monotonic clock", at)
	}
}

func TestALoginThatTheHubHasEndedIsForgotten(t *testing.T) {
	h := newFakeHub(t)
	f := openFolder(t, t.TempDir())
	opts := Options{Hub: h.server.URL, Transport: h.transport, Keeper: f}
	if err := f.LogIn(t.Context(), opts, input); err != nil {
		t.Fatal(err)
	}
	h.expire()
	h.renewable = false
	c, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Decode[Me](c.API().GetMe(t.Context())); !errors.Is(err, ErrLoggedOut) {
		t.Fatalf("error %v", err)
	}
	if _, err := f.Load(); !errors.Is(err, ErrLoggedOut) {
		t.Errorf("still there: %v", err)
	}
	if err := f.LogIn(t.Context(), opts, input); err != nil || h.logins != 2 {
		t.Errorf("a new login: %v, %d logins", err, h.logins)
	}
}

// A folder that was copied has two programs of one device. The one that is kicked must not kick the other at its next start.
func TestAKickedDeviceIsForgotten(t *testing.T) {
	h := newFakeHub(t)
	dir := t.TempDir()
	f := openFolder(t, dir)
	opts := Options{Hub: h.server.URL, Transport: h.transport, Keeper: f}
	if err := f.LogIn(t.Context(), opts, input); err != nil {
		t.Fatal(err)
	}
	c, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	s := follow(t, c, f)
	go func() {
		hub := <-h.sockets
		hub.hello("fresh", "c0")
		hub.send(HubWebSocketFrameTypeDeviceKicked, `{"reason":"logged_in_elsewhere"}`, "")
	}()
	s.up()
	s.event()
	if _, err := os.Stat(filepath.Join(dir, "credentials.json")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the login is still there: %v", err)
	}
	if err := s.end(); !errors.Is(err, ErrKicked) {
		t.Fatalf("ended with %v", err)
	}
	if err := f.LogIn(t.Context(), opts, input); err != nil || h.logins != 2 {
		t.Errorf("the next start: %v, %d logins", err, h.logins)
	}
	if at, err := f.LoadCursor(); at != "" || err != nil {
		t.Errorf("a new device begins at %q, %v", at, err)
	}
}

// What was being renewed when the device was kicked must not come back.
func TestForgettingWaitsForARenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := openFolder(t, t.TempDir())
		f.memory.replace(Credentials{RefreshToken: "r"})
		answer, done := make(chan struct{}), make(chan error, 2)
		go func() {
			done <- f.Update(t.Context(), func(Credentials) (Credentials, error) {
				<-answer
				return Credentials{RefreshToken: "r2"}, nil
			})
		}()
		synctest.Wait() // for the renewal to be under way
		go func() { done <- f.Forget() }()
		synctest.Wait()
		close(answer)
		if err := errors.Join(<-done, <-done); err != nil {
			t.Fatal(err)
		}
		if c, err := f.Load(); !errors.Is(err, ErrLoggedOut) {
			t.Errorf("in memory: %+v", c)
		}
		if _, err := os.Stat(f.credentials()); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("on disk: %v", err)
		}
	})
}

func TestADamagedFolderSaysSo(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "credentials.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenFolder(dir); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("error %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "credentials.json")); err != nil {
		t.Fatal(err)
	}
	openFolder(t, dir) // the failed one has let go of its lock
}
