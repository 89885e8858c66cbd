package protocol

import (
	"strings"
	"testing"
)

func TestFieldsOfTheWrongType(t *testing.T) {
	var spec struct {
		Seed  uint64  `json:"seed"`
		Count int     `json:"count"`
		Share float64 `json:"share"`
	}
	for data, want := range map[string]string{
		`{"seed":-1}`:   `field "seed" wants a whole number from 0 on, not -1`,
		`{"count":1.5}`: `field "count" wants a whole number, not 1.5`,
		`{"share":"a"}`: `field "share" wants a number, not string`,
	} {
		if err := StrictDecode([]byte(data), &spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", data, err, want)
		}
	}
}
