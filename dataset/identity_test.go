package dataset

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/kernelops/philox"
	"github.com/gram-compute/gram/protocol"
)

func TestIdentityByHand(t *testing.T) {
	for _, c := range []struct {
		id         Identity
		way        Way
		text, json string
	}{
		{ByID("17"), ID, `id "17"`, `"17"`},
		{ByID(""), ID, `id ""`, `""`},
		{ByRow(17), Row, "row 17", `{"Row":17}`},
		{ByRow(0), Row, "row 0", `{"Row":0}`},
		{ByPlace("a.csv", 17), Place, `"a.csv" at 17`, `{"Object":"a.csv","Offset":17}`},
	} {
		data, err := json.Marshal(c.id)
		if c.id.Way() != c.way || c.id.String() != c.text || err != nil || string(data) != c.json {
			t.Errorf("%#v: way %d, %s, %s, %v", c.id, c.id.Way(), c.id, data, err)
		}
	}
	ascending := []Identity{ByPlace("a", 0), ByPlace("a", 9), ByPlace("a", 10), ByPlace("aa", 1), ByPlace("b", 0),
		ByRow(2), ByRow(10), ByID(""), ByID("2"), ByID("a"), ByID("10"), ByID("aa")}
	if !slices.IsSortedFunc(ascending, Identity.Compare) {
		t.Error("identities do not ascend")
	}
}

func anyIdentity() *rapid.Generator[Identity] {
	text := rapid.SampledFrom([]string{"", "a", "b", "aa", "10", "9"})
	return rapid.Custom(func(t *rapid.T) Identity {
		number := rapid.Int64Range(0, 3).Draw(t, "number")
		switch rapid.IntRange(0, 2).Draw(t, "way") {
		case 0:
			return ByID(text.Draw(t, "id"))
		case 1:
			return ByRow(number)
		}
		return ByPlace("k"+text.Draw(t, "object"), number)
	})
}

// Identities are in a total order, are read back as they were written, and draw as philox does by their fields.
func TestIdentityProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := anyIdentity().Draw(t, "a"), anyIdentity().Draw(t, "b"), anyIdentity().Draw(t, "c")
		if a.Compare(b) != -b.Compare(a) || (a.Compare(b) == 0) != (a == b) ||
			a.Compare(b) < 0 && b.Compare(c) < 0 && a.Compare(c) >= 0 {
			t.Fatalf("%v, %v and %v are in no order", a, b, c)
		}
		data, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		var back Identity
		if err := json.Unmarshal(data, &back); err != nil || back != a {
			t.Fatalf("%v was read back as %v, %v", a, back, err)
		}
		key := philox.New(3, "test")
		draws := NewDraws(key)
		for _, id := range []Identity{a, b, a, c} {
			if draws.Uint64(id) != key.Object(id.Object).Uint64(id.Offset) {
				t.Fatalf("another draw of %v", id)
			}
		}
		if fault := a.Fault("odd"); a.Way() != Place {
			if id, ok := OfRecord(fault.Record); a.Object+strconv.FormatInt(a.Offset, 10) != "-1" && (!ok || id != a) {
				t.Fatalf("the fault of %v names %v", a, id)
			}
		}
	})
}

// A draw by an id depends on no file, and one by a place on no compression.
func TestWaysOfInputs(t *testing.T) {
	for _, c := range []struct {
		in   protocol.Input
		want Way
	}{
		{protocol.Input{Format: "csv"}, Place}, {protocol.Input{Format: "mail"}, Place},
		{protocol.Input{Format: "npz"}, Row},
		{protocol.Input{Format: "fvecs"}, Row}, {protocol.Input{Format: "csv", ID: protocol.Column{Number: 1}}, ID},
		{protocol.Input{Format: "idx", IDsURI: "mem://x/y"}, ID},
	} {
		if got := WayOf(&c.in); got != c.want {
			t.Errorf("%+v: way %d, want %d", c.in, got, c.want)
		}
	}
}

// FuzzIdentityJSON reads any JSON: what is read is written as it was read again.
func FuzzIdentityJSON(f *testing.F) {
	for _, s := range []string{`"17"`, `{"Row":3}`, `{"Object":"a","Offset":2}`, `{"object":"a","offset":2}`, `{"Offset":-1}`,
		`{"Row":-1}`, `{}`, `3`, `{"Row":1,"Object":"a"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var id, again Identity
		if json.Unmarshal([]byte(text), &id) != nil {
			return
		}
		data, err := json.Marshal(id)
		if err = cmp.Or(err, json.Unmarshal(data, &again)); err != nil || again != id {
			t.Errorf("%q is %v, then %v: %v", text, id, again, err)
		}
	})
}
