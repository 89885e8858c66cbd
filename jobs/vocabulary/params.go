package vocabulary

import (
	"math"
	"slices"

	"github.com/gram-compute/gram/dataset/text"
	"github.com/gram-compute/gram/protocol"
)

// Params choose what a term is and which terms the dictionary keeps.
type Params struct {
	Lowercase bool     `json:"lowercase"`
	NgramMin  int      `json:"ngram_min"`
	NgramMax  int      `json:"ngram_max"`
	StopWords []string `json:"stop_words,omitempty"`
	// MinDF and MaxDF bound the training documents that hold a kept term: a
	// whole number from 1 counts documents, a number below 1 is their share. JSON
	// does not tell 1.0 from 1, so a MaxDF of 0 stands for all of them.
	MinDF float64 `json:"min_df"`
	MaxDF float64 `json:"max_df"`
	// MaxFeatures keeps the terms that occur most, 0 all of them.
	MaxFeatures int `json:"max_features"`
}

// DefaultParams keep every term of the tokenizer's defaults.
func DefaultParams() Params {
	t := text.DefaultParams()
	return Params{Lowercase: t.Lowercase, NgramMin: t.NgramMin, NgramMax: t.NgramMax, StopWords: t.StopWords, MinDF: 1}
}

// Tokenizer makes the tokenizer; a *protocol.Fault of CodeSpecInvalid says what is wrong.
func (p Params) Tokenizer() (*text.Tokenizer, error) {
	return text.New(text.Params{Lowercase: p.Lowercase, NgramMin: p.NgramMin, NgramMax: p.NgramMax, StopWords: p.StopWords})
}

// Differs names a parameter of the tokenizer in which p and other differ, with both values; "" where both make the
// same terms of every text.
func (p Params) Differs(other Params) (field string, ours, theirs any) {
	switch {
	case p.Lowercase != other.Lowercase:
		return "lowercase", p.Lowercase, other.Lowercase
	case p.NgramMin != other.NgramMin:
		return "ngram_min", p.NgramMin, other.NgramMin
	case p.NgramMax != other.NgramMax:
		return "ngram_max", p.NgramMax, other.NgramMax
	case !slices.Equal(p.StopWords, other.StopWords):
		return "stop_words", p.StopWords, other.StopWords
	}
	return "", nil, nil
}

// Check refuses senseless parameters with a *protocol.Fault of CodeSpecInvalid.
func (p Params) Check() error {
	if _, err := p.Tokenizer(); err != nil {
		return err
	}
	if !validDF(p.MinDF) {
		return protocol.SpecFault("min_df is a whole number of documents from 1 or a share below 1, not %v", p.MinDF)
	}
	if p.MaxDF != 0 && !validDF(p.MaxDF) {
		return protocol.SpecFault(
			"max_df is a whole number of documents from 1, a share below 1, or 0 for no bound, not %v", p.MaxDF)
	}
	if p.MaxFeatures < 0 || p.MaxFeatures > math.MaxInt32 {
		return protocol.SpecFault("max_features is 0 (all) to %d, not %d", math.MaxInt32, p.MaxFeatures)
	}
	return nil
}

func validDF(df float64) bool {
	return df > 0 && (df < 1 || df == math.Trunc(df) && df <= 1<<53)
}

// documents is a bound as a number of documents, which need not be whole.
func documents(df float64, total int64) float64 {
	if df < 1 {
		return float64(df * float64(total))
	}
	return df
}
