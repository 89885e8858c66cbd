package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gram-compute/gram/protocol"
)

// A manifest and its plan read back as they were written.
func TestStoredFormsByHand(t *testing.T) {
	one, two := object("a", 3), object("b", 4)
	for _, m := range []Manifest{
		{URI: "mem://m/", Objects: []Object{one}},
		{URI: "mem://m/", Objects: []Object{one, two}, Labels: []Object{object("l/a", 1), object("l/b", 2)}},
		{URI: "mem://m/", Objects: []Object{{Key: "a", Size: 1, ETag: "e", VersionID: "v", Digest: md5Of("x")}}},
	} {
		data, err := MarshalManifest(m)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := UnmarshalManifest(data); err != nil || !reflect.DeepEqual(back, m) {
			t.Errorf("%+v became %+v, %v", m, back, err)
		}
		shards, err := Cut(m, 2, "auto")
		if err != nil {
			t.Fatal(err)
		}
		if data, err = MarshalPlan(m, shards); err != nil {
			t.Fatal(err)
		}
		if back, err := UnmarshalPlan(data, m); err != nil || !reflect.DeepEqual(back, shards) {
			t.Errorf("%+v became %+v, %v", shards, back, err)
		}
	}
	few := Manifest{Objects: []Object{one, two}, Labels: []Object{object("l/a", 1)}}
	_, err := MarshalManifest(few)
	var fault *protocol.Fault
	if !isFault(err, protocol.CodeCorrupt, "1 objects of labels for 2 objects") ||
		errors.As(err, &fault) && *fault != *fault.WithoutOffset() {
		t.Errorf("labels of one of two objects: %v", err)
	}
}

// A piece that is not a range is refused when it is read, and the error names the element, from 0.
func TestSenselessPieces(t *testing.T) {
	for _, piece := range []string{
		`{"object":0,"start":2,"end":2}`, `{"object":0,"start":2,"end":1}`,
		`{"object":0,"start":-1,"end":2}`, `{"object":-1,"start":0,"end":2}`,
	} {
		var list pieceList
		err := json.Unmarshal([]byte(`[{"object":0,"start":0,"end":1},`+piece+`]`), &list)
		if err == nil || !strings.Contains(err.Error(), "element 1: ") ||
			!strings.Contains(err.Error(), "is not a range") {
			t.Errorf("%s: %v", piece, err)
		}
	}
	m := Manifest{Objects: []Object{object("a", 4)}}
	if _, err := MarshalPlan(m, []Shard{{[]Piece{{0, 0, 0}, {0, 0, 4}}}}); !isCode(err, protocol.CodeCorrupt) {
		t.Errorf("an empty piece: %v", err)
	}
}

// A shard has 1 to MaxPiecesPerShard pieces.
func TestPiecesOfAShard(t *testing.T) {
	m := Manifest{}
	var pieces []Piece
	for i := range MaxPiecesPerShard + 1 {
		m.Objects = append(m.Objects, object(fmt.Sprintf("%06d", i), 1))
		pieces = append(pieces, Piece{i, 0, 1})
	}
	for _, c := range []struct {
		shards []Shard
		want   bool
	}{
		{[]Shard{{pieces[:MaxPiecesPerShard]}, {pieces[MaxPiecesPerShard:]}}, true},
		{[]Shard{{pieces}}, false},
		{[]Shard{{pieces[:MaxPiecesPerShard]}, {}, {pieces[MaxPiecesPerShard:]}}, false},
	} {
		if err := checkPlan(m, c.shards); (err == nil) != c.want {
			t.Errorf("%d shards, the first of %d pieces: %v", len(c.shards), len(c.shards[0].Pieces), err)
		}
	}
}

// A list has up to its limit of elements, and a stored object up to its limit of bytes.
func TestLimitsOfStoredForms(t *testing.T) {
	for text, want := range map[string]string{
		"[]": "", "[1]": "", "[1,2]": "", "[1,2,3]": "more than 2 elements",
		`[1,"x"]`: "element 1: ", "[1": "EOF", "{}": "the list is missing",
	} {
		var all []int
		err := eachElement([]byte(text), 2, func(dec *json.Decoder) error {
			all = append(all, 0)
			return dec.Decode(&all[len(all)-1])
		})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) || len(all) > 2 {
			t.Errorf("%s: %v, %v; want %q", text, all, err, want)
		}
	}
	for limit, want := range map[int]bool{5: true, 4: false} {
		var list []int
		err := DecodeStored([]byte("[1,2]"), limit, &list)
		if (err == nil) != want || want && !slices.Equal(list, []int{1, 2}) {
			t.Errorf("5 bytes, at most %d: %v, %v", limit, list, err)
		}
	}
}
