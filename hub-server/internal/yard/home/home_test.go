package home_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/hub-server/client"
	"github.com/switchyard-dev/switchyard/hub-server/internal/yard/home"
)

// TestMain runs this program as another process of the same home when asked to: see TestTwoProcessesOfOneNameAreTwoDevices.
func TestMain(m *testing.M) {
	if dir := os.Getenv("TEST_HOLD_DEVICE"); dir != "" {
		holdDevice(dir)
		return
	}
	goleak.VerifyTestMain(m)
}

func holdDevice(dir string) {
	h := home.At(dir)
	login, err := h.Login()
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := h.Acquire(context.Background(), "a", login, register)
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := d.Keeper().Load()
	fmt.Println(d.Name, c.DeviceID, err)
	bufio.NewReader(os.Stdin).ReadString('\n') // until the test lets go
}

func register(_ context.Context, name string) (client.Credentials, error) {
	return client.Credentials{DeviceID: "dev_" + name, RefreshToken: "r"}, nil
}

func loggedIn(t *testing.T) (home.Home, home.Login) {
	t.Helper()
	h := home.At(filepath.Join(t.TempDir(), "yard"))
	if err := h.SaveLogin(t.Context(), "http://hub:1", client.Credentials{DeviceID: "dev_login", Username: "ada", RefreshToken: "r"}); err != nil {
		t.Fatal(err)
	}
	login, err := h.Login()
	if err != nil {
		t.Fatal(err)
	}
	return h, login
}

func acquire(t *testing.T, h home.Home, name string, login home.Login) *home.Device {
	t.Helper()
	d, err := h.Acquire(t.Context(), name, login, register)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Release() })
	return d
}

func TestTheHomeIsTheNamedOneElseThePreparedOneElseTheUsers(t *testing.T) {
	work, prepared := t.TempDir(), t.TempDir()
	if err := os.MkdirAll(filepath.Join(prepared, ".switchyard", "yard"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, dir, want string
		env             map[string]string
	}{
		{"named", prepared, "/named", map[string]string{"YARD_HOME": "/named", "HOME": "/home/ada"}},
		{"prepared", prepared, filepath.Join(prepared, ".switchyard", "yard"), map[string]string{"HOME": "/home/ada"}},
		{"data folder", work, "/data/switchyard/yard", map[string]string{"XDG_DATA_HOME": "/data", "HOME": "/home/ada"}},
		{"user", work, "/home/ada/.local/share/switchyard/yard", map[string]string{"HOME": "/home/ada"}},
		{"nowhere", work, "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, err := home.Locate(func(key string) string { return c.env[key] }, c.dir)
			if (err != nil) != (c.want == "") || h.Dir() != c.want {
				t.Fatalf("got %q, %v, want %q", h.Dir(), err, c.want)
			}
		})
	}
}

func TestTwoConnectionsOfOneNameAreTwoDevices(t *testing.T) {
	h, login := loggedIn(t)
	first, second, other := acquire(t, h, "a", login), acquire(t, h, "a", login), acquire(t, h, "b", login)
	if first.Name != "a" || second.Name != "a-2" || other.Name != "b" {
		t.Fatalf("devices %s, %s, %s", first.Name, second.Name, other.Name)
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	if again := acquire(t, h, "a", login); again.Name != "a" {
		t.Fatalf("after its release: %s", again.Name)
	}
}

func TestTwoProcessesOfOneNameAreTwoDevices(t *testing.T) {
	h, login := loggedIn(t)
	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), "TEST_HOLD_DEVICE="+h.Dir())
	in, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "a dev_a <nil>\n" {
		t.Fatalf("the other process says %q, %v", line, err)
	}
	if mine := acquire(t, h, "a", login); mine.Name != "a-2" {
		t.Errorf("beside it: %s", mine.Name)
	}
	in.Close()
	if err := other.Wait(); err != nil {
		t.Error(err)
	}
	if freed := acquire(t, h, "a", login); freed.Name != "a" {
		t.Errorf("after its end: %s", freed.Name)
	}
}

func TestADeviceIsRegisteredOncePerLogin(t *testing.T) {
	h, login := loggedIn(t)
	registered := 0
	counting := func(ctx context.Context, name string) (client.Credentials, error) {
		registered++
		return register(ctx, name)
	}
	use := func(login home.Login) string {
		d, err := h.Acquire(t.Context(), "a", login, counting)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Release()
		before, err := d.LoadCursor()
		if err != nil {
			t.Fatal(err)
		}
		if err := d.SaveCursor("c1"); err != nil {
			t.Fatal(err)
		}
		return before
	}
	if use(login); registered != 1 {
		t.Fatalf("%d registrations after the first use", registered)
	}
	if cursor := use(login); registered != 1 || cursor != "c1" {
		t.Fatalf("%d registrations, cursor %q after the second use", registered, cursor)
	}
	other := login
	other.Credentials.DeviceID = "dev_other"
	if cursor := use(other); registered != 2 || cursor != "" {
		t.Fatalf("%d registrations, cursor %q under another login", registered, cursor)
	}
}

