package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gram-compute/gram/attestation"
	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/verify"
)

// wantNarrow wants lines of at most 80 columns on stdout, and the first not to be blank.
func (c *session) wantNarrow() {
	c.t.Helper()
	for i, line := range strings.Split(c.stdout.String(), "\n") {
		if n := utf8.RuneCountInString(line); n > 80 || i == 0 && n == 0 {
			c.t.Errorf("line %d has %d columns: %s", i+1, n, line)
		}
	}
}

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
		r.Draw != "" || !strings.Contains(r.Says[0], "Nothing was repeated") {
		t.Errorf("nothing was repeated: %+v", r)
	}
}

// A signature that is invalid, too large or missing is a finding of the result, as text, as JSON and on a page.
func TestVerifyShowsSignaturesThatFail(t *testing.T) {
	t.Parallel() // mostly waits for an election
	c := newClient(t)
	view := trained(t, c)
	private, public := c.keyFiles("a")
	at := "models/" + view.ID + "/"
	folder := filepath.Join(c.app.dir, at)
	fails := func(code int, verdict verify.Verdict, file, says string, args ...string) {
		t.Helper()
		args = append([]string{"verify", at}, args...)
		r := checkedJSON(t, c, code, args...)
		findings := append(r.False, r.Missing...)
		if r.Verdict != verdict || len(findings) == 0 || findings[0].Of != "signature" || findings[0].File != file ||
			!strings.Contains(findings[0].Says, says) || strings.Contains(c.stdout.String(), "0000000") {
			t.Errorf("%s", c.stdout.String())
		}
		c.stdout.Reset()
		c.want(code, c.run(append(args, "--page", "check.html")...))
		c.wantNarrow()
		for _, text := range []string{c.stdout.String(), string(c.read("check.html"))} {
			if !strings.Contains(words(text), says) || !strings.Contains(text, string(verdict)) ||
				strings.Contains(text, "leaves") {
				t.Errorf("%s", text)
			}
		}
	}
	fails(exit.Missing, verify.Incomplete, "model.sig", "no signature by a key of --public-key", "--public-key", public)
	c.want(0, c.run("sign", at, "--key", private))
	bill := filepath.Join(folder, "bom.cdx.json")
	data, err := os.ReadFile(bill)
	if err != nil {
		t.Fatal(err)
	}
	c.replace(bill, append(data, ' '))
	fails(exit.Damaged, verify.False, "model.sig", "bom.cdx.json has the SHA-256", "--public-key", public)
	c.replace(bill, data)

	for _, name := range []string{"provenance.intoto.jsonl", "model.sig"} {
		c.replace(filepath.Join(folder, name), bytes.Repeat([]byte("x"), attestation.MaxBytes+1))
		fails(exit.Damaged, verify.False, name, "more than 16777216 bytes")
		if err := os.Remove(filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
		c.want(0, c.run("sign", at, "--key", private))
	}
}

// Byproducts that are absent are named, and not counted.
func TestVerifyNamesWhatASignatureLacks(t *testing.T) {
	t.Parallel() // mostly waits for an election
	c := newClient(t)
	view := trained(t, c)
	private, public := c.keyFiles("a")
	at := "models/" + view.ID + "/"
	c.want(0, c.run("sign", at, "--key", private))
	for _, name := range []string{"model.sig", "report.html"} {
		if err := os.Remove(filepath.Join(c.app.dir, at, name)); err != nil {
			t.Fatal(err)
		}
	}
	c.stdout.Reset()
	c.want(0, c.run("verify", at, "--public-key", public))
	c.wantNarrow()
	if text := words(c.stdout.String()); !strings.Contains(text, "over 5 files not compared, as absent: report.html") {
		t.Errorf("%s", c.stdout.String())
	}
}

// What cannot be checked is refused with what to give in its place, and -q is without warnings.
func TestVerifyRefuses(t *testing.T) {
	c := newClient(t)
	c.write("model.safetensors", "weights")
	for _, args := range [][]string{{"verify", "./model.safetensors"}, {"verify", c.app.dir + "/model.safetensors"},
		{"sign", "./model.safetensors", "--key", "x"}, {"diff", "./model.safetensors", "./x/"},
		{"verify", "s3://models/digits-1/provenance.json"}} {
		before := len(c.stderr.String())
		private, _ := c.keyFiles("a")
		if args[0] == "sign" {
			args[3] = private
		}
		c.want(exit.Usage, c.run(args...))
		in := strings.TrimSuffix(strings.TrimSuffix(args[1], "model.safetensors"), "provenance.json")
		if said := c.stderr.String()[before:]; !strings.Contains(said, "is a file, not the folder of a job's") ||
			!strings.Contains(said, "Name the folder that it is in: "+in+"\n") {
			t.Errorf("%v: %s", args, said)
		}
	}
	c.want(exit.Usage, c.run("verify", "./x/", "--page", "-", "-o", "json"))
	c.wantSays("give --page a file")
	before := c.stderr.String()
	c.app.flags.quiet = true
	c.app.note("gram: warning: hush")
	if c.stderr.String() != before {
		t.Error("a note was printed with -q")
	}
}

// A file of signatures that is too large is refused by sign and model get too, by name and with verify's exit code.
func TestASignatureThatIsTooLarge(t *testing.T) {
	t.Parallel() // mostly waits for an election
	c := newClient(t)
	view := trained(t, c)
	private, _ := c.keyFiles("a")
	folder := filepath.Join(c.app.dir, "models", view.ID)
	d := served(t, view, c)
	for _, name := range []string{"provenance.intoto.jsonl", "model.sig"} {
		c.write(filepath.Join("models", view.ID, name), strings.Repeat("x", attestation.MaxBytes+1))
		c.want(exit.Damaged, c.run("sign", folder, "--key", private))
		c.wantSays(name + ": the file has more than 16777216 bytes")
		d.want(exit.Damaged, d.run("model", "get", view.ID, "--out", "got"))
		d.wantSays("the signature in " + name + " is invalid")
		d.wantSays("it has more than 16777216 bytes")
		if err := os.Remove(filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Join(c.app.dir, "got")); err == nil {
		t.Error("written all the same")
	}
}

// A folder that is absent is named as such, and is not made.
func TestAFolderThatIsAbsent(t *testing.T) {
	t.Parallel() // mostly waits for an election
	c := newClient(t)
	view := trained(t, c)
	private, _ := c.keyFiles("a")
	for _, args := range [][]string{
		{"sign", "./absent/", "--key", private}, {"verify", "./absent/"}, {"diff", "./absent", "./absent"},
		{"get", "./absent/"}, {"report", "./absent/"},
	} {
		d := clientOf(t, &backend{})
		d.app.dir = c.app.dir
		d.want(exit.NotFound, d.run(args...))
		d.wantSays("there is no folder ./absent")
		if _, err := os.Stat(filepath.Join(c.app.dir, "absent")); err == nil {
			t.Fatalf("%s makes it", args[0])
		}
	}
	folder := filepath.Join(c.app.dir, "models", view.ID)
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	d := served(t, view, c)
	d.want(exit.NotFound, d.run("sign", view.ID, "--key", private))
	if _, err := os.Stat(folder); err == nil {
		t.Error("sign of a job makes its folder")
	}
}
