package yamldoc_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gram-compute/gram/cmd/gram/internal/yamldoc"
)

func TestToJSON(t *testing.T) {
	for _, c := range []struct{ name, in, want, problem string }{
		{"block", "a: 1\nb: {c: [x, 2.5]}\n", `{"a":1,"b":{"c":["x",2.5]}}`, ""},
		{"JSON unchanged", `{"seed": 9007199254740991}`, `{"seed": 9007199254740991}`, ""},
		{"large integer", "seed: 9007199254740991\n", `{"seed":9007199254740991}`, ""},
		{"size stays text", "n: 512KiB\n", `{"n":"512KiB"}`, ""},
		{"words and dates are text", "a: [y, no, on, 2026-11-21]\n", `{"a":["y","no","on","2026-11-21"]}`, ""},
		{"bool and null", "a: [true, null, ~]\n", `{"a":[true,null,null]}`, ""},
		{"not a number", "a: .nan\n", "", "line 1: .nan is not a finite number"},
		{"binary", "a: !!binary AAAA\n", "", "line 1: YAML tags"},
		{"key is a list", "? [a]\n: b\n", "", "a key is a word"},
		{"empty", "", "", "empty"},
		{"anchor", "a: &x 1\nb: *x\n", "", "line 1: YAML anchors"},
		{"merge key", "base: &base {a: 1}\nb:\n  <<: *base\n", "", "line 1: YAML anchors"},
		{"two documents", "a: 1\n---\nb: 2\n", "", "second document"},
		{"repeated key", "a: 1\na: 2\n", "", "already"},
		{"repeated key in JSON", `{"a":[{"b":1,"b":2}]}`, "", "a[0].b stands twice"},
		{"octal or decimal", "a: 1\nb: 010\n", "", "line 2: 010 begins with 0"},
		{"octal that says so", "a: [0o10, 0, 0.5, '010', -0, 0x10]\n", `{"a":[8,0,0.5,"010",0,16]}`, ""},
		{"tab", "a:\n\t- 1\n", "", "line 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := yamldoc.ToJSON([]byte(c.in))
			if c.problem != "" {
				if err == nil || !strings.Contains(err.Error(), c.problem) {
					t.Fatalf("error = %v, want one with %q (got %s)", err, c.problem, got)
				}
				return
			}
			if err != nil || string(got) != c.want {
				t.Fatalf("got %s, %v; want %s", got, err, c.want)
			}
		})
	}
}

// Nine levels of nine aliases each would be 3 GB when written out.
func TestToJSONRefusesAliasBomb(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c <= 'i'; c++ {
		prev := "*" + string(c-1)
		bomb += string(c) + ": &" + string(c) + " [" + strings.Repeat(prev+",", 8) + prev + "]\n"
	}
	if _, err := yamldoc.ToJSON([]byte(bomb)); err == nil {
		t.Fatal("an alias bomb was converted")
	}
}

func TestReadStopsAtTheBound(t *testing.T) {
	if _, err := yamldoc.Read(strings.NewReader(strings.Repeat("#", yamldoc.MaxBytes+1))); err == nil {
		t.Fatal("a document beyond the bound was read")
	}
}

func FuzzToJSON(f *testing.F) {
	f.Add("a: 1\n")
	f.Add("{\"a\": [1, null]}")
	f.Add("a: &x {b: *x}\n")
	f.Add("? [a]\n: b\n")
	f.Add("- 0x1f\n- 1e400\n- .nan\n- .inf\n")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := yamldoc.ToJSON([]byte(text))
		if err == nil && !json.Valid(got) {
			t.Fatalf("%q became %q, which is not JSON", text, got)
		}
	})
}

// Depth is the parser's to bound: it gives up long before the stack does.
func TestDeepDocuments(t *testing.T) {
	for name, text := range map[string]string{
		"lists":        strings.Repeat("[", 100_000),
		"closed lists": strings.Repeat("[", 50_000) + strings.Repeat("]", 50_000),
		"mappings":     strings.Repeat("{a: ", 50_000), "blocks": strings.Repeat("- ", 100_000),
	} {
		if _, err := yamldoc.ToJSON([]byte(text)); err == nil {
			t.Errorf("%s: converted", name)
		}
	}
}
