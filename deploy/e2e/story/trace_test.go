package story

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
	"github.com/switchyard-dev/switchyard/hub-server/client"
)

// terminalOf is a machine on which the first user of a rig is logged in.
func terminalOf(t *testing.T, r *rig.Rig) *home {
	t.Helper()
	h := &home{t: t, bin: filepath.Dir(r.Program("yard")), state: t.TempDir()}
	p := rig.StartReading(t, rig.Password+"\n", "yard login", []string{"YARD_HOME=" + filepath.Join(h.state, "yard")}, r.Program("yard"),
		"login", "--hub", r.HubURL(), "--user", rig.Username)
	if code := p.Wait(yardPatience); code != 0 {
		t.Fatalf("login ended with code %d", code)
	}
	return h
}

func (h *home) does(args ...string) {
	h.t.Helper()
	p := h.yard(args...)
	if code := p.Wait(yardPatience); code != 0 {
		h.t.Fatalf("yard %q ended with code %d: %s%s", args, code, p.Out(), p.Log())
	}
}

func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	paths, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(path)] = string(content)
	}
	return files
}

// A conversation with tools and a sub-agent becomes files, which are whole again after a loss, another conversation, and the same files again.
func TestTracesAreTheConversationThroughLossImportAndARestart(t *testing.T) {
	t.Parallel()
	a := newPlaying(t)
	for _, message := range []string{"Hi", "Search auth bugs", "Think"} {
		a.settle(a.a.Run(a.session, "@worker "+message), client.RunStateCompleted)
	}
	h := terminalOf(t, a.Rig)
	kept, back := filepath.Join(h.state, "kept"), filepath.Join(h.state, "back")
	h.does("trace", "export", a.session, "--dir", kept)
	whole := filesIn(t, kept)
	if len(whole) < 2 {
		t.Fatalf("files are %v", slices.Collect(maps.Keys(whole)))
	}
	h.does("trace", "verify", kept)

	names := slices.Sorted(maps.Keys(whole))
	lost, torn := filepath.Join(kept, names[0]), filepath.Join(kept, names[1])
	if err := os.Remove(lost); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(torn, int64(len(whole[names[1]])*2/3)); err != nil {
		t.Fatal(err)
	}
	h.refused(1, "", "trace", "verify", kept)
	a.KillHub()
	a.StartHub()
	h.does("trace", "export", a.session, "--dir", kept)
	if again := filesIn(t, kept); !maps.Equal(again, whole) {
		t.Errorf("after a loss the files are\n%v\nwant\n%v", again, whole)
	}

	var paths []string
	for _, name := range names {
		paths = append(paths, filepath.Join(kept, name))
	}
	made := one[client.ImportedTrace](h, append([]string{"trace", "import", "--name", "brought"}, paths...)...)
	h.does("trace", "export", made.SessionID, "--dir", back)
	if files := filesIn(t, back); !maps.Equal(files, whole) {
		t.Errorf("what was brought is\n%v\nwant\n%v", files, whole)
	}
	h.does("trace", "verify", back, "--conversation", "brought")
	h.refused(5, "imported from a trace", "send", "--session", "brought", "And now?")
	h.does("trace", "replay", lost, torn)
}
