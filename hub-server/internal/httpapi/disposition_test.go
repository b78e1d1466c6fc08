package httpapi

import (
	"mime"
	"strings"
	"testing"
)

func FuzzDisposition(f *testing.F) {
	for _, name := range []string{"report.md", "../../etc/passwd", `..\..\boot.ini`, "a\r\nSet-Cookie: x=1", "", "..", "/", "报告.md", `"quoted"; filename=evil`, "\x00"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		value := disposition(name)
		kind, params, err := mime.ParseMediaType(value)
		if err != nil || kind != "attachment" {
			t.Fatalf("%q gives %q: %v", name, value, err)
		}
		if file := params["filename"]; strings.ContainsAny(file, "/\\\r\n\x00") || file == ".." {
			t.Fatalf("%q gives file name %q", name, file)
		}
	})
}
