package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestFieldsOfTheWrongType(t *testing.T) {
	var spec struct {
		Seed  uint64  `json:"seed"`
		Count int     `json:"count"`
		Share float64 `json:"share"`
	}
	for data, want := range map[string]string{
		`{"seed":-1}`:   `field "seed" wants a whole number from 0 on, not -1`,
		`{"count":1.5}`: `field "count" wants a whole number, not 1.5`,
		`{"share":"a"}`: `field "share" wants a number, not a string`,
	} {
		if err := StrictDecode([]byte(data), &spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", data, err, want)
		}
	}
}

// scaling is embedded, as the parameters that kinds share are.
type scaling struct {
	Scale string `json:"scale"`
	Text  *struct {
		MinDF float64 `json:"min_df"`
	} `json:"text"`
}

type learning struct {
	Alpha     float64            `json:"alpha"`
	Tol       float64            `json:"tol"`
	MaxRounds int                `json:"max_rounds"`
	K         *int               `json:"k"`
	Size      ByteSize           `json:"size"`
	Weights   map[string]float64 `json:"weights"`
	Rows      [][]float64        `json:"rows"`
	Any       json.RawMessage    `json:"any"`
	scaling
}

const learningFields = " The fields in spec.params are alpha, tol, max_rounds, k, size, weights, rows, any, scale, text."

// A message about a part of a job suggests fields of the whole job; one about anything else does not.
func TestPartsOfAJobKnowTheJob(t *testing.T) {
	type repro struct {
		Width int  `json:"width"`
		Open  bool `json:"open"`
	}
	for at, want := range map[string]string{
		"":      `no field "split". The fields are width, open.`,
		"body":  `no field "split" in body. The fields in body are width, open.`,
		"specs": `no field "split" in specs. The fields in specs are width, open.`,
		"spec":  `no field "split" in spec; did you mean spec.input.split? The fields in spec are width, open.`,
		"spec.params": `no field "split" in spec.params; did you mean spec.input.split? ` +
			"The fields in spec.params are width, open.",
	} {
		if err := StrictDecodeAt(at, []byte(`{"split":1}`), &repro{}); err == nil ||
			err.Error() != "SPEC_INVALID: "+want {
			t.Errorf("at %q: %v, want\n%s", at, err, want)
		}
	}
	for data, want := range map[string]string{
		`{"open":true}`: "", `{"open":false}`: "",
		`{"open":1}`: "wants true or false, not 1", `{"open":"true"}`: "not a string",
		`{"width":true}`: "wants a whole number, not true", `{"width":-3}`: "",
	} {
		wantFault(t, data, StrictDecode([]byte(data), &repro{}), want)
	}
}

// The fault of a value that decodes itself, such as a column, has no place in a file.
func TestFaultsOfASpecHaveNoPlaceInAFile(t *testing.T) {
	_, err := ParseSpec([]byte(`{"spec":{"input":{"label":0}}}`))
	wantFault(t, "a column", err, "spec.input.label: a column is a number")
}

func TestCheckNames(t *testing.T) {
	for data, want := range map[string]string{
		// what is not JSON passes
		`{"a":1,"b":{"a":2}}`: "", `[{"a":1},{"a":1}]`: "", "7": "", " ": "", `{"a":1,"a":`: "",
		`{"a":1,"a":2}`: "a stands twice", ` {"a":[{"b":1,"b":2}]}`: "a[0].b stands twice",
		strings.Repeat("[", 16) + strings.Repeat("]", 16): "",
		strings.Repeat("[", 17) + strings.Repeat("]", 17): "deeper than 16",
	} {
		wantFault(t, data, CheckNames([]byte(data)), want)
	}
}

