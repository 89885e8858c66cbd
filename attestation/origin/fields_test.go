package origin

import (
	"encoding/json"
	"slices"
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
