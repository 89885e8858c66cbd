package specfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gram-compute/gram/cmd/gram/internal/specfile"
	"github.com/gram-compute/gram/protocol"
)

const glosses = `
apiVersion: v1
kind: NaiveBayes
metadata: {name: glosses}
spec:
  input: {uri: data/glosses.tsv, format: tsv, label: 1, text: 3, shard_bytes: 512KiB}
  params: {alpha: 0.5}
  repro: {seed: 9007199254740991}
`

func writeSpec(t *testing.T, text string) (path, dir string) {
	t.Helper()
	dir = t.TempDir()
	path = filepath.Join(dir, "job.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path, dir
}

func TestLoad(t *testing.T) {
	path, dir := writeSpec(t, glosses)
	spec, err := specfile.Load(specfile.Source{Path: path,
		Sets: []string{"spec.params.alpha=0.1", "spec.output.uri=./out/", "spec.input.split.test=0.2"}})
	if err != nil {
		t.Fatal(err)
	}
	in := spec.Spec.Input
	if want := "file://" + dir + "/data/glosses.tsv"; in.URI != want {
		t.Errorf("input = %s, want %s", in.URI, want)
	}
	if want := "file://" + dir + "/out/"; spec.Spec.Output.URI != want {
		t.Errorf("output = %s, want %s: the slash says it is a prefix", spec.Spec.Output.URI, want)
	}
	if in.ShardBytes != 512<<10 || in.Split.Test != 0.2 || string(spec.Spec.Params) != `{"alpha":0.1}` ||
		spec.Spec.Repro.Seed != 1<<53-1 {
		t.Errorf("spec = %+v", spec.Spec)
	}
}

func TestEveryPathCountsFromTheSpec(t *testing.T) {
	path, dir := writeSpec(t, `
apiVersion: v1
kind: Any
spec:
  input: {uri: a/, format: idx, labels_uri: b/}
  queries: {uri: c.npy, format: npy, labels_uri: s3://labels/}
  model: ../m/model.safetensors
`)
	spec, err := specfile.Load(specfile.Source{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	s, base := spec.Spec, "file://"+dir
	for got, want := range map[string]string{
		s.Input.URI: base + "/a/", s.Input.LabelsURI: base + "/b/", s.Queries.URI: base + "/c.npy",
		s.Queries.LabelsURI: "s3://labels/", s.Model: "file://" + filepath.Dir(dir) + "/m/model.safetensors",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestLoadFromStdinIsTheSameSpec(t *testing.T) {
	path, _ := writeSpec(t, strings.ReplaceAll(glosses, "data/", "s3://corpus/"))
	a, errA := specfile.Load(specfile.Source{Path: path})
	b, errB := specfile.Load(specfile.Source{Path: "-",
		Stdin: strings.NewReader(strings.ReplaceAll(glosses, "data/", "s3://corpus/"))})
	if errA != nil || errB != nil {
		t.Fatal(errA, errB)
	}
	hashA, _ := a.Hash()
	hashB, _ := b.Hash()
	if hashA != hashB || hashA == "" {
		t.Errorf("hashes %q and %q", hashA, hashB)
	}
}

func TestAbsoluteURI(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"x.tsv", "file:///d/x.tsv"},
		{"./in/*.tsv", "file:///d/in/*.tsv"},
		{"../x.tsv", "file:///x.tsv"},
		{"in/", "file:///d/in/"},
		{"/abs//x.tsv", "file:///abs/x.tsv"},
		{"file:./x.tsv", "file:///d/x.tsv"},
		{"file:/abs/x.tsv", "file:///abs/x.tsv"},
		{"file:///abs/x.tsv", "file:///abs/x.tsv"},
		{"s3://corpus/x.tsv", "s3://corpus/x.tsv"},
		{"50%#?.tsv", "file:///d/50%#?.tsv"}, // URIs are literal here
	} {
		if got := specfile.AbsoluteURI(c.in, "/d"); got != c.want {
			t.Errorf("AbsoluteURI(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestLoadExplainsMistakes(t *testing.T) {
	for _, c := range []struct {
		name, text string
		sets       []string
		want       string
	}{
		{"misspelt field", strings.Replace(glosses, "shard_bytes", "shard_byte", 1), nil,
			`did you mean "shard_bytes"?`},
		{"wrong type", strings.Replace(glosses, "seed: 9007199254740991", "seed: many", 1), nil, "spec.repro.seed"},
		{"alias", "a: &a 1\nb: *a\n", nil, "anchors"},
		{"set without value", glosses, []string{"spec.params.alpha"},
			"--set spec.params.alpha: write field.field=value"},
		{"set through a number", glosses, []string{"spec.params.alpha.x=1"}, "spec.params.alpha is not an object"},
		{"set misspelt", glosses, []string{"spec.inptu.label=1"}, `did you mean "input"?`},
		{"set empty field", glosses, []string{"spec..label=1"}, "empty"},
		{"another case", glosses, []string{"spec.params.Alpha=1", "spec.Params.alpha=1"},
			`no field "Params" in spec; did you mean "params"?`},
		{"a parameter at the top", glosses, []string{"alpha=3"}, "did you mean spec.params.alpha?"},
		{"a parameter beside params", glosses, []string{"spec.alpha=3"}, "did you mean spec.params.alpha?"},
		{"a group in the wrong place", glosses, []string{"spec.split.test=0.2"}, "did you mean spec.input.split.test?"},
		{"twice in JSON", `{"kind":"a","kind":"b"}`, nil, "kind stands twice"},
		{"twice in JSON that is set", `{"kind":"a","kind":"b"}`, []string{"kind=c"}, "kind stands twice"},
		{"twice deep in JSON", `{"spec":{"params":{"k":5,"k":7}}}`, []string{"kind=c"}, "spec.params.k stands twice"},
		{"twice in a value", glosses, []string{`spec.params={"k":5,"k":7}`}, "k stands twice"},
		{"a list", "- 1\n", []string{"a=1"}, "a spec is an object"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path, _ := writeSpec(t, c.text)
			_, err := specfile.Load(specfile.Source{Path: path, Sets: c.sets, Params: func(string) any {
				return struct {
					Alpha float64 `json:"alpha"`
				}{}
			}})
			var fault *protocol.Fault
			if !errors.As(err, &fault) || fault.Code != protocol.CodeSpecInvalid ||
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("error = %v, want a SPEC_INVALID with %q", err, c.want)
			}
		})
	}
	if _, err := specfile.Load(specfile.Source{Path: filepath.Join(t.TempDir(), "absent.yaml")}); !errors.Is(err,
		os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}
