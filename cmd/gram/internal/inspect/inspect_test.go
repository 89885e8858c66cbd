package inspect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/protocol"
)

func open(t *testing.T, in protocol.Input, files ...string) (*Opened, error) {
	t.Helper()
	dir := t.TempDir()
	for i, data := range files {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	in.URI = "file://" + filepath.ToSlash(dir) + "/"
	in = in.WithDefaults()
	if err := in.Validate("spec.input"); err != nil {
		t.Fatal(err)
	}
	return Open(t.Context(), in)
}

func survey(t *testing.T, in protocol.Input, files ...string) (*Survey, error) {
	t.Helper()
	o, err := open(t, in, files...)
	if err != nil {
		return nil, err
	}
	return o.Survey(t.Context(), 1, 2)
}

func column(name string) protocol.Column { return protocol.Column{Name: name} }

func TestTableByHand(t *testing.T) {
	in := protocol.Input{Format: "csv", Header: true, Label: column("y"), Missing: []string{""}}
	in.Split = protocol.Split{Folds: 2, Group: column("who")}
	s, err := survey(t, in, "x,y,who,z\n1,b,p,0.5\n,a,q,2\n", "x,y,who,z\n3,b,p,-1\n")
	if err != nil {
		t.Fatal(err)
	}
	x, z := s.Columns[0], s.Columns[1]
	if x.Name != "x" || !x.Whole || x.Missing != 1 || *x.Min != 1 || *x.Max != 3 || *x.Mean != 2 || *x.Distinct != 2 {
		t.Errorf("%+v", x)
	}
	if z.Name != "z" || z.Whole || z.Missing != 0 || *z.Min != -1 || *z.Max != 2 || *z.Mean != 0.5 {
		t.Errorf("%+v", z)
	}
	want := []Class{{"b", 2}, {"a", 1}}
	if !reflect.DeepEqual(s.Labels.Classes, want) || s.Labels.Numbers || *s.Groups != 2 ||
		s.Records != 3 || s.Objects != 2 {
		t.Errorf("%+v %+v", s, s.Labels)
	}
}

// Columns of categories are counted by value, and stand in a record before its numbers.
func TestCategoriesByHand(t *testing.T) {
	in := protocol.Input{Format: "csv", Header: true, Categorical: []protocol.Column{column("color")}}
	s, err := survey(t, in, "color,x\nred,1\nblue,2\n", "color,x\nred,3\n")
	if err != nil {
		t.Fatal(err)
	}
	c := s.Categories[0]
	if c.Column != "color" || *c.Distinct != 2 || !slices.Equal(c.Values, []Class{{"red", 2}, {"blue", 1}}) {
		t.Errorf("%+v", c)
	}
	var out strings.Builder
	s.Write(&out, func(n int64) string { return fmt.Sprint(n) })
	if want := "color: 2, most: red (2), blue (1)"; !strings.Contains(out.String(), want) {
		t.Errorf("%s\nwant %s", out.String(), want)
	}
	if line := (&Record{Categories: []string{"red"}, Values: []Number{3}}).Line(); !strings.HasSuffix(line, "red 3") {
		t.Error(line)
	}
}

func TestSparseAndTextsByHand(t *testing.T) {
	one := 1
	s, err := survey(t, protocol.Input{Format: "libsvm", Width: 5, IndexBase: &one}, "+1 1:2 5:1\n-1 5:4\n3\n")
	if err != nil {
		t.Fatal(err)
	}
	if p := s.Sparse; p.Total != 3 || *p.Used != 2 || *p.Entries.Min != 0 || *p.Entries.Max != 2 ||
		*p.Values.Max != 4 || *s.Labels.Range.Max != 3 {
		t.Errorf("%+v", p)
	}
	s, err = survey(t, protocol.Input{Format: "tsv", Text: protocol.Column{Number: 1}}, "a fine day\n \nword\n")
	if err != nil {
		t.Fatal(err)
	}
	if x := s.Texts; x.Empty != 1 || *x.Words.Max != 3 || *x.Words.Min != 0 || *x.Bytes.Max != 10 {
		t.Errorf("%+v", x)
	}
}

// Beyond their bounds distinct values are not counted, and the count is not a lower one either.
func TestDistinctBeyondTheBound(t *testing.T) {
	var data strings.Builder
	for i := range maxLabels + 1 {
		fmt.Fprintf(&data, "l%d,%d,%d\n", i, i, i%maxDistinct)
	}
	s, err := survey(t, protocol.Input{Format: "csv", Label: protocol.Column{Number: 1}}, data.String())
	if err != nil {
		t.Fatal(err)
	}
	if s.Labels.Distinct != nil || s.Labels.Classes != nil || s.Columns[0].Distinct != nil ||
		*s.Columns[1].Distinct != maxDistinct {
		t.Errorf("%+v %+v", s.Labels, s.Columns)
	}
	var out bytes.Buffer
	s.Write(&out, func(n int64) string { return fmt.Sprint(n) })
	if !strings.Contains(out.String(), "more than 1000") || !strings.Contains(out.String(), "more than 256") {
		t.Error(out.String())
	}
}

// A sample is the same whatever the shards and the files, once records have ids, and a longer one begins with it.
func TestSampleOfAnyShards(t *testing.T) {
	var lines []string
	for i := range 300 {
		lines = append(lines, fmt.Sprintf("id%d,%d\n", i, i))
	}
	in := protocol.Input{Format: "csv", ID: protocol.Column{Number: 1}}
	var before []*Record
	for _, files := range [][]string{{strings.Join(lines, "")},
		{strings.Join(lines[:7], ""), strings.Join(lines[7:], "")}} {
		for _, size := range []protocol.ByteSize{64, 1 << 20} {
			in.ShardBytes = size
			o, err := open(t, in, files...)
			if err != nil {
				t.Fatal(err)
			}
			short, err := o.Sample(t.Context(), 3, 5)
			if err != nil {
				t.Fatal(err)
			}
			long, err := o.Sample(t.Context(), 3, 50)
			if err != nil || !reflect.DeepEqual(long[:5], short) || len(long) != 50 {
				t.Fatal(long, err)
			}
			if before != nil && !reflect.DeepEqual(before, long) {
				t.Errorf("%d files in shards of %d: another sample", len(files), size)
			}
			before = long
		}
	}
}

// By hand: a picture of 4 x 4 in two characters a value, and its label.
func TestPictureByHand(t *testing.T) {
	s, err := survey(t, protocol.Input{Format: "csv", Label: protocol.Column{Number: 17}},
		"0,0,0,9,0,0,9,0,0,9,0,0,9,0,0,0,slash\n")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	s.Write(&out, func(n int64) string { return fmt.Sprint(n) })
	if want := "\n      @@\n    @@\n  @@\n@@\nslash\n"; !strings.HasSuffix(out.String(), want) {
		t.Errorf("%s", out.String())
	}
}

func TestInspectRefuses(t *testing.T) {
	numbers := protocol.Input{Format: "csv"}
	_, err := survey(t, numbers, "1,2\n3,x\n")
	var fault *protocol.Fault
	if !errors.As(err, &fault) || fault.Code != protocol.CodeBadRecord || fault.Column != 2 || fault.Line != 2 {
		t.Errorf("a bad record: %+v", err)
	}
	numbers.OnBadRecord.SkipMax = 1
	if s, err := survey(t, numbers, "1,2\n3,x\n"); err != nil || len(s.Skipped) != 1 || s.Records != 1 {
		t.Errorf("a bad record that may pass: %+v, %v", s, err)
	}
	if _, err := survey(t, numbers, "1,2\n3,x\n", "1,2\nx,4\n"); !errors.As(err, &fault) || fault.Hint == "" {
		t.Errorf("two bad records of which one may pass: %v", err)
	}
	if _, err := survey(t, numbers, "1,2\n", "1,2,3\n"); !errors.As(err, &fault) {
		t.Errorf("two widths: %v", err)
	}
}

// Whatever bytes a file has, they are a fault or a survey that can be printed in 80 columns of valid text and as JSON.
func TestInspectAnyBytes(t *testing.T) {
	random, one := rand.New(rand.NewPCG(9, 9)), 1
	alphabet := []string{"1", "-2.5", ",", "\t", "\n", "\"", "a", ":", " ", "\x00", "\xff", "\x1b[2J",
		"{\"x\":", "}", "nan", "#"}
	for range 300 {
		var data strings.Builder
		for range random.IntN(30) {
			data.WriteString(alphabet[random.IntN(len(alphabet))])
		}
		for _, in := range []protocol.Input{{Format: "csv", Missing: []string{"nan", ""}},
			{Format: "tsv", Text: protocol.Column{Number: 1}}, {Format: "libsvm", Width: 9, IndexBase: &one},
			{Format: "jsonl", Features: []protocol.Column{column("x")}}, {Format: "document"}, {Format: "npy"}} {
			in.OnBadRecord.SkipMax = int64(random.IntN(3))
			s, err := survey(t, in, data.String())
			var fault *protocol.Fault
			if err != nil {
				if !errors.As(err, &fault) {
					t.Errorf("%s of %q: %v", in.Format, data.String(), err)
				}
				continue
			}
			checkPrinted(t, s)
		}
	}
}

func checkPrinted(t *testing.T, s *Survey) {
	t.Helper()
	var out bytes.Buffer
	s.Write(&out, func(n int64) string { return fmt.Sprint(n) })
	for _, r := range s.Drawn {
		out.WriteString(r.Line() + "\n")
		if _, err := json.Marshal(r); err != nil {
			t.Error(err)
		}
	}
	if _, err := json.Marshal(s); err != nil {
		t.Error(err)
	}
	for line := range strings.Lines(out.String()) {
		if n := terminal.TextWidth(strings.TrimSuffix(line, "\n")); n > 80 || strings.ContainsAny(line, "\x00\x1b") ||
			!utf8.ValidString(line) {
			t.Errorf("%d columns: %q", n, line)
		}
	}
}

// Names of columns and labels that are long, or take two columns of a terminal for each character, beside numbers that
// are long, too.
func TestInspectInEightyColumns(t *testing.T) {
	long := strings.Repeat("漢字", 40)
	in := protocol.Input{Format: "csv", Header: true, Label: protocol.Column{Number: 1}, Missing: []string{""},
		Categorical: []protocol.Column{{Number: 4}}}
	var data strings.Builder
	fmt.Fprintf(&data, "y,%s,%s,%s\n", long, strings.Repeat("name", 20), long+"k")
	for i := range 300 {
		fmt.Fprintf(&data, "%s%d,-1.2345%03de-10,1.2345%03de+10,%s\n", long, i%3, i, i, long)
	}
	s, err := survey(t, in, data.String())
	if err != nil {
		t.Fatal(err)
	}
	checkPrinted(t, s)
}

// Beside columns of categories, numbers have the names of the header, and a category that is given by number has its
// own.
func TestNamesBesideCategories(t *testing.T) {
	in := protocol.Input{Format: "csv", Header: true, Categorical: []protocol.Column{{Number: 2}}}
	s, err := survey(t, in, "x,color,z\n1,red,2\n")
	if err != nil {
		t.Fatal(err)
	}
	if s.Columns[0].Name != "x" || s.Columns[1].Name != "z" || s.Categories[0].Name != "color" ||
		s.Categories[0].Column != "2" {
		t.Errorf("%+v %+v %+v", s.Columns[0], s.Columns[1], s.Categories[0])
	}
}

// Zeros that a file writes out are no entries, and columns have the numbers of the file.
func TestSparseByTheFile(t *testing.T) {
	const want = "1:2 3:0 4:1"
	for base := range 2 {
		in := protocol.Input{Format: "libsvm", Width: 5, IndexBase: &base}
		s, err := survey(t, in, "1 1:2 3:0 4:1\n")
		if err != nil {
			t.Fatal(err)
		}
		if p := s.Sparse; p.Total != 2 || p.Zeros != 1 || *p.Used != 2 || *p.Entries.Max != 2 || *p.Values.Min != 1 {
			t.Errorf("%+v", p)
		}
		if line := s.Drawn[0].Line(); !strings.HasSuffix(line, want) {
			t.Errorf("columns from %d: %s", base, line)
		}
		checkPrinted(t, s)
	}
}
