package origin

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// Fields are compared by path: what changed, came and went.
func TestFields(t *testing.T) {
	got, err := Fields(json.RawMessage(`{"a":1,"b":{"c":[1,2],"d":"x"},"gone":true}`),
		json.RawMessage(`{"a":1.0,"b":{"c":[1,3,4],"d":"x"}}`))
	want := []Field{{"a", "1", "1.0"}, {"b.c[1]", "2", "3"}, {"b.c[2]", "", "4"}, {"gone", "true", ""}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := Fields(json.RawMessage(`{`), json.RawMessage(`{}`)); err == nil {
		t.Error("half an object was compared")
	}
}

// The fields of a file that is too large are not compared one at a time: the file alone is named.
func TestLargeFilesAreNamed(t *testing.T) {
	large := bytes.Repeat([]byte("1"), maxFields+1)
	for says, has := range map[string][]byte{
		"f is not the file that follows from g": large, `f has 3 in the field a, and by g it is 2`: []byte(`{"a":3}`),
		`f has nothing in the field a, and by g it is 2`: []byte(`{}`),
	} {
		found, err := Mismatches("f", has, []byte(`{"a":2}`), "g")
		if err != nil || len(found) != 1 || found[0].String() != says {
			t.Errorf("%s: %v, %v", says, found, err)
		}
	}
	if found, err := Mismatches("f", large, large, "g"); err != nil || len(found) > 0 {
		t.Errorf("the same: %v, %v", found, err)
	}
}

// A long name, which the path of each value below it has, takes no more memory than is allowed for paths.
func TestLongPathsAreBounded(t *testing.T) {
	name := strings.Repeat("k", maxFields/2)
	long := []byte(`{"` + name + `":[` + strings.Repeat("0,", 2*maxPaths/len(name)) + `0]}`)
	if _, err := Flat(long); err == nil {
		t.Error("no path was too long")
	}
	found, err := Mismatches("f", long, []byte(`{"a":2}`), "g")
	if err != nil || len(found) != 1 || found[0].String() != "f is not the file that follows from g" {
		t.Errorf("%.100v, %v", found, err)
	}
}