func TestAFailedRegistrationLeavesTheNameFree(t *testing.T) {
	h, login := loggedIn(t)
	_, err := h.Acquire(t.Context(), "a", login, func(context.Context, string) (client.Credentials, error) {
		return client.Credentials{}, client.ErrUnreachable
	})
	if !errors.Is(err, client.ErrUnreachable) {
		t.Fatalf("error %v", err)
	}
	if d := acquire(t, h, "a", login); d.Name != "a" {
		t.Fatalf("device %s", d.Name)
	}
}

func TestANameThatIsNoFileNameIsRefused(t *testing.T) {
	h, login := loggedIn(t)
	for _, name := range []string{"", "..", "../x", "a/b", "a.json", ".a", "a b", strings.Repeat("a", 33)} {
		if _, err := h.Acquire(t.Context(), name, login, register); err == nil {
			t.Errorf("%q was taken", name)
		}
	}
}

func TestSecretsAreForTheirOwnerAlone(t *testing.T) {
	h, login := loggedIn(t)
	d := acquire(t, h, "a", login)
	if err := d.SaveCursor("c1"); err != nil {
		t.Fatal(err)
	}
	err := filepath.Walk(h.Dir(), func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode().Perm())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestUpdatesOfOneFileExcludeEachOther(t *testing.T) {
	_, login := loggedIn(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			err := login.Keeper.Update(t.Context(), func(c client.Credentials) (client.Credentials, error) {
				c.AccessToken += "x"
				return c, nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	c, err := login.Keeper.Load()
	if err != nil || c.AccessToken != "xxxxxxxx" {
		t.Fatalf("token %q, %v", c.AccessToken, err)
	}
	refused := errors.New("refused")
	if err := login.Keeper.Update(t.Context(), func(c client.Credentials) (client.Credentials, error) { return client.Credentials{}, refused }); !errors.Is(err, refused) {
		t.Fatalf("error %v", err)
	}
	if after, _ := login.Keeper.Load(); after != c {
		t.Error("a failed update changed the file")
	}
}

func TestWaitingForAnotherProcessEndsWithTheContext(t *testing.T) {
	_, login := loggedIn(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err := login.Keeper.Update(t.Context(), func(c client.Credentials) (client.Credentials, error) {
		return c, login.Keeper.Update(ctx, func(c client.Credentials) (client.Credentials, error) { return c, nil })
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("error %v", err)
	}
}

func TestTheNewestCursorIsReadBack(t *testing.T) {
	h, login := loggedIn(t)
	for _, cursor := range []string{"a rather long one of another epoch", "short", strings.Repeat("c", 256), "s", ""} {
		d := acquire(t, h, "a", login)
		if err := d.SaveCursor(cursor); err != nil {
			t.Fatal(err)
		}
		if err := d.Release(); err != nil {
			t.Fatal(err)
		}
		again := acquire(t, h, "a", login)
		if got, err := again.LoadCursor(); err != nil || got != cursor {
			t.Fatalf("read back %q, %v, want %q", got, err, cursor)
		}
		again.Release()
	}
}

func TestMovingTheHubKeepsTheLogin(t *testing.T) {
	h, login := loggedIn(t)
	if err := h.MoveHub(t.Context(), "http://hub:2"); err != nil {
		t.Fatal(err)
	}
	moved, err := h.Login()
	if err != nil || moved.Hub != "http://hub:2" || moved.Credentials != login.Credentials {
		t.Fatalf("login %+v, %v", moved, err)
	}
}

func TestForgettingLeavesNoCredentials(t *testing.T) {
	h, login := loggedIn(t)
	acquire(t, h, "a", login)
	acquire(t, h, "a", login)
	names, err := h.Devices()
	if err != nil || strings.Join(names, " ") != "a a-2" {
		t.Fatalf("devices %v, %v", names, err)
	}
	if err := h.Forget(); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Login(); !errors.Is(err, client.ErrLoggedOut) {
		t.Errorf("login: %v", err)
	}
	if _, err := h.DeviceKeeper("a").Load(); !errors.Is(err, client.ErrLoggedOut) {
		t.Errorf("device: %v", err)
	}
	if err := h.Forget(); err != nil {
		t.Errorf("again: %v", err)
	}
}

func TestADamagedFileMeansLoggingInAgain(t *testing.T) {
	h, _ := loggedIn(t)
	if err := os.WriteFile(filepath.Join(h.Dir(), "login.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Login(); !errors.Is(err, client.ErrLoggedOut) {
		t.Errorf("error %v", err)
	}
	if err := h.SaveLogin(t.Context(), "http://hub:1", client.Credentials{RefreshToken: "r"}); err != nil {
		t.Error(err)
	}
}

func BenchmarkSaveCursor(b *testing.B) {
	h := home.At(b.TempDir())
	if err := h.SaveLogin(b.Context(), "http://hub:1", client.Credentials{RefreshToken: "r"}); err != nil {
		b.Fatal(err)
	}
	login, _ := h.Login()
	d, err := h.Acquire(b.Context(), "a", login, register)
	if err != nil {
		b.Fatal(err)
	}
	defer d.Release()
	for b.Loop() {
		if err := d.SaveCursor("c_0190b4c27f7a7cc1a94e2f0d3c1b9a55"); err != nil {
			b.Fatal(err)
		}
	}
}
