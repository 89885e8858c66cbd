package dataset

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gram-compute/gram/protocol"
)

func object(key string, size int64) Object { return Object{Key: key, Size: size, ETag: "e"} }

func TestCutByHand(t *testing.T) {
	for _, c := range []struct {
		name    string
		objects []Object
		bytes   int64
		want    []Shard
	}{
		{"nothing", nil, 10, nil},
		{"an empty object has no piece", []Object{object("a", 0), object("b", 3)}, 10, []Shard{{[]Piece{{1, 0, 3}}}}},
		{"small ones are packed", []Object{object("a", 4), object("b", 6), object("c", 1)}, 10,
			[]Shard{{[]Piece{{0, 0, 4}, {1, 0, 6}}}, {[]Piece{{2, 0, 1}}}}},
		{"a large one is cut evenly", []Object{object("a", 4), object("b", 23), object("c", 1)}, 10,
			[]Shard{{[]Piece{{0, 0, 4}}}, {[]Piece{{1, 0, 8}}}, {[]Piece{{1, 8, 16}}}, {[]Piece{{1, 16, 23}}},
				{[]Piece{{2, 0, 1}}}}},
		{"gzip is whole", []Object{object("a.gz", 4), object("b.gz", 23), object("c.GZ", 1)}, 10,
			[]Shard{{[]Piece{{0, 0, 4}}}, {[]Piece{{1, 0, 23}}}, {[]Piece{{2, 0, 1}}}}},
	} {
		got, err := Cut(Manifest{Objects: c.objects}, c.bytes, "auto")
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, %v; want %v", c.name, got, err, c.want)
		}
	}
}

func TestCutBoundsThePiecesOfAShard(t *testing.T) {
	var m Manifest
	for i := range 2*MaxPiecesPerShard + 1 {
		m.Objects = append(m.Objects, object(fmt.Sprintf("%06d", i), 1))
	}
	shards, err := Cut(m, 1<<20, "auto")
	if err != nil || len(shards) != 3 || len(shards[0].Pieces) != MaxPiecesPerShard || len(shards[2].Pieces) != 1 {
		t.Errorf("%d shards, %v; want 3", len(shards), err)
	}
}

func TestCutRefuses(t *testing.T) {
	for _, c := range []struct {
		object      Object
		bytes       int64
		compression string
		code        protocol.Code
	}{
		{object("a", 1), 0, "auto", protocol.CodeSpecInvalid},
		{object("a", 1), 1, "zstd", protocol.CodeSpecInvalid},
		{object("a.zst", 1), 1, "auto", protocol.CodeSpecInvalid},
		{object("a", MaxShards+1), 1, "none", protocol.CodeInputLimit},
		{object("a", math.MaxInt64), 1, "none", protocol.CodeInputLimit},
	} {
		if _, err := Cut(Manifest{Objects: []Object{c.object}}, c.bytes, c.compression); !isCode(err, c.code) {
			t.Errorf("%v in shards of %d, %s: %v, want %s", c.object, c.bytes, c.compression, err, c.code)
		}
	}
	if shards, err := Cut(Manifest{Objects: []Object{object("a.zst", 9)}}, 5, "none"); err != nil || len(shards) != 2 {
		t.Errorf("compression none must take any suffix: %v, %v", shards, err)
	}
}

func anyManifest() *rapid.Generator[Manifest] {
	return rapid.Custom(func(t *rapid.T) Manifest {
		keys := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{1,3}(/[a-z]{1,2}| ü"<)?(\.gz)?`), 0, 12,
			rapid.ID).Draw(t, "keys")
		slices.Sort(keys)
		counted := rapid.Bool().Draw(t, "counted")
		m, unit := Manifest{URI: rapid.String().Draw(t, "uri")}, rapid.SampledFrom([]int64{1, 1 << 52}).Draw(t, "unit")
		for _, key := range keys {
			size := unit * rapid.Int64Range(0, 40).Draw(t, "size")
			o := Object{Key: key, Size: size, ETag: rapid.StringN(1, 8, -1).Draw(t, "etag"),
				VersionID: rapid.String().Draw(t, "version")}
			if counted && size > 0 {
				o.Rows = rapid.Int64Range(0, 1<<40).Draw(t, "rows")
			}
			m.Objects = append(m.Objects, o)
		}
		m.Counted = counted
		return m
	})
}

