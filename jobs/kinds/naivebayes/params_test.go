package naivebayes

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/gram-compute/gram/protocol"
)

func TestDefaultsAreWrittenIn(t *testing.T) {
	const want = `{"form":"multinomial","alpha":1,"prior":"learned","ratio":1,"reject_below":0,` +
		`"text":{"lowercase":true,"ngram_min":1,"ngram_max":1,"min_df":1,"max_df":0,"max_features":0}}`
	for _, params := range []string{"", "{}", want, `{"text": {"lowercase": true}}`} {
		got, err := Kind().Defaults(json.RawMessage(params))
		if err != nil || string(got) != want {
			t.Errorf("%q: %s, %v", params, got, err)
		}
	}
}

// What Defaults returns is its own fixed point: specs are stored and read again.
func TestDefaultsKeepsWhatIsGiven(t *testing.T) {
	const params = `{"form":"multinomial","alpha":0.1,"prior":{"ham":0.75,"spam":0.25},"positive":"spam","ratio":9,"reject_below":0,` +
		`"text":{"lowercase":false,"ngram_min":1,"ngram_max":2,"stop_words":["the"],"min_df":0.01,"max_df":0.5,"max_features":1000}}`
	got, err := Kind().Defaults(json.RawMessage(params))
	if err != nil || string(got) != params {
		t.Errorf("%s, %v", got, err)
	}
}

func TestDefaultsRefuses(t *testing.T) {
	for params, want := range map[string]string{
		`{"alhpa": 1}`:                            `did you mean "alpha"`,
		`{"text": {"ngrams_min": 1}}`:             `did you mean "ngram_min"`,
		`{"alpha": 0}`:                            "alpha is above 0",
		`{"alpha": -1}`:                           "alpha is above 0",
		`{"alpha": 1e300}`:                        "alpha is above 0",
		`{"alpha": "1"}`:                          "alpha",
		`{"ratio": 2}`:                            "ratio needs positive",
		`{"positive": "a", "ratio": 0}`:           "ratio is in (0, Inf)",
		`{"reject_below": 1}`:                     "reject_below is in [0, 1)",
		`{"reject_below": -0.1}`:                  "reject_below is in [0, 1)",
		`{"positive": "a", "reject_below": 0.5}`:  "exclude each other",
		`{"prior": "flat"}`:                       "prior is",
		`{"prior": 3}`:                            "prior is",
		`{"prior": {}}`:                           "sum to 0",
		`{"prior": {"a": 0.5, "b": 0.4}}`:         "sum to 0.9",
		`{"prior": {"a": 1, "b": 0}}`:             `prior of "b"`,
		`{"text": {"ngram_min": 2}}`:              "ngram",
		`{"text": {"min_df": 0}}`:                 "min_df",
		`{"text": {"min_df": 1.5}}`:               "min_df",
		`{"text": {"max_df": -1}}`:                "max_df",
		`{"text": {"max_features": -1}}`:          "max_features",
		`{"text": {"stop_words": ["two words"]}}`: "stop word",
		`{} {}`:                             "more data",
		`[]`:                                "",
		`{`:                                 "",
		`{"alpha": 1e999}`:                  "",
		`{"prior": {"a": {"b": {"c": 1}}}}`: "",
		strings.Repeat(`{"text":`, 50):      "nested deeper",
		`{"text": {"max_features": 99999999999999}}`:      "max_features",
		`{"text": {"ngram_max": 1000000000000000000000}}`: "ngram_max",
	} {
		_, err := Kind().Defaults(json.RawMessage(params))
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Code != protocol.CodeSpecInvalid {
			t.Errorf("%s: want SPEC_INVALID, got %v", params, err)
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q does not say %q", params, err, want)
		}
	}
}
