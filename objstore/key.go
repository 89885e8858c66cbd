package objstore

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxKeyBytes bounds a key, as S3 does.
const MaxKeyBytes = 1024

// ValidKey says whether key may name an object: 1 to MaxKeyBytes bytes of UTF-8
// without control characters, in slash-separated segments of which none is
// empty, "." or "..". The error wraps ErrInvalidKey.
func ValidKey(key string) error {
	if key == "" {
		return fmt.Errorf("%w: it is empty", ErrInvalidKey)
	}
	if err := validText(key); err != nil {
		return err
	}
	for segment := range strings.SplitSeq(key, "/") {
		if err := validSegment(key, segment); err != nil {
			return err
		}
	}
	return nil
}

// ValidPrefix says whether some valid key begins with prefix; the empty prefix
// begins them all. The error wraps ErrInvalidKey.
func ValidPrefix(prefix string) error {
	if err := validText(prefix); err != nil {
		return err
	}
	slash := strings.LastIndexByte(prefix, '/')
	if slash < 0 {
		return nil // the last segment may still grow into a valid one
	}
	for segment := range strings.SplitSeq(prefix[:slash], "/") {
		if err := validSegment(prefix, segment); err != nil {
			return err
		}
	}
	return nil
}

func validText(key string) error {
	if len(key) > MaxKeyBytes {
		return fmt.Errorf("%w: %d bytes, more than %d", ErrInvalidKey, len(key), MaxKeyBytes)
	}
	if !utf8.ValidString(key) {
		return fmt.Errorf("%w: %q is not UTF-8", ErrInvalidKey, key)
	}
	if i := strings.IndexFunc(key, isControl); i >= 0 {
		return fmt.Errorf("%w: %q has a control character at byte %d", ErrInvalidKey, key, i)
	}
	return nil
}

// isControl finds the characters that the XML of an S3 listing cannot carry,
// DEL, and the two noncharacters XML forbids.
func isControl(r rune) bool {
	return r < 0x20 || r == 0x7f || r == 0xfffe || r == 0xffff
}

func validSegment(key, segment string) error {
	switch segment {
	case "":
		return fmt.Errorf("%w: %q has an empty segment (a leading, trailing or double slash)", ErrInvalidKey, key)
	case ".", "..":
		return fmt.Errorf("%w: %q has the segment %q", ErrInvalidKey, key, segment)
	}
	return nil
}
