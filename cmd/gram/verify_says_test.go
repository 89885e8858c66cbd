package main

import (
	"strings"
	"testing"
)

// words is a text without its line breaks.
func words(text string) string { return strings.Join(strings.Fields(text), " ") }

// A claim from a draw that somebody named depends on who knew it, and the verdict says so if nothing was repeated.
func TestVerifySaysWhatFollows(t *testing.T) {
	t.Parallel() // mostly waits for an election
	c := newClient(t)
	c.write("texts.tsv", strings.Repeat("sea\tthe tide is high\nland\tthe hill is steep\n", 60))
	spec := strings.NewReplacer("DIR", c.app.dir, "OUT", "out", "ALPHA", "1").Replace(diffSpec)
	folder := strings.TrimSuffix(modelOfRun(t, c, spec), "model.safetensors")
	const depends = "If the one who trained did not know it beforehand, with 99 % confidence"

	c.stdout.Reset()
	c.want(0, c.run("verify", folder, "--sample", "3", "--draw", "5", "--page", "check.html"))
	for _, text := range []string{c.stdout.String(), string(c.read("check.html"))} {
		if !strings.Contains(text, "5  (named by --draw)") || !strings.Contains(words(text), depends) {
			t.Errorf("a draw that was named:\n%s", text)
		}
	}
	if r := checkedJSON(t, c, 0, "verify", folder, "--sample", "3", "--draw", "5"); !r.Named ||
		!strings.Contains(r.Says[0], depends) {
		t.Errorf("a draw that was named: %+v", r)
	}
	if r := checkedJSON(t, c, 0, "verify", folder, "--sample", "3"); r.Named || strings.Contains(r.Says[0], depends) ||
		!strings.Contains(r.Says[0], "none is false: with 99 % confidence") {
		t.Errorf("a draw that was made here: %+v", r)
	}
	if r := checkedJSON(t, c, 0, "verify", folder, "--sample", "0", "--rounds", "0"); r.Verdict != "digests only" ||
		!strings.Contains(r.Says[0], "Nothing was repeated") {
		t.Errorf("nothing was repeated: %+v", r)
	}
}
