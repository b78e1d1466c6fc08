// Package doctest reads this repository's documents the way a reader does, so that its tests can follow every link, run
// the commands that are marked as safe, and look up every name of a target, a setting or a command.
package doctest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"

	"github.com/switchyard-dev/switchyard/deploy/e2e/internal/repolint"
)

// tested stands on the line before a code block that the tests run as it is, from the root of the repository.
const tested = "<!-- tested -->"

// Document is one Markdown file, taken apart.
type Document struct {
	Path    string // from the root, with slashes
	Blocks  []Block
	Spans   []Span // code inside a sentence
	Links   []Link
	Proofs  []Proof
	anchors map[string]bool
}

// Block is a fenced block of code.
type Block struct {
	Line     int
	Language string
	Code     string
	Tested   bool
}

// Span is a piece of code inside a sentence.
type Span struct {
	Line int
	Code string
}

// Link is what a link or a picture points at.
type Link struct {
	Line   int
	Target string
}

var (
	spanPattern = regexp.MustCompile("`([^`]+)`")
	linkPattern = regexp.MustCompile(`\]\(([^)\s]+)[^)]*\)|(?:src|href|srcset)="([^"]+)"`)
)

// Load reads every Markdown file of the repository at root.
func Load(root string) ([]Document, error) {
	var documents []Document
	err := repolint.Walk(root, func(name string) error {
		if !strings.HasSuffix(name, ".md") {
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		documents = append(documents, parse(name, string(text)))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the documents: %w", err)
	}
	return documents, nil
}

func parse(name, text string) Document {
	d := Document{Path: name, anchors: map[string]bool{}}
	var block *Block
	var previous string
	for i, line := range strings.Split(text, "\n") {
		fence, isFence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case isFence && block == nil:
			block = &Block{Line: i + 1, Language: fence, Tested: strings.TrimSpace(previous) == tested}
		case isFence:
			d.Blocks = append(d.Blocks, *block)
			block = nil
		case block != nil:
			block.Code += line + "\n"
		default:
			d.addProse(i+1, line)
		}
		previous = line
	}
	return d
}

func (d *Document) addProse(n int, line string) {
	if heading := strings.TrimLeft(line, "#"); heading != line && strings.HasPrefix(heading, " ") {
		d.addAnchor(heading)
	}
	for _, found := range spanPattern.FindAllStringSubmatch(line, -1) {
		d.Spans = append(d.Spans, Span{Line: n, Code: found[1]})
	}
	d.Proofs = append(d.Proofs, proofsOf(d.Path, n, line)...)
	for _, found := range linkPattern.FindAllStringSubmatch(spanPattern.ReplaceAllString(line, "code"), -1) {
		d.Links = append(d.Links, Link{Line: n, Target: found[1] + found[2]})
	}
}

// addAnchor gives a heading the anchor that GitHub gives it; a second one of the same text gets -1, and so on.
func (d *Document) addAnchor(heading string) {
	anchor := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		}
		return -1
	}, strings.TrimSpace(heading))
	unique := anchor
	for n := 1; d.anchors[unique]; n++ {
		unique = fmt.Sprintf("%s-%d", anchor, n)
	}
	d.anchors[unique] = true
}
