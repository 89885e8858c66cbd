package mail

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"mime/multipart"
	"mime/quotedprintable"
	stdmail "net/mail"
	"strings"
	"testing"
	"unicode/utf8"
)

func crlf(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }

// multi is a multipart with the usual parts.
const multi = `From: =?iso-8859-1?Q?Andr=E9?= <a@example.org>
Subject: =?utf-8?B?Z3LDvMOfZQ==?=
	second line
Content-Type: multipart/mixed;
 boundary="=_x y"

preamble
--=_x y
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

caf=E9 =
au lait
--=_x y
Content-Type: text/html; charset=utf-8
Content-Transfer-Encoding: base64

PGI+wqM8
L2I+
--=_x y
Content-Type: image/png
Content-Transfer-Encoding: base64

iVBORw0KGgo=
--=_x y
Content-Type: message/rfc822

Subject: inner

deep
--=_x y--
epilogue
`

const multiText = "from: André <a@example.org>\nsubject: grüße second line\ncafé au lait\n<b>£</b>\nsubject: inner\ndeep\n"

func TestTextByHand(t *testing.T) {
	for _, c := range []struct{ name, mail, want string }{
		{"parts and encodings", multi, multiText},
		{"CRLF", crlf(multi), multiText},
		{"nothing", "", ""},
		{"a body alone", "hello there\nSubject: no\n", "hello there\nSubject: no\n"},
		{"an empty header", "\nbody", "body\n"},
		{"a mailbox's line", "From me Mon\nSubject: x\n>From: y\n\nb", "subject: x\nb\n"},
		{"a line that is no field ends the header", "Subject: x\nnonsense\nFrom: y\n",
			"subject: x\nnonsense\nFrom: y\n"},
		{"a header alone", "Subject: x", "subject: x\n"},
		{"a first line that continues none", " Subject: x\n\nb", " Subject: x\n\nb\n"},
		{"a blank in a name", "Subject: x\nRe ply: y\n\nb", "subject: x\nRe ply: y\n\nb\n"},
		{"a control character in a name", "Subject: x\nFrom\x7f: y\n\nb", "subject: x\nFrom\x7f: y\n\nb\n"},
		{"no name", "Subject: x\n: y\n\nb", "subject: x\n: y\n\nb\n"},
		{"bytes of no said charset", "Subject: caf\xe9\n\n\x93q\x94", "subject: café\n“q”\n"},
		{"UTF-8 said to be ASCII", "Content-Type: text/plain; charset=us-ascii\n\né", "é\n"},
		{"not the UTF-8 it says", "Content-Type: text/plain; charset=utf-8\n\n\xe9", "é\n"},
		{"an unknown charset", "Content-Type: text/plain; charset=klingon\n\né", "é\n"},
		{"a charset of two bytes", "Content-Type: text/plain; charset=Shift_JIS\n\n\x93\xfa\x96{", "日本\n"},
		{"no final boundary", "Content-Type: multipart/mixed; boundary=b\n\n--b\n\none\n--b\n\ntwo", "one\ntwo\n"},
		{"no boundary at all", "Content-Type: multipart/mixed; boundary=b\n\ntext", "text\n"},
		{"no boundary said", "Content-Type: multipart/mixed\n\n--b\ntext", "--b\ntext\n"},
		{"no boundary, but what looks like a header",
			"Content-Type: multipart/mixed; boundary=b\n\nSubject: no\n\ntext", "Subject: no\n\ntext\n"},
		{"a malformed type", "Content-Type: multipart/mixed; a=b=c; boundary=\"b\"; a=d\n\n--b\n\none\n--b--", "one\n"},
		{"a malformed charset", "Content-Type: text/plain; =; charset=iso-8859-2\n\n\xb1", "ą\n"},
		{"a malformed charset alone", "Content-Type: CharSet=iso-8859-2;=\n\n\xb1", "ą\n"},
		{"a malformed charset in quotes", "Content-Type: text/plain; =; charset=\"iso-8859-2;\n\n\xb1", "±\n"},
		{"a malformed charset before a blank", "Content-Type: text/plain; charset=iso-8859-2 x\n\n\xb1", "ą\n"},
		{"a charset after bytes of no charset",
			"Content-Type: text/plain; name=gr\xfc\xdfe; charset=iso-8859-2\n\n\xb1", "ą\n"},
		{"a boundary after a capital whose lower case is shorter",
			"Content-Type: multipart/mixed; n=\u0130\u0130; boundary=b\n\n--b\n\none\n--b--", "one\n"},
		{"broken base64", "Content-Transfer-Encoding: base64\n\naGV*s\nbG8=d29ybGQ", "helloworld\n"},
		{"broken quoted-printable", "Content-Transfer-Encoding: quoted-printable\n\n=4 =zz = \n=41=", "=4 =zz A=\n"},
		{"a broken word", "Subject: =?utf-8?B?!!!?= x\n\n", "subject: =?utf-8?B?!!!?= x\n"},
		{"NUL at first", "\n\x00c", "\ufffdc\n"},
		{"NUL", "Subject: a\x00b\n\nc\x00", "subject: a\ufffdb\nc\ufffd\n"},
		{"an attachment", "Content-Type: application/pdf\n\n%PDF", ""},
	} {
		if got := string(Text([]byte(c.mail), []string{"from", "subject"})); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestFieldsAreChosen(t *testing.T) {
	const mail = "A: 1\nB: 2\na: 3\n\nbody"
	for _, c := range []struct {
		names []string
		want  string
	}{{[]string{"a"}, "a: 1\na: 3\nbody\n"}, {[]string{All}, "a: 1\nb: 2\na: 3\nbody\n"}, {nil, "body\n"}} {
		if got := string(Text([]byte(mail), c.names)); got != c.want {
			t.Errorf("%v: %q, want %q", c.names, got, c.want)
		}
	}
}

// Parts within parts are taken apart up to a depth of 16; what is deeper is text.
func TestDepthIsBounded(t *testing.T) {
	multiparts := func(n int) string {
		mail := "\nbottom"
		for i := range n {
			mail = fmt.Sprintf("Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n", i, i) + mail
		}
		return mail
	}
	messages := func(n int) string { return strings.Repeat("Content-Type: message/rfc822\n\n", n) }
	_, below, _ := strings.Cut(multiparts(24), "\n\n")
	for name, c := range map[string]struct{ mail, want string }{
		"16 multiparts":            {multiparts(16), "bottom\n"},
		"17 multiparts":            {multiparts(17), "--b0\n\nbottom\n"},
		"40 multiparts":            {multiparts(40), below + "\n"},
		"16 messages":              {messages(16) + "\nbottom", "bottom\n"},
		"17 messages":              {messages(17) + "\nbottom", "\nbottom\n"},
		"40 messages":              {messages(40) + "\nbottom", messages(23) + "\nbottom\n"},
		"8 of each":                {messages(8) + multiparts(8), "bottom\n"},
		"8 messages, 9 multiparts": {messages(8) + multiparts(9), "--b0\n\nbottom\n"},
	} {
		if got := string(Text([]byte(c.mail), nil)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// What the standard library writes and reads, too, is read as it reads it.
func TestAgainstTheStandardLibrary(t *testing.T) {
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	texts := []string{"plain text\r\nof lines", "ünï=cödé " + strings.Repeat("long ", 40), ""}
	for i, text := range texts {
		encoding := []string{"7bit", "quoted-printable", "base64"}[i]
		part, err := w.CreatePart(map[string][]string{"Content-Type": {"text/plain; charset=utf-8"},
			"Content-Transfer-Encoding": {encoding}})
		if err != nil {
			t.Fatal(err)
		}
		switch encoding {
		case "7bit":
			_, err = io.WriteString(part, text)
		case "quoted-printable":
			q := quotedprintable.NewWriter(part)
			if _, err = io.WriteString(q, text); err == nil {
				err = q.Close()
			}
		case "base64":
			_, err = io.WriteString(part, base64.StdEncoding.EncodeToString([]byte(text)))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	raw := "Subject: s\r\nContent-Type: multipart/mixed; boundary=" + w.Boundary() + "\r\n\r\n" + body.String()
	message, err := stdmail.ReadMessage(strings.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	want, parts := "subject: s\n", multipart.NewReader(message.Body, w.Boundary())
	for i := 0; ; i++ {
		part, err := parts.NextPart()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(part) // decodes quoted-printable
		if err != nil {
			t.Fatal(err)
		}
		if part.Header.Get("Content-Transfer-Encoding") == "base64" {
			data = unbase64(data)
		}
		if string(data) != texts[i] {
			t.Fatalf("the library reads %q for %q", data, texts[i])
		}
		if want += string(data); len(data) > 0 {
			want += "\n"
		}
	}
	if got := string(Text([]byte(raw), []string{"subject"})); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// FuzzText: every sequence of bytes has a text, valid, the same again, and in bounds.
func FuzzText(f *testing.F) {
	for _, seed := range []string{multi, crlf(multi), "Content-Type: multipart/a; boundary=\"\n\n--\n",
		"Content-Type: text/plain; charset=iso-2022-jp\n\n\x1b$B", "Subject: =?utf-7?q?+AGE-?= =?x?b??=\n a\n\n",
		"Content-Type: text/plain; charset=utf-16\n\n\xff\xfea\x00"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, mail []byte) {
		before := bytes.Clone(mail)
		text := Text(mail, []string{All})
		if !bytes.Equal(mail, before) {
			t.Fatal("the mail has been written to")
		}
		if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
			t.Fatalf("%q is not text", text)
		}
		if again := Text(mail, []string{All}); !bytes.Equal(again, text) {
			t.Fatalf("%q, then %q", text, again)
		}
		if len(text) > 64+8*len(mail) {
			t.Fatalf("%d bytes of text from %d", len(text), len(mail))
		}
	})
}
