package search

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/shared/fault"
)

func parsed(t rapid.TB, text string) Query {
	t.Helper()
	q, err := Parse(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return q
}

func TestWhatATextIsFoundBy(t *testing.T) {
	for _, c := range []struct {
		text, query string
		found       bool
	}{
		{"The deploy of Friday FAILED: exit code 137.", "failed DEPLOY", true},
		{"The deploy of Friday FAILED", "deploy succeeded", false},
		{"deployment", "deploy", false}, // whole words
		{"see main_test.go:42", "main test go", true},
		{"ＤＥＰＬＯＹ ①", "deploy 1", true},
		{"Straße und ÉTÉ", "STRASSE été", true},
		{"e\u0301te\u0301", "été", true}, // composed or not
		{"Ошибка сети", "ошибка", true},
		{"数据库迁移失败了", "迁移失败", true},
		{"数据库迁移失败了", "库", true},
		{"数据库迁移失败了", "了", true}, // the last one
		{"好", "好", true},
		{"数据，库", "数据库", false}, // a comma lies between
		{"迁移了数据，失败了", "迁移失败", false},
		{"重启 nginx 之后报错", "NGINX 报错", true},
		{"版本v2已发布", "v2 发布", true},
		{"サーバーが落ちた", "サーバー", true},
		{"한국어 검색", "국어", true},
		{"ค้นหาข้อความ", "ข้อความ", true},
		{"👍 ok", "ok 👍", true}, // what is no word does not count
		{"", "ok", false},
	} {
		q := parsed(t, c.query)
		if q.in(c.text) != c.found {
			t.Errorf("%q in %q is %v", c.query, c.text, !c.found)
		}
		indexed := !slices.ContainsFunc(q.terms(), func(term Term) bool { return !slices.Contains(TermsOf(c.text), term) })
		if c.found && !indexed {
			t.Errorf("%q is in %q, and its terms are not", c.query, c.text)
		}
	}
}

func TestQueriesAreBounded(t *testing.T) {
	for _, text := range []string{"", " ", "?!", "👍", strings.Repeat("x", MaxQuery+1), strings.Repeat("a b c d e f g h i j k l m n o p q ", 1)} {
		if _, err := Parse(text); fault.CodeOf(err) != fault.InvalidRequest {
			t.Errorf("%q: %v", text, err)
		}
	}
	long := parsed(t, strings.Repeat("数据库迁移", MaxQuery/5))
	if n := len(long.terms()); n == 0 || n > maxTerms {
		t.Errorf("%d terms", n)
	}
	if terms := parsed(t, "a aa aaa b c d e f g h").terms(); terms[0] != termOf("aaa") || len(terms) != maxTerms {
		t.Errorf("terms %v", terms)
	}
}

// Whatever stands in a text finds it, and the index knows.
func TestEveryPartOfATextFindsIt(t *testing.T) {
	characters := []rune("abzÄß９ 库迁移。,\n-の가ิ")
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom(characters), 1, 60, -1).Draw(t, "text")
		var asked []string
		split(text, func(part string, k kind) {
			if len(asked) == MaxWords || !rapid.Bool().Draw(t, "ask") {
				return
			}
			if k == stretch { // any piece of it
				runes := []rune(part)
				from := rapid.IntRange(0, len(runes)-1).Draw(t, "from")
				part = string(runes[from:rapid.IntRange(from+1, len(runes)).Draw(t, "to")])
			}
			asked = append(asked, part)
		})
		if len(asked) == 0 {
			return
		}
		q := parsed(t, strings.Join(asked, " "))
		if !q.in(text) {
			t.Fatalf("%q is not in %q", asked, text)
		}
		for _, term := range q.terms() {
			if _, ok := slices.BinarySearch(TermsOf(text), term); !ok {
				t.Fatalf("the index of %q lacks a term of %q", text, asked)
			}
		}
	})
}

func TestTermsStayWhatTheyAre(t *testing.T) {
	if got := TermsOf("Go 数据"); !slices.Equal(got, []Term{618463229101696779, 1023585722013740245, 3705686356035990524, 3713591844641313814}) {
		t.Errorf("terms are %d: those that are stored say something else", got)
	}
}
