package typescript

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/browser"
	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/npm"
	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/rig"
)

// example returns the program under a heading of the SDK's README.
func example(t *testing.T, heading string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(rig.Root(), "api", "ts", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## "+heading+"\n")
	_, code, _ := strings.Cut(section, "```js\n")
	code, _, found := strings.Cut(code, "```")
	if !found {
		t.Fatalf("the README has no example under %q", heading)
	}
	return code
}

func TestTheReadmesExampleForNodeWorks(t *testing.T) {
	t.Parallel()
	outside := npm.Pack(t).Outside
	r := rig.New(t, rig.Options{})
	if err := os.WriteFile(filepath.Join(outside, "example.mjs"), []byte(example(t, "In Node")), 0o600); err != nil {
		t.Fatal(err)
	}
	p := launch(t, outside, nil, []string{"HUB=" + r.HubURL(), "LOGIN=" + rig.Username, "PASSWORD=" + rig.Password}, "node", "example.mjs")
	if !p.lines.Scan() || p.lines.Text() != "hello" {
		t.Fatalf("the example printed %q", p.lines.Text())
	}
}

func TestTheReadmesExampleForBrowsersWorks(t *testing.T) {
	t.Parallel()
	p := newProfile(t)
	page := p.tab()
	page.Do(fmt.Sprintf(`{
		const answers = {name: %q, password: %q}
		window.prompt = what => answers[what]
		const script = document.createElement('script')
		script.type = 'module'
		script.textContent = %q
		document.head.append(script)
	}`, rig.Username, rig.Password, example(t, "In a browser")))
	p.say("from the README")
	p.Eventually("the page shows the message", func() bool {
		return browser.Evaluate[string](page, `document.body.innerText`) == "from the README"
	})
}
