package vocabulary

import "github.com/gram-compute/gram/jobs"

// Arrays of a model that say how to cut its texts into terms.
const (
	lowercase = "tokenizer.lowercase" // U8 scalar: 0 or 1
	ngramMin  = "tokenizer.ngram_min" // I32 scalar
	ngramMax  = "tokenizer.ngram_max" // I32 scalar
	stopWords = "tokenizer.stop_words"
)

// TokenizerFields lists the tokenizer's part of the parameters; what is read has defaults for the rest. Check the
// result: the values are as they stand there.
func (p *Params) TokenizerFields(f *jobs.Fields) {
	low, high, stop := int32(p.NgramMin), int32(p.NgramMax), jobs.StringsOf(p.StopWords...)
	lower := uint8(0)
	if p.Lowercase {
		lower = 1
	}
	jobs.Scalar(f, lowercase, &lower)
	jobs.Scalar(f, ngramMin, &low)
	jobs.Scalar(f, ngramMax, &high)
	f.Strings(stopWords, &stop)
	if f.Reading() {
		*p = DefaultParams()
		p.Lowercase, p.NgramMin, p.NgramMax, p.StopWords = lower != 0, int(low), int(high), stop.List()
	}
}
