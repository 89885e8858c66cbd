package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// jsonPaths are the values that are wanted of a JSON text, as a tree of the tokens of their paths.
type jsonPaths struct {
	next map[string]*jsonPaths
	use  int // index of the path that ends here, -1 for none
}

// span is where a value is in a text; the zero value means no value, for no wanted one begins at 0.
type span struct{ begin, end int }

func newJSONPaths() *jsonPaths { return &jsonPaths{use: -1} }

// add wants the value at a path: RFC 6901's "/a/b/0", or the name of a member of the record.
func (p *jsonPaths) add(path string, use int) {
	tokens := []string{path}
	if strings.HasPrefix(path, "/") {
		tokens = strings.Split(path[1:], "/")
		for i, token := range tokens {
			tokens[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		}
	}
	for _, token := range tokens {
		if p.next == nil {
			p.next = map[string]*jsonPaths{}
		}
		if p.next[token] == nil {
			p.next[token] = newJSONPaths()
		}
		p = p.next[token]
	}
	p.use = use
}

// jsonWalk goes once over a valid JSON text and notes where the wanted values lie.
type jsonWalk struct {
	text  []byte
	at    int
	found []span // by use
	twice int    // where a wanted value stands for the second time; 0 for nowhere
}

// checkJSON refuses what is not one JSON value, at the byte where that shows; the last one where more was to come.
func checkJSON(text []byte) flaw {
	if json.Valid(text) {
		return flaw{}
	}
	at := 0
	var syntax *json.SyntaxError
	err := json.Unmarshal(text, new(json.RawMessage))
	if errors.As(err, &syntax) && syntax.Offset > 0 && int(syntax.Offset) <= len(text) {
		at = int(syntax.Offset) - 1
	}
	return flaw{reason: badJSON, at: at, inLine: true}
}

// value passes over the value at hand, noting what is wanted of it.
func (w *jsonWalk) value(want *jsonPaths) {
	w.space()
	begin := w.at
	if want == nil || want.next == nil {
		w.skip()
	} else {
		switch w.text[w.at] {
		case '{':
			w.each('}', func(int) { w.member(want) })
		case '[':
			w.each(']', func(i int) { w.value(want.next[strconv.Itoa(i)]) })
		default:
			w.skip()
		}
	}
	if want == nil || want.use < 0 {
		return
	}
	if at := &w.found[want.use]; at.end == 0 {
		*at = span{begin, w.at}
	} else if w.twice == 0 {
		w.twice = begin
	}
}

func (w *jsonWalk) member(want *jsonPaths) {
	w.space()
	begin := w.at
	w.skip()
	key := w.text[begin:w.at]
	w.space()
	w.at++ // the colon
	if name, plain := plainString(key); plain {
		w.value(want.next[string(name)])
	} else {
		w.value(want.next[string(unquoteJSON(key))])
	}
}

// each calls element before every element of an array or object, which it leaves behind.
func (w *jsonWalk) each(end byte, element func(i int)) {
	w.at++
	for i := 0; ; i++ {
		w.space()
		switch w.text[w.at] {
		case end:
			w.at++
			return
		case ',':
			w.at++
		}
		element(i)
	}
}

// skip passes over a value without looking into it.
func (w *jsonWalk) skip() {
	switch w.text[w.at] {
	case '"':
		w.at = stringEnd(w.text, w.at)
	case '{', '[':
		w.skipNested()
	default:
		for w.at < len(w.text) && !endsLiteral(w.text[w.at]) {
			w.at++
		}
	}
}

// endsLiteral tells the bytes that follow a number, true, false or null.
func endsLiteral(c byte) bool { return c <= ' ' || c == ',' || c == ']' || c == '}' }

func (w *jsonWalk) skipNested() {
	for depth := 0; ; {
		switch w.text[w.at] {
		case '"':
			w.at = stringEnd(w.text, w.at)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if w.at++; depth == 0 {
			return
		}
	}
}

// space skips white space. In a valid text something else follows, so at stays below the text's length.
func (w *jsonWalk) space() {
	for w.text[w.at] == ' ' || w.text[w.at] == '\t' || w.text[w.at] == '\r' || w.text[w.at] == '\n' {
		w.at++
	}
}

// stringEnd is the byte after the string that begins at byte at.
func stringEnd(text []byte, at int) int {
	for at++; text[at] != '"'; at++ {
		if text[at] == '\\' {
			at++
		}
	}
	return at + 1
}

// plainString is what a string holds, where no escape stands in it.
func plainString(quoted []byte) ([]byte, bool) {
	inner := quoted[1 : len(quoted)-1]
	return inner, bytes.IndexByte(inner, '\\') < 0
}

// unquoteJSON is what a valid string holds. Half a surrogate pair becomes U+FFFD.
func unquoteJSON(quoted []byte) []byte {
	if inner, plain := plainString(quoted); plain {
		return slices.Clip(inner)
	}
	var s string
	if json.Unmarshal(quoted, &s) != nil {
		return nil // it was valid before
	}
	return []byte(s)
}
