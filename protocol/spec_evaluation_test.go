package protocol

import (
	"fmt"
	"strings"
	"testing"
)

func TestEvaluationAndFolds(t *testing.T) {
	for text, good := range map[string]bool{
		`"evaluation":{}`: true, `"evaluation":{"errors":0,"bins":1,"bootstrap":20,"positive":"x"}`: true,
		`"evaluation":{"errors":1}`: false, `"evaluation":{"bins":-1}`: false, `"evaluation":{"bootstrap":5}`: false,
		`"evaluation":{"confidence":1.5}`: false, `"run":{}`: true,
	} {
		for split, fits := range map[string]bool{`{"folds":5}`: true, `{"test":0.5}`: true, `{"folds":1}`: false,
			`{"folds":101}`: false, `{"folds":3,"test":0.1}`: false} {
			spec, err := ParseSpec(fmt.Appendf(nil, `{"apiVersion":"v1","kind":"K","spec":{"input":{"uri":"file:///x",
				"format":"csv","label":1,"split":%s},%s}}`, split, text))
			if err != nil {
				t.Fatal(err)
			}
			if err := spec.WithDefaults().Validate(); (err == nil) !=
				(good && fits && !(strings.Contains(text, "20") && strings.Contains(split, "folds"))) {
				t.Errorf("%s, split %s: %v", text, split, err)
			}
		}
	}
	if _, err := ParseSpec([]byte(`{"apiVersion":"v1","kind":"K","spec":{"input":{"split":{"Out":1}}}}`)); err == nil {
		t.Error("a spec leaves a fold out")
	}
}
