package vocabulary

import "github.com/gram-compute/gram/jobs"

// Arrays of a model that say how to cut its texts into terms.
const (
	lowercase = "tokenizer.lowercase" // U8 scalar: 0 or 1
	ngramMin  = "tokenizer.ngram_min" // I32 scalar
	ngramMax  = "tokenizer.ngram_max" // I32 scalar
	stopWords = "tokenizer.stop_words"
)

// PutTokenizer writes the tokenizer's part of the parameters into a model.
func (p Params) PutTokenizer(a jobs.Arrays) {
	lower := uint8(0)
	if p.Lowercase {
		lower = 1
	}
	jobs.PutScalar(a, lowercase, lower)
	jobs.PutScalar(a, ngramMin, int32(p.NgramMin))
	jobs.PutScalar(a, ngramMax, int32(p.NgramMax))
	a.PutStrings(stopWords, jobs.StringsOf(p.StopWords...))
}

// ReadTokenizer reads what PutTokenizer wrote, with defaults for the rest. Check the result: the
// values are as they stand there.
func ReadTokenizer(a jobs.Arrays) (Params, error) {
	lower, err := jobs.GetScalar[uint8](a, lowercase)
	if err != nil {
		return Params{}, err
	}
	low, err := jobs.GetScalar[int32](a, ngramMin)
	if err != nil {
		return Params{}, err
	}
	high, err := jobs.GetScalar[int32](a, ngramMax)
	if err != nil {
		return Params{}, err
	}
	stop, err := a.Strings(stopWords)
	if err != nil {
		return Params{}, err
	}
	p := DefaultParams()
	p.Lowercase, p.NgramMin, p.NgramMax, p.StopWords = lower != 0, int(low), int(high), stop.List()
	return p, nil
}