// Whatever the manifest, a plan covers each byte once, in order, within its bounds, and the
// stored forms read back as they were.
func TestPlanProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := anyManifest().Draw(t, "manifest")
		size := rapid.OneOf(rapid.Int64Range(1, 50), rapid.Int64Range(1<<51, 1<<56)).Draw(t, "shard_bytes")
		shards, err := Cut(m, size, "auto")
		if isCode(err, protocol.CodeInputLimit) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := checkPlan(m, shards); err != nil {
			t.Fatal(err)
		}
		for _, s := range shards {
			total := int64(0)
			for _, p := range s.Pieces {
				total += p.End - p.Start
			}
			if total > size && !(len(s.Pieces) == 1 && strings.HasSuffix(m.Objects[s.Pieces[0].Object].Key, ".gz")) {
				t.Fatalf("%v holds %d bytes, more than %d", s, total, size)
			}
		}
		roundTrip(t, m, shards)
	})
}

func roundTrip(t *rapid.T, m Manifest, shards []Shard) {
	data, err := MarshalManifest(m)
	if err != nil {
		t.Fatal(err)
	}
	gotManifest, err := UnmarshalManifest(data)
	if err != nil || gotManifest.URI != m.URI || !slices.Equal(gotManifest.Objects, m.Objects) {
		t.Fatalf("manifest %+v became %+v, %v", m, gotManifest, err)
	}
	plan, err := MarshalPlan(m, shards)
	if err != nil {
		t.Fatal(err)
	}
	gotShards, err := UnmarshalPlan(plan, m)
	if err != nil || len(gotShards) != len(shards) || len(shards) > 0 && !reflect.DeepEqual(gotShards, shards) {
		t.Fatalf("plan %v became %v, %v", shards, gotShards, err)
	}
}

func TestUnmarshalManifestRefuses(t *testing.T) {
	one := `{"key":"a","size":1,"etag":"e"}`
	for _, text := range []string{
		``, `null`, `{}`, `[]`, `{"objects":null}`, `{"objects":{}}`, `{"objects":[{}]}`, `{"objects":[` + one,
		`{"uri":1,"objects":[]}`,
		`{"objects":[` + one + `],"more":1}`, `{"objects":[` + one + `]} x`,
		`{"objects":[` + one + `,` + one + `]}`, `{"objects":[{"key":"b","size":1,"etag":"e"},` + one + `]}`,
		`{"objects":[{"key":"a","size":-1,"etag":"e"}]}`, `{"objects":[{"key":"../a","size":1,"etag":"e"}]}`,
		`{"objects":[{"key":"a","size":1}]}`, `{"objects":[{"key":"a","size":1,"etag":"e","x":1}]}`,
		`{"objects":[{"key":"a","size":9223372036854775807,"etag":"e"},{"key":"b","size":1,"etag":"e"}]}`,
		`{"objects":[{"key":"a","size":9223372036854775808,"etag":"e"}]}`,
	} {
		if m, err := UnmarshalManifest([]byte(text)); !isCode(err, protocol.CodeCorrupt) {
			t.Errorf("%s: %v, %v; want CORRUPT", text, m, err)
		}
	}
}

