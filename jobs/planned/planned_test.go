package planned

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/protocol"
)

func planOf(t testing.TB, sets int, model *Model) (Inputs, []byte, []byte) {
	t.Helper()
	p := Inputs{Model: model}
	for i := range sets {
		m := dataset.Manifest{URI: "mem://m/in/",
			Objects: []dataset.Object{{Key: "a", Size: int64(10 + i), ETag: "1"}, {Key: "b", Size: 5, ETag: "2"}}}
		shards, err := dataset.Cut(m, 4, "none")
		if err != nil {
			t.Fatal(err)
		}
		p.Manifests, p.Shards = append(p.Manifests, m), append(p.Shards, shards)
	}
	manifest, plan, err := p.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return p, manifest, plan
}

func TestPlansAreReadAsTheyWereWritten(t *testing.T) {
	for sets := 1; sets <= 2; sets++ {
		for _, model := range []*Model{nil, PinModel("mem://m/model", []byte("x"))} {
			want, manifest, plan := planOf(t, sets, model)
			got, err := Unmarshal(manifest, plan, sets, model != nil)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%d sets: %+v, %v", sets, got, err)
			}
		}
	}
}

func TestPlansThatCannotBeUsed(t *testing.T) {
	_, manifest, plan := planOf(t, 2, PinModel("mem://m/model", []byte("x")))
	_, _, other := planOf(t, 1, nil)
	in := func(data []byte, old, now string) []byte {
		if !bytes.Contains(data, []byte(old)) {
			t.Fatalf("%s has no %q", data, old)
		}
		return []byte(strings.Replace(string(data), old, now, 1))
	}
	for name, c := range map[string]struct{ manifest, plan []byte }{
		"nothing":              {nil, plan},
		"no plan":              {manifest, []byte("{}")},
		"unknown field":        {in(manifest, `"input"`, `"more":1,"input"`), plan},
		"more data":            {append(bytes.Clone(manifest), '{'), plan},
		"plan without it":      {manifest, other},
		"model without digest": {in(manifest, `"sha256":"`, `"sha256":"0`), plan},
		"model without place":  {in(manifest, `mem://m/model`, ``), plan},
		"uncovered bytes":      {in(manifest, `"size":11`, `"size":12`), plan},
		"null":                 {[]byte("null"), []byte("null")},
	} {
		_, err := Unmarshal(c.manifest, c.plan, 2, true)
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Code != protocol.CodeCorrupt {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, c := range []struct {
		sets  int
		model bool
	}{{1, true}, {2, false}} {
		if _, err := Unmarshal(manifest, plan, c.sets, c.model); err == nil {
			t.Errorf("a plan of another spec was taken: %+v", c)
		}
	}
}

func FuzzUnmarshalPlans(f *testing.F) {
	for sets := 1; sets <= 2; sets++ {
		_, manifest, plan := planOf(f, sets, PinModel("mem://m/model", nil))
		f.Add(manifest, plan, sets == 2)
	}
	f.Fuzz(func(t *testing.T, manifest, plan []byte, queries bool) {
		sets := 1
		if queries {
			sets = 2
		}
		p, err := Unmarshal(manifest, plan, sets, true)
		if err != nil {
			return
		}
		m2, p2, err := p.Marshal()
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		again, err := Unmarshal(m2, p2, sets, true)
		if err != nil || !reflect.DeepEqual(again, p) {
			t.Fatalf("%+v, not %+v (%v)", again, p, err)
		}
	})
}
