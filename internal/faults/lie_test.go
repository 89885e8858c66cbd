//go:build faults || seededbugs

package faults_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/gram-compute/gram/internal/faults"
)

// A lie changes one bit behind the header, and only as often as it is asked to.
func TestLie(t *testing.T) {
	honest := append(binary.LittleEndian.AppendUint64(nil, 8), "{header}"...)
	values := append(bytes.Clone(honest), make([]byte, 64)...)
	for share, want := range map[string]int{"": 0, "0": 0, "1": 50} {
		t.Setenv("GRAM_LIE", share)
		lies := 0
		for range 50 {
			told := faults.Lie(values)
			if !bytes.Equal(told, values) {
				lies++
			}
			differ := 0
			for i := range told {
				if told[i] != values[i] {
					differ++
				}
			}
			if differ > 1 || !bytes.Equal(told[:16], values[:16]) || len(told) != len(values) {
				t.Errorf("share %q: %d bytes differ", share, differ)
			}
		}
		if lies != want {
			t.Errorf("share %q: %d lies of 50", share, lies)
		}
	}
	t.Setenv("GRAM_LIE", "1")
	if !bytes.Equal(faults.Lie(honest), honest) || !bytes.Equal(faults.Lie(nil), nil) {
		t.Error("bytes without values were changed")
	}
}