// Each of these was accepted, or answered without the path, by a reader that leaves the names to encoding/json.
func TestParamsAreReadByteForByte(t *testing.T) {
	for data, want := range map[string]string{
		`{"alpha":1,"Alpha":50}`: `no field "Alpha" in spec.params; did you mean "alpha"?` + learningFields,
		`{"K":5}`:                `no field "K" in spec.params; did you mean "k"?` + learningFields,
		`{"text":{"Min_DF":2}}`:  `no field "Min_DF" in spec.params.text; did you mean "min_df"? The fields in spec.params.text are min_df.`,
		`{"scal":"l2"}`:          `no field "scal" in spec.params; did you mean "scale"?` + learningFields,
		`{"tolerance":1}`: `no field "tolerance" in spec.params; here it is called "tol".` +
			learningFields,
		`{"max_iter":1}`: `no field "max_iter" in spec.params; here it is called "max_rounds".` +
			learningFields,
		`{"n_clusters":1}`: `no field "n_clusters" in spec.params; here it is called "k".` +
			learningFields,
		`{"C":1}`: `no field "C" in spec.params; LinearModel and SupportVectorMachine have a cost of slack.` +
			learningFields,
		`{"min_df":1}`: `no field "min_df" in spec.params; did you mean spec.params.text.min_df?` + learningFields,
		`{"seed":1}`: `no field "seed" in spec.params; did you mean spec.repro.seed?` +
			learningFields,
		`{"random_state":1}`: `no field "random_state" in spec.params; did you mean spec.repro.seed?` +
			learningFields,
		`{"split":{"test":0.2}}`: `no field "split" in spec.params; did you mean spec.input.split.test?` +
			learningFields,
		`{"zzz":1}`:                          `no field "zzz" in spec.params.` + learningFields,
		`{"k":5,"k":7}`:                      `spec.params.k stands twice; a name may stand once in an object`,
		`{"k":5,"\u006b":7}`:                 `spec.params.k stands twice; a name may stand once in an object`,
		`{"any":[{"a":{"b":1,"b":1}}]}`:      `spec.params.any[0].a.b stands twice; a name may stand once in an object`,
		`{"weights":{"a b":1,"a b":1}}`:      `spec.params.weights."a b" stands twice; a name may stand once in an object`,
		`{"weights":{"a":"x"}}`:              `field "spec.params.weights.a" wants a number, not a string`,
		`{"rows":[[1],[1,true]]}`:            `field "spec.params.rows[1][1]" wants a number, not true`,
		`{"max_rounds":1e3}`:                 `field "spec.params.max_rounds" wants a whole number, not 1e3`,
		`{"max_rounds":9223372036854775808}`: `field "spec.params.max_rounds" wants a whole number, not 9223372036854775808`,
		`{"alpha":1e999}`:                    `field "spec.params.alpha" wants a number, not 1e999`,
		`{"alpha":null}`:                     `field "spec.params.alpha" is empty; it wants a number. Without the field it has its default`,
		`{"scale":["l2"]}`:                   `field "spec.params.scale" wants a string, not a list`,
		`{"size":"many"}`:                    `spec.params.size: a size is a count of bytes such as 524288, 512KiB or 1.5GiB, not "many"`,
		`[]`:                                 `field "spec.params" wants an object, not a list`,
		"{\"scale\":\"\xff\"}":               `the text is not valid UTF-8`,
		`{"scale":"\ud800"}`:                 `field "spec.params.scale" has half of a surrogate pair, which is no character`,
		`{"weights":{"\udc00":1}}`:           `spec.params.weights: a name has half of a surrogate pair, which is no character`,
	} {
		var p learning
		if err := StrictDecodeAt("spec.params", []byte(data), &p); err == nil || err.Error() != "SPEC_INVALID: "+want {
			t.Errorf("%s: %v, want\n%s", data, err, want)
		}
	}
	var p learning
	if err := StrictDecodeAt("spec.params",
		[]byte(`{"alpha":2,"k":3,"weights":{"A":1,"a":2},"scale":"l2","text":null,"rows":null,"any":{"A":1,"a":2}}`),
		&p); err != nil {
		t.Fatal(err)
	}
	if p.Alpha != 2 || *p.K != 3 || p.Weights["A"] != 1 || p.Weights["a"] != 2 || p.Scale != "l2" ||
		string(p.Any) != `{"A":1,"a":2}` {
		t.Errorf("%+v", p)
	}
}

