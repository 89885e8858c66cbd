package mail

import (
	"bytes"
	"encoding/base64"
	"io"
	"mime"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
)

// wordDecoder reads the encoded words of RFC 2047.
var wordDecoder = mime.WordDecoder{CharsetReader: func(charset string, in io.Reader) (io.Reader, error) {
	data, err := io.ReadAll(in)
	return bytes.NewReader(appendUTF8(nil, data, charset)), err
}}

// words decodes the value of a header field; one with a malformed encoded word stays as it is.
func words(value []byte) []byte {
	plain := appendUTF8(nil, value, "")
	if !bytes.Contains(plain, []byte("=?")) {
		return plain
	}
	decoded, err := wordDecoder.DecodeHeader(string(plain))
	if err != nil {
		return plain
	}
	return appendUTF8(nil, []byte(decoded), "")
}

// appendUTF8 adds data of a charset as UTF-8.
func appendUTF8(to, data []byte, charset string) []byte {
	enc := known(charset)
	if enc == nil && !utf8.Valid(data) {
		enc = charmap.Windows1252
	}
	if enc != nil {
		decoded, err := enc.NewDecoder().Bytes(data)
		if err != nil { // what no decoder of the standard does
			decoded = bytes.ToValidUTF8(data, []byte("\uFFFD"))
		}
		data = decoded
	}
	if bytes.IndexByte(data, 0) >= 0 {
		data = bytes.ReplaceAll(data, []byte{0}, []byte("\uFFFD"))
	}
	return append(to, data...)
}

// known is the encoding of a charset's name; nil where the bytes must tell.
func known(charset string) encoding.Encoding {
	charset = strings.ToLower(strings.TrimSpace(charset))
	if charset == "" || charset == "us-ascii" || charset == "ascii" {
		return nil
	}
	enc, err := htmlindex.Get(charset)
	if err != nil {
		return nil
	}
	name, err := htmlindex.Name(enc)
	if err != nil || name == "utf-8" || name == "replacement" {
		return nil
	}
	return enc
}

// unbase64 decodes what is of base64's alphabet.
func unbase64(body []byte) []byte {
	out := make([]byte, 0, base64.StdEncoding.DecodedLen(len(body)))
	group, bits := uint32(0), 0
	for _, c := range body {
		switch {
		case c >= 'A' && c <= 'Z':
			c -= 'A'
		case c >= 'a' && c <= 'z':
			c -= 'a' - 26
		case c >= '0' && c <= '9':
			c += 52 - '0'
		case c == '+':
			c = 62
		case c == '/':
			c = 63
		case c == '=': // a group ends, and another may begin
			bits = 0
			continue
		default:
			continue
		}
		group = group<<6 | uint32(c)
		if bits += 6; bits >= 8 {
			bits -= 8
			out = append(out, byte(group>>bits))
		}
	}
	return out
}

// unquote decodes quoted-printable.
func unquote(body []byte) []byte {
	out := make([]byte, 0, len(body))
	for i := 0; i < len(body); i++ {
		if body[i] != '=' {
			out = append(out, body[i])
			continue
		}
		if i+2 < len(body) {
			high, low := hexDigit(body[i+1]), hexDigit(body[i+2])
			if high >= 0 && low >= 0 {
				out = append(out, byte(high<<4|low))
				i += 2
				continue
			}
		}
		if n := softBreak(body[i+1:]); n > 0 {
			i += n
			continue
		}
		out = append(out, '=')
	}
	return out
}

// maxQuoted is the longest line of quoted-printable, RFC 2045 section 6.7.
const maxQuoted = 76

// softBreak is the length of a line end that follows an equals sign, 0 where none does.
func softBreak(rest []byte) int {
	n := 0
	for n < len(rest) && n < maxQuoted && (rest[n] == ' ' || rest[n] == '\t' || rest[n] == '\r') {
		n++
	}
	if n < len(rest) && rest[n] == '\n' {
		return n + 1
	}
	return 0
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	}
	return -1
}
