package vocabulary

import "github.com/gram-compute/gram/jobs"

// TokenizerFields lists the tokenizer's part of the parameters; what is read has defaults for the rest. Check the
// result: the values are as they stand there.
func (p *Params) TokenizerFields(f *jobs.Fields) {
	low, high, stop := int32(p.NgramMin), int32(p.NgramMax), jobs.StringsOf(p.StopWords...)
	lower := uint8(0)
	if p.Lowercase {
		lower = 1
	}
	jobs.Scalar(f, "tokenizer.lowercase", &lower)
	jobs.Scalar(f, "tokenizer.ngram_min", &low)
	jobs.Scalar(f, "tokenizer.ngram_max", &high)
	f.Strings("tokenizer.stop_words", &stop)
	if f.Reading() {
		*p = DefaultParams()
		p.Lowercase, p.NgramMin, p.NgramMax, p.StopWords = lower != 0, int(low), int(high), stop.List()
	}
}
