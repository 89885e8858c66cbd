package protocol

import (
	"errors"
	"strings"
	"testing"
)

// A list of numbers is read at once; what is wrong in it is found as if each element were looked at.
func TestListsOfNumbers(t *testing.T) {
	type lists struct {
		Doubles []float64   `json:"doubles"`
		Floats  []float32   `json:"floats"`
		Ints    []int8      `json:"ints"`
		Bytes   []uint8     `json:"bytes"`
		Rows    [][]float64 `json:"rows"`
		Any     any         `json:"any"`
	}
	for text, want := range map[string]string{
		`{"doubles": [1, -2.5, 1e300]}`:          "",
		`{"doubles": []}`:                        "",
		`{"doubles": [1, null]}`:                 `"doubles[1]" is empty`,
		`{"doubles": [1, "2"]}`:                  "doubles[1]",
		`{"doubles": [true]}`:                    "doubles[0]",
		`{"doubles": [1, [2]]}`:                  "doubles[1]",
		`{"doubles": [1e999]}`:                   "doubles[0]",
		`{"floats": [1, 1e300]}`:                 "floats[1]",
		`{"ints": [127, -128]}`:                  "",
		`{"ints": [128]}`:                        "ints[0]",
		`{"ints": [1.0]}`:                        "ints[0]",
		`{"bytes": [0, 255]}`:                    "",
		`{"bytes": [256]}`:                       "bytes[0]",
		`{"bytes": "AAAA"}`:                      "bytes",
		`{"rows": [[1, 2], [3]]}`:                "",
		`{"rows": [[1], [2, null]]}`:             `"rows[1][1]" is empty`,
		`{"any": [[1, 2], [true, null]]}`:        "",
		`{"any": [[1], {"a": 1, "a": 2}]}`:       "any[1].a stands twice",
		`{"any": [1, "\ud800"]}`:                 "surrogate",
		`{"any": ["]]]]]]]]]]]]]]]]]]", "[[["]}`: "",
		`{"any": ["\"[[[[[[[[[[[[[[[[[[[["]}`:    "",
	} {
		var into lists
		err := StrictDecode([]byte(text), &into)
		var fault *Fault
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case want != "" && (!errors.As(err, &fault) || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: error %v, want one with %q", text, err, want)
		}
	}
}
