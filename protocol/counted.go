package protocol

import (
	"fmt"
	"strings"
)

// Counted writes a number and the noun that it counts, for people: "1 record", "2 records".
func Counted[N ~int | ~int32 | ~int64 | ~uint32 | ~uint64](n N, noun string) string {
	if n != 1 {
		noun = plural(noun)
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// Were is the verb after a number of things: "1 record was", "2 records were".
func Were[N ~int | ~int32 | ~int64 | ~uint32 | ~uint64](n N) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// plural is the plural of a noun, by the rules of English for those that end in s, x, tch, y and f.
func plural(noun string) string {
	stem, last := noun[:max(0, len(noun)-1)], noun[max(0, len(noun)-1):]
	switch {
	case last == "s", last == "x", strings.HasSuffix(noun, "tch"):
		return noun + "es"
	case last == "y" && stem != "" && !strings.ContainsAny(stem[len(stem)-1:], "aeiou"):
		return stem + "ies"
	case last == "f":
		return stem + "ves"
	}
	return noun + "s"
}
