package mail

import (
	"bytes"
	"mime"
	"regexp"
	"slices"
	"strings"
)

// maxDepth bounds the parts within parts.
const maxDepth = 16

// All, among the names of fields, stands for all of them.
const All = "*"

// Text returns the text of a mail, valid UTF-8 without NUL: the named header fields in the order of the
// mail, a line each, an empty line, and the body. Names are in lower case. Time and memory are
// linear in the mail's bytes.
func Text(mail []byte, fields []string) []byte {
	t := text{names: fields, all: slices.Contains(fields, All)}
	t.message(mail, 0)
	return t.out
}

type text struct {
	names []string
	all   bool
	out   []byte
}

// message adds a whole mail.
func (t *text) message(mail []byte, depth int) {
	e := parse(mail)
	for _, f := range e.fields {
		if t.all || slices.Contains(t.names, f.name) {
			t.out = append(t.out, f.name...)
			t.out = append(t.out, ": "...)
			t.out = append(t.out, words(f.value)...)
			t.out = append(t.out, '\n')
		}
	}
	t.line()
	t.body(e, depth)
}

// body adds what is text of an entity's body.
func (t *text) body(e entity, depth int) {
	kind, params := mediaType(e.get("content-type"))
	if boundary := params["boundary"]; strings.HasPrefix(kind, "multipart/") && boundary != "" && depth < maxDepth {
		if parts := split(e.body, boundary); len(parts) > 0 {
			for _, part := range parts {
				t.body(parse(part), depth+1)
			}
			return
		}
	}
	switch {
	case kind == "message/rfc822" && depth < maxDepth:
		t.message(e.content(), depth+1)
	case strings.HasPrefix(kind, "text/"), strings.HasPrefix(kind, "message/"), strings.HasPrefix(kind, "multipart/"):
		t.out = appendUTF8(t.out, e.content(), params["charset"])
		t.line()
	}
}

// line ends a line that has begun.
func (t *text) line() {
	if n := len(t.out); n > 0 && t.out[n-1] != '\n' {
		t.out = append(t.out, '\n')
	}
}

// content is the body without its transfer encoding.
func (e entity) content() []byte {
	switch strings.ToLower(strings.TrimSpace(string(e.get("content-transfer-encoding")))) {
	case "base64":
		return unbase64(e.body)
	case "quoted-printable":
		return unquote(e.body)
	}
	return e.body
}

// mediaType reads a Content-Type as far as it can be read.
func mediaType(value []byte) (kind string, params map[string]string) {
	if len(bytes.TrimSpace(value)) == 0 {
		return "text/plain", nil
	}
	kind, params, err := mime.ParseMediaType(string(value))
	if err == nil {
		return kind, params
	}
	first, _, _ := strings.Cut(string(value), ";")
	kind = strings.ToLower(strings.TrimSpace(first))
	if !strings.Contains(kind, "/") {
		kind = "text/plain"
	}
	return kind, map[string]string{"boundary": param(value, boundaryParam), "charset": param(value, charsetParam)}
}

// The parameters of a malformed Content-Type. A value is quoted, or ends before a blank or a semicolon.
var (
	boundaryParam = regexp.MustCompile(`(?i)boundary=(?:"([^"]*)|([^; \t]*))`)
	charsetParam  = regexp.MustCompile(`(?i)charset=(?:"([^"]*)|([^; \t]*))`)
)

// param returns the value of a parameter of a malformed Content-Type, or "" if the parameter is missing.
func param(contentType []byte, pattern *regexp.Regexp) string {
	found := pattern.FindSubmatch(contentType)
	if found == nil {
		return ""
	}
	return string(found[1]) + string(found[2]) // one of them is empty
}

// split cuts the body of a multipart into its parts. The line end before a boundary belongs to the boundary.
func split(body []byte, boundary string) (parts [][]byte) {
	mark := []byte("--" + boundary)
	begin := 0 // where the current part begins, behind its boundary; 0 before the first boundary
	for at := 0; at < len(body); {
		line, _, _ := bytes.Cut(body[at:], newline)
		next := min(at+len(line)+1, len(body))
		rest, ok := bytes.CutPrefix(line, mark)
		rest = bytes.TrimRight(rest, " \t\r")
		if last := string(rest) == "--"; ok && (last || len(rest) == 0) {
			if begin > 0 {
				parts = append(parts, bytes.TrimSuffix(bytes.TrimSuffix(body[begin:max(begin, at)], newline),
					[]byte{'\r'}))
			}
			if begin = next; last {
				return parts
			}
		}
		at = next
	}
	if begin > 0 {
		parts = append(parts, body[begin:])
	}
	return parts
}
