package protocol

import (
	"strings"
	"testing"
)

func TestNewJobIDIsValid(t *testing.T) {
	for _, name := range []string{"", "x", "--", "Größe", strings.Repeat("long", 40), "a/b c"} {
		if id := NewJobID(name, "NaiveBayes"); !ValidJobID(id) || id == NewJobID(name, "NaiveBayes") {
			t.Errorf("name %q gave id %q", name, id)
		}
	}
	if id := NewJobID("Größe 2", "NaiveBayes"); !strings.HasPrefix(id, "gr--e-2-") {
		t.Errorf("id %q", id)
	}
	if id := NewJobID("", "NaiveBayes"); !strings.HasPrefix(id, "naivebayes-") {
		t.Errorf("id %q", id)
	}
}
