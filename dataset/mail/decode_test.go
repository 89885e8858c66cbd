package mail

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"strings"
	"testing"
)

// Every letter of the alphabet has the standard's value, and every other byte is skipped.
func TestUnbase64(t *testing.T) {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	want, err := base64.StdEncoding.DecodeString(alphabet)
	if err != nil {
		t.Fatal(err)
	}
	if got := unbase64([]byte(alphabet)); !bytes.Equal(got, want) {
		t.Errorf("the alphabet: %x, want %x", got, want)
	}
	for c := range 256 {
		if strings.IndexByte(alphabet+"=", byte(c)) >= 0 {
			continue
		}
		if got := unbase64([]byte{'T', byte(c), 'W', 'F', byte(c), 'u'}); string(got) != "Man" {
			t.Errorf("%q within a group: %q, want Man", rune(c), got)
		}
	}
	for text, want := range map[string]string{
		"": "", "T": "", "TQ": "M", "TQ==": "M", "TWE=": "Ma", "TWE": "Ma", "TQ==TWFu": "MMan", "T=WFu": "X[",
		"====": "",
	} {
		if got := string(unbase64([]byte(text))); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// A digit is what strconv takes for one.
func TestHexDigits(t *testing.T) {
	for c := range 256 {
		want := -1
		if n, err := strconv.ParseUint(string([]byte{byte(c)}), 16, 8); err == nil {
			want = int(n)
		}
		if got := hexDigit(byte(c)); got != want {
			t.Errorf("%q: %d, want %d", rune(c), got, want)
		}
	}
}

// An equals sign before neither two digits nor the end of a line stands for itself. A line has at most 76 characters,
// so more than 76 blanks after the sign are not the end of a line.
func TestUnquote(t *testing.T) {
	blanks := strings.Repeat(" ", 76)
	for text, want := range map[string]string{
		"a=20b": "a b", "=0A": "\n", "=A0": "\xa0", "=00": "\x00", "=c3=A9": "é", "=fF": "\xff",
		"a=": "a=", "a=4": "a=4", "=4g": "=4g", "=g4": "=g4", "==41": "=A", "=\n": "", "a=\nb": "ab", "a=\r\nb": "ab",
		"a= \t\r\nb": "ab", "a= ": "a= ", "a= b": "a= b",
		"a=" + blanks + "\nb": "ab", "a=" + blanks + " \nb": "a=" + blanks + " \nb",
		"=" + blanks: "=" + blanks,
	} {
		if got := string(unquote([]byte(text))); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