func TestUnmarshalPlanRefuses(t *testing.T) {
	m := Manifest{Objects: []Object{object("a", 4), object("b", 0), object("c", 6)}}
	good := `{"shards":[{"pieces":[{"object":0,"start":0,"end":4},{"object":2,"start":0,"end":2}]},{"pieces":[{"object":2,"start":2,"end":6}]}]}`
	if _, err := UnmarshalPlan([]byte(good), m); err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{
		{`"start":2,"end":6`, `"start":3,"end":6`}, // a gap
		{`"start":2,"end":6`, `"start":1,"end":6`}, // twice
		{`"start":2,"end":6`, `"start":2,"end":5`}, // not to the end
		{`"start":2,"end":6`, `"start":2,"end":7`}, // beyond the end
		{`"start":2,"end":6`, `"start":2,"end":2`}, // empty
		{`"start":0,"end":4`, `"start":-1,"end":4`},
		{`{"object":0`, `{"object":1`},
		{`{"object":0`, `{"object":-1`},
		{`{"object":0`, `{"object":3`},
		{`{"object":2,"start":2,"end":6}`, ``},
		{`,{"pieces":[{"object":2,"start":2,"end":6}]}`, ``},
		{`{"object":0`, `{"key":"a","object":0`},
		{`]}]}`, `]}]}{}`},
		{`{"shards"`, `{"more":1,"shards"`},
		{good, ``}, {good, `{}`}, {good, `{"shards":7}`},
	} {
		text := strings.Replace(good, change[0], change[1], 1)
		if text == good {
			t.Fatalf("%v changes nothing", change)
		}
		if shards, err := UnmarshalPlan([]byte(text), m); !isCode(err, protocol.CodeCorrupt) {
			t.Errorf("%s: %v, %v; want CORRUPT", text, shards, err)
		}
	}
}

func TestMarshalRefuses(t *testing.T) {
	if _, err := MarshalManifest(Manifest{Objects: []Object{object("b", 1), object("a", 1)}}); !isCode(err,
		protocol.CodeCorrupt) {
		t.Errorf("an unordered manifest: %v, want CORRUPT", err)
	}
	if _, err := MarshalPlan(Manifest{Objects: []Object{object("a", 2)}}, nil); !isCode(err, protocol.CodeCorrupt) {
		t.Errorf("a plan that reads nothing: %v, want CORRUPT", err)
	}
}

func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"uri":"s3://bucket/","objects":[{"key":"a","size":1,"etag":"e","version_id":"v"},{"key":"b","size":0,"etag":"e"}]}`))
	f.Add([]byte(`{"objects":[{},{},{}]}`))
	f.Add([]byte(`{"objects":[[[[[[[[`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := UnmarshalManifest(data)
		if err != nil {
			if !isCode(err, protocol.CodeCorrupt) {
				t.Fatalf("%v is not a fault of CORRUPT", err)
			}
			return
		}
		again, err := MarshalManifest(m)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := UnmarshalManifest(again); err != nil || back.URI != m.URI ||
			!slices.Equal(back.Objects, m.Objects) {
			t.Fatalf("%+v became %+v, %v", m, back, err)
		}
	})
}

func FuzzPlan(f *testing.F) {
	m := Manifest{Objects: []Object{object("a", 4), object("b", 0), object("c", 6)}}
	f.Add([]byte(`{"shards":[{"pieces":[{"object":0,"start":0,"end":4},{"object":2,"start":0,"end":2}]},{"pieces":[{"object":2,"start":2,"end":6}]}]}`))
	f.Add([]byte(`{"shards":[{},{}]}`))
	f.Add([]byte(`{"shards":[{"pieces":[{"object":9999999999,"start":-4,"end":1e400}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		shards, err := UnmarshalPlan(data, m)
		if err != nil {
			if !isCode(err, protocol.CodeCorrupt) {
				t.Fatalf("%v is not a fault of CORRUPT", err)
			}
			return
		}
		for at, s := int64(0), 0; s < len(shards); s++ { // independent of checkPlan: 10 bytes, each once
			for _, p := range shards[s].Pieces {
				global := p.Start + []int64{0, 4, 4}[p.Object]
				if global != at {
					t.Fatalf("%v: byte %d follows byte %d", shards, global, at)
				}
				at += p.End - p.Start
			}
			if s == len(shards)-1 && at != 10 {
				t.Fatalf("%v ends at byte %d", shards, at)
			}
		}
		if len(shards) == 0 {
			t.Fatal("an empty plan was accepted")
		}
	})
}
