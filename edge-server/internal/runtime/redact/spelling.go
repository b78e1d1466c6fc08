package redact

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// minSpelling keeps the inner part of a short secret's base64 from matching ordinary words.
const minSpelling = 8

// spellings returns the forms in which a secret is looked for.
func spellings(secret string) [][]byte {
	forms := []string{
		secret,
		url.QueryEscape(secret), lowerEscapes(url.QueryEscape(secret)),
		url.PathEscape(secret), lowerEscapes(url.PathEscape(secret)),
		hex.EncodeToString([]byte(secret)), strings.ToUpper(hex.EncodeToString([]byte(secret))),
	}
	forms = append(forms, inJSON(secret)...)
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for _, form := range inBase64(secret, encoding) {
			if len(form) >= minSpelling {
				forms = append(forms, form)
			}
		}
	}
	var needles [][]byte
	for _, form := range forms {
		needles = append(needles, []byte(form))
	}
	return needles
}

// inJSON returns the secret as programs write it into a JSON string: what they need not escape, some leave as it is and others escape, the signs
// of HTML, everything beyond ASCII, or the slash.
func inJSON(secret string) []string {
	var readable strings.Builder
	encoder := json.NewEncoder(&readable)
	encoder.SetEscapeHTML(false)
	html, err := json.Marshal(secret)
	if err != nil || encoder.Encode(secret) != nil {
		return nil // a string is always JSON
	}
	forms := []string{string(html[1 : len(html)-1])}
	plain := strings.TrimSuffix(readable.String(), "\n")
	for _, form := range []string{plain[1 : len(plain)-1], ascii(plain[1 : len(plain)-1])} {
		forms = append(forms, form, strings.ReplaceAll(form, "/", `\/`))
	}
	return forms
}

// ascii writes é as \u00e9, and what needs two of them as two.
func ascii(s string) string {
	var out strings.Builder
	for _, r := range s {
		if r < utf8.RuneSelf {
			out.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&out, `\u%04x`, unit)
		}
	}
	return out.String()
}

// inBase64 returns what is certain of the base64 text of anything that holds the secret: three texts, as base64 has three alignments. The
// characters that also depend on the neighbours are left out.
func inBase64(secret string, encoding *base64.Encoding) []string {
	const bitsPerByte, bitsPerDigit = 8, 6
	var forms []string
	for before := range 3 {
		encoded := encoding.EncodeToString([]byte(strings.Repeat("\x00", before) + secret))
		from := (before*bitsPerByte + bitsPerDigit - 1) / bitsPerDigit
		to := (before + len(secret)) * bitsPerByte / bitsPerDigit
		if from < to {
			forms = append(forms, encoded[from:to])
		}
	}
	return forms
}

// lowerEscapes writes %2F as %2f and changes nothing else.
func lowerEscapes(s string) string {
	out := []byte(s)
	for i := 0; i+2 < len(out); i++ {
		if out[i] == '%' {
			copy(out[i+1:i+3], strings.ToLower(s[i+1:i+3]))
			i += 2
		}
	}
	return string(out)
}
