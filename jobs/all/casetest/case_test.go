package casetest

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/gram-compute/gram/jobs/all"
)

func TestCasesAreNamedOnceAndHaveAPart(t *testing.T) {
	names := map[string]bool{}
	for _, c := range table() {
		if c.Name == "" || names[c.Name] {
			t.Errorf("case %q: a name stands once", c.Name)
		}
		names[c.Name] = true
		if _, err := all.Lookup(c.Kind); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
		parts := 0
		for _, suite := range suites {
			if suite.has(c) {
				parts++
			}
		}
		if parts == 0 || c.Golden && c.Phases == nil {
			t.Errorf("%s: %d suites run it", c.Name, parts)
		}
	}
}

func TestMissing(t *testing.T) {
	part, none := Case{Kind: "K", Golden: true}, Case{Kind: "K"}
	reason := Case{Kind: "K", Without: map[*Suite]string{Golden: "has no model"}}
	for _, c := range []struct {
		cases []Case
		want  string
	}{
		{[]Case{none, part}, ""},
		{[]Case{none, reason}, ""},
		{nil, "has no case in suite golden"},
		{[]Case{none, {Kind: "Other", Golden: true}}, "kind K has no case in suite golden"},
		{[]Case{part, reason}, "remove the reason"},
	} {
		if got := missing(c.cases, Golden, "K"); !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// A model that counts on from that of the first half is, to the bit, that of both halves at once.
func TestGrownGlossesAreThoseOfBothHalves(t *testing.T) {
	for _, c := range Of(t, Matrix) {
		if c.Matrix.Over != moreGlosses {
			continue
		}
		sum := sha256.Sum256(glossModel(t, glossFields, c.Params, Glosses(t, 50)))
		if got := hex.EncodeToString(sum[:]); got != c.Matrix.Digest {
			t.Errorf("both halves at once give %s, want %s", got, c.Matrix.Digest)
		}
	}
}

// A model that adds the second object of digits to that of the first is, to the bit, that of both at once: the matrix
// asks one digest of both rows.
func TestGrownDigitsAreThoseOfBothObjects(t *testing.T) {
	digests := map[*Objects]string{}
	for _, c := range Of(t, Matrix) {
		if c.Kind == "GaussianNaiveBayes" {
			digests[c.Matrix.Over] = c.Matrix.Digest
		}
	}
	if digests[moreDigits] == "" || digests[moreDigits] != digests[digits] {
		t.Errorf("grown %s, at once %s", digests[moreDigits], digests[digits])
	}
}
