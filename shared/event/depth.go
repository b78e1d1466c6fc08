package event

// MaxDepth is how deep JSON from outside may nest (security SEC9).
const MaxDepth = 32

// MaxValueDepth is how deep a JSON value may nest that becomes part of an event or a command: it leaves room for what is put around it.
const MaxValueDepth = MaxDepth - 4

// Depth returns how many arrays and objects of data are open at once at the deepest point. It reads brackets only: data need not be JSON,
// and it is cheap enough to run before a parser does.
func Depth(data []byte) int {
	depth, deepest := 0, 0
	inString, escaped := false, false
	for _, c := range data {
		switch {
		case escaped:
			escaped = false
		case inString:
			escaped = c == '\\'
			inString = c != '"'
		case c == '"':
			inString = true
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}
