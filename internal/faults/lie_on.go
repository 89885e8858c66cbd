//go:build faults || seededbugs

package faults

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
)

// lieVariable holds the probability that a result is wrong.
const lieVariable = "GRAM_LIE"

// Lie returns the bytes of encoded arrays, now and then with one value changed: with the probability that GRAM_LIE
// says, drawn anew for each result. It stands for a worker that computes wrongly, before anybody digests what it
// made.
func Lie(encoded []byte) []byte {
	text := os.Getenv(lieVariable)
	if text == "" {
		return encoded
	}
	share, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(fmt.Sprintf("%s: %v", lieVariable, err))
	}
	if len(encoded) < 8 || rand.Float64() >= share {
		return encoded
	}
	first := 8 + int(min(binary.LittleEndian.Uint64(encoded), uint64(len(encoded)))) // after the header
	if first >= len(encoded) {
		return encoded // it has no values
	}
	wrong := slices.Clone(encoded)
	wrong[first+rand.IntN(len(wrong)-first)/8*8] ^= 0x10 // a low bit of a value, so that nothing else fails of it
	return wrong
}