func TestJobsAreReadByteForByte(t *testing.T) {
	params := func(kind string) any {
		if kind == "Learning" {
			return learning{}
		}
		return nil
	}
	for data, want := range map[string]string{
		`{"kind":"Learning","alpha":3}`:               `no field "alpha" in a job; did you mean spec.params.alpha?`,
		`{"kind":"Learning","spec":{"scale":"l2"}}`:   `no field "scale" in spec; did you mean spec.params.scale?`,
		`{"kind":"Learning","spec":{"n_clusters":3}}`: `no field "n_clusters" in spec; did you mean spec.params.k?`,
		`{"kind":"Other","alpha":3}`:                  `no field "alpha" in a job. The fields`,
		`{"spec":{"split":{"test":0.2}}}`:             `no field "split" in spec; did you mean spec.input.split.test?`,
		`{"spec":{"split":{"tset":0.2}}}`:             `no field "split" in spec; did you mean spec.input.split?`,
		`{"spec":{"Params":{"k":3}}}`:                 `no field "Params" in spec; did you mean "params"?`,
		`{"spec":{"input":{"URI":"x","uri":"y"}}}`:    `no field "URI" in spec.input; did you mean "uri"?`,
		`{"Kind":"Learning"}`:                         `no field "Kind" in a job; did you mean "kind"?`,
		`{"spec":{"input":{"labels":1}}}`:             `no field "labels" in spec.input; did you mean "label"?`,
		`{"spec":{"params":{"k":5,"k":7}}}`:           `spec.params.k stands twice`,
		`{"spec":{"input":{"label":0}}}`:              `spec.input.label: a column is a number from 1`,
		`{"kind":"a","kind":"b"}`:                     `kind stands twice`,
		`{"spec":{"repro":{"seed":null}}}`:            `field "spec.repro.seed" is empty`,
		`{"kind":"a"`:                                 `the JSON ends too early`,
	} {
		if _, err := ParseSpecOf([]byte(data), params); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want\n%s", data, err, want)
		}
	}
}

// What is accepted has no name twice and no name that the spec lacks, by a second reader that goes by the tokens alone.
func FuzzParseSpec(f *testing.F) {
	for _, seed := range []string{`{"kind":"K","spec":{"input":{"uri":"x","label":1},"params":{"a":[{"b":1}]}}}`,
		`{"kind":"a","Kind":"b"}`,
		`{"spec":{"params":{"k":1,"k":2}}}`, `{"spec":{"queries":null,"repro":{"seed":1}}}`, `[]`, `null`,
		`{"metadata":{"labels":{"A":"x","a":"y"}}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		spec, err := ParseSpec(data)
		if err != nil {
			var fault *Fault
			if !errors.As(err, &fault) || fault.Code != CodeSpecInvalid {
				t.Fatalf("%q: %v is no fault", data, err)
			}
			return
		}
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.DisallowUnknownFields()
		var loose JobSpec
		if err := dec.Decode(&loose); err != nil {
			t.Fatalf("%q: accepted, but encoding/json: %v", data, err)
		}
		wantNames(t, data)
		if spec.Kind != loose.Kind || spec.Spec.Input.URI != loose.Spec.Input.URI {
			t.Fatalf("%q: %+v and %+v", data, spec, loose)
		}
	})
}

// wantNames counts names by object, with a stack.
func wantNames(t *testing.T, data []byte) {
	dec := json.NewDecoder(bytes.NewReader(data))
	type object struct {
		names map[string]bool // nil for a list
		value bool            // a value comes next
	}
	var stack []*object
	for {
		token, err := dec.Token()
		if err != nil {
			return
		}
		var top *object
		if len(stack) > 0 {
			top = stack[len(stack)-1]
		}
		name, isText := token.(string)
		if top != nil && top.names != nil && !top.value && isText {
			if top.names[name] {
				t.Fatalf("%q: %q stands twice", data, name)
			}
			if top.names[name], top.value = true, true; len(stack) == 1 && name != "apiVersion" && name != "kind" &&
				name != "metadata" && name != "spec" {
				t.Fatalf("%q: %q is no field of a job", data, name)
			}
			continue
		}
		if top != nil && token != json.Delim('}') && token != json.Delim(']') {
			top.value = false
		}
		switch token {
		case json.Delim('{'):
			stack = append(stack, &object{names: map[string]bool{}})
		case json.Delim('['):
			stack = append(stack, &object{})
		case json.Delim('}'), json.Delim(']'):
			stack = stack[:len(stack)-1]
		}
	}
}

// Half of a surrogate pair is refused beside a replacement character, too.
func TestHalfAPairBesideAReplacement(t *testing.T) {
	for raw, want := range map[string]bool{
		`"\ufffd"`: true, `"\uFFFD"`: true, `"` + "\uFFFD" + `"`: true, `"\\ufffd"`: true, `"\ud83d\ude00"`: true,
		`"\ud800"`: false, `"\ufffd\ud800"`: false, `"` + "\uFFFD" + `\udc00"`: false,
		`"\\ufffd\ud800"`: false, `"\\\ud800"`: false,
	} {
		var into struct {
			A string `json:"a"`
		}
		if err := StrictDecode([]byte(`{"a":`+raw+`}`), &into); (err == nil) != want {
			t.Errorf("%s: %q, %v", raw, into.A, err)
		}
	}
}
