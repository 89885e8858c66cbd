package protocol

import (
	"crypto/rand"
	"strings"
)

// NewJobID makes an id for a new job: its name, or else its kind, for people, and a random suffix of 40 bits.
func NewJobID(name, kind string) string {
	suffix := strings.ToLower(rand.Text()[:8])
	name = SpelledAsID(name, kind)
	name = strings.Trim(name[:min(len(name), maxJobID-1-len(suffix))], "-")
	if name == "" {
		name = "job"
	}
	return name + "-" + suffix
}

// SpelledAsID is a name, or else a kind, as ids are spelled. It may be longer than one, or begin with a hyphen.
func SpelledAsID(name, kind string) string {
	if name == "" {
		name = kind
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '-'
	}, name)
}
