package main

import (
	"bytes"
	"strings"
	"testing"
)

const events = `{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:7: quiet\n"}
{"Action":"pass","Package":"p","Test":"TestA","Elapsed":3}
`

const told = `{"Action":"output","Package":"p","Test":"TestE","Output":"    e_test.go:7: figure: P1: 20 kills\n"}
{"Action":"pass","Package":"p","Test":"TestE","Elapsed":1}
`

const pass = `{"Action":"output","Package":"p","Output":"PASS\n"}
{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}
{"Action":"pass","Package":"p","Elapsed":0.1}
`

func skip(reason string) string {
	return `{"Action":"output","Package":"p","Test":"TestB","Output":"    b_test.go:9: ` + reason + `\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"--- SKIP: TestB (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestB","Elapsed":0}
`
}

const fail = `{"Action":"output","Package":"p","Output":"-test.shuffle 42\n"}
{"Action":"output","Package":"p","Test":"TestC","Output":"    c_test.go:3: loud\n"}
{"Action":"fail","Package":"p","Test":"TestC","Elapsed":0}
{"Action":"output","Package":"p","Output":"FAIL\tp\t0.1s\n"}
{"Action":"fail","Package":"p","Elapsed":0.1}
`

const panicked = `{"Action":"output","Package":"p","Test":"TestD","Output":"panic: struck here\n"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t0.1s\n"}
{"Action":"fail","Package":"p","Elapsed":0.1}
`

const unbuilt = `{"ImportPath":"p","Action":"build-output","Output":"./a.go:1: undefined: x\n"}
{"ImportPath":"p","Action":"build-fail"}
{"Action":"output","Package":"p","Output":"FAIL\tp [build failed]\n"}
{"Action":"fail","Package":"p","Elapsed":0}
`

func TestTheReportSaysWhatMatters(t *testing.T) {
	for _, c := range []struct {
		name, in             string
		passed, passedStrict bool
		shown                []string
		hidden               string
	}{
		{"all passed", events + pass, true, true,
			[]string{"ok  \tp\t0.1s", "slow: p TestA: 3.0 s", "1 tests in 1 packages, 0 failed, 0 skipped"}, "quiet"},
		{"what was tried", events + told + pass, true, true, []string{"figure: P1: 20 kills"}, "quiet"},
		{"one skipped", events + skip("needs a thing: really") + pass, true, false,
			[]string{"skipped: p TestB: needs a thing: really", "1 skipped"}, "quiet"},
		{"one may skip", events + skip("optional: no node") + pass, true, true, []string{"optional: no node"}, "quiet"},
		{"one failed", events + fail, false, false, []string{"c_test.go:3: loud", "-test.shuffle 42", "failed: p TestC", "1 failed"}, "quiet"},
		{"a panic", events + panicked, false, false, []string{"panic: struck here", "failed: p"}, "quiet"},
		{"not built", unbuilt, false, false, []string{"undefined: x", "[build failed]"}, "{"},
		{"no event at all", "no such package\n", false, false, []string{"no such package"}, "{"},
		{"the last line is cut", events + pass + `{"Action":"out`, true, true, []string{"ok  \tp"}, "quiet"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			r := newReport(&out)
			if err := r.read(strings.NewReader(c.in)); err != nil {
				t.Fatal(err)
			}
			r.summarise()
			if r.passed(false) != c.passed || r.passed(true) != c.passedStrict {
				t.Errorf("passed %v, strictly %v", r.passed(false), r.passed(true))
			}
			for _, want := range c.shown {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%q is missing in:\n%s", want, out.String())
				}
			}
			if strings.Contains(out.String(), c.hidden) {
				t.Errorf("%q is shown in:\n%s", c.hidden, out.String())
			}
		})
	}
}

const part = `{"Action":"pass","Package":"p","Test":"TestA/short","Elapsed":1}
{"Action":"pass","Package":"p","Test":"TestA/long","Elapsed":2.5}
`

func TestProgressIsALineForEachTestAsItEnds(t *testing.T) {
	told := func(progress bool) string {
		var out bytes.Buffer
		r := newReport(&out)
		r.progress = progress
		if err := r.read(strings.NewReader(part + events + fail)); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	const long, whole = "pass: p TestA/long after 2.5 s\n", "pass: p TestA after 3.0 s\n"
	if got := told(true); !strings.HasPrefix(got, long+whole+"fail: p TestC after 0.0 s\n") {
		t.Errorf("it says:\n%s", got)
	}
	if got := told(false); strings.Contains(got, long) || strings.Contains(got, whole) {
		t.Errorf("without being asked it says:\n%s", got)
	}
}
