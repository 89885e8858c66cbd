package vocabulary

import (
	"cmp"
	"math"
	"slices"

	"github.com/gram-compute/gram/dataset/text"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/params"
	"github.com/gram-compute/gram/protocol"
)

// Params choose what a term is and which terms the dictionary keeps.
type Params struct {
	Lowercase    bool     `json:"lowercase"`
	Analyzer     Analyzer `json:"analyzer,omitempty"`
	NgramMin     int      `json:"ngram_min"`
	NgramMax     int      `json:"ngram_max"`
	StopWords    []string `json:"stop_words,omitempty"`
	TokenPattern string   `json:"token_pattern,omitempty"`
	// MinDF and MaxDF bound the training documents that hold a kept term: a
	// whole number from 1 counts documents, a number below 1 is their share. JSON
	// does not tell 1.0 from 1, so a MaxDF of 0 stands for all of them.
	MinDF float64 `json:"min_df"`
	MaxDF float64 `json:"max_df"`
	// MaxFeatures keeps the terms that occur most, 0 all of them.
	MaxFeatures int `json:"max_features"`
}

// DefaultParams keep every term of the tokenizer's defaults.
func DefaultParams() (p Params) {
	params.Reset(p.Parameters())
	return p
}

// Tokenizer makes the tokenizer; a *protocol.Fault of CodeSpecInvalid says what is wrong.
func (p Params) Tokenizer() (*text.Tokenizer, error) {
	return text.New(text.Params{Lowercase: p.Lowercase, Analyzer: p.analyzer(), NgramMin: p.NgramMin,
		NgramMax: p.NgramMax, StopWords: p.StopWords, TokenPattern: p.TokenPattern})
}

// Analyzer is one of package text; the default is empty, so that models before it had a name stay as they are.
type Analyzer string

// UnmarshalText reads the default's name as no name.
func (a *Analyzer) UnmarshalText(name []byte) error {
	*a = named(string(name))
	return nil
}

// named is the analyzer of a name.
func named(name string) Analyzer {
	if name == text.Word {
		return ""
	}
	return Analyzer(name)
}

// analyzer is that of the parameters, or the default.
func (p Params) analyzer() string { return cmp.Or(string(p.Analyzer), text.Word) }

// Differs names a parameter of the tokenizer in which p and other differ, with both values; "" where both make the
// same terms of every text.
func (p Params) Differs(other Params) (field string, ours, theirs any) {
	switch {
	case p.Lowercase != other.Lowercase:
		return "lowercase", p.Lowercase, other.Lowercase
	case p.analyzer() != other.analyzer():
		return "analyzer", p.analyzer(), other.analyzer()
	case p.TokenPattern != other.TokenPattern:
		return "token_pattern", p.TokenPattern, other.TokenPattern
	case p.NgramMin != other.NgramMin:
		return "ngram_min", p.NgramMin, other.NgramMin
	case p.NgramMax != other.NgramMax:
		return "ngram_max", p.NgramMax, other.NgramMax
	case !slices.Equal(p.StopWords, other.StopWords):
		return "stop_words", p.StopWords, other.StopWords
	}
	return "", nil, nil
}

// Parameters declares the parameters.
func (p *Params) Parameters() []params.Parameter {
	d := text.DefaultParams()
	return []params.Parameter{
		params.Flag("lowercase", &p.Lowercase, d.Lowercase).Says("Folds the case of words."),
		params.Choice("analyzer", &p.Analyzer, "", text.Word, text.Char, text.CharWB).Missing(text.Word).
			Says("What terms are made of: words, the characters of a text, or those of a word with a space at either end."),
		params.Whole("ngram_min", &p.NgramMin, d.NgramMin, 1, text.MaxNgram).Says("Fewest words or characters of a term."),
		params.Whole("ngram_max", &p.NgramMax, d.NgramMax, 1, text.MaxNgram).
			Says("Most words or characters of a term."),
		params.Value("stop_words", &p.StopWords).Missing("none").Says("Words that are left out."),
		params.Text("token_pattern", &p.TokenPattern).
			Says("Regular expression of words, or of its one group, where case is already folded; \\w and \\b are of ASCII. " +
				"Without it, a word is a run of letters, marks and numbers.").From("The syntax of RE2."),
		params.Number("min_df", &p.MinDF, 1, anyDF).Checked(p.checkMinDF).Within("a whole number from 1, or a share").
			Says("Fewest training documents with a kept term: their number, or below 1 their share."),
		params.Number("max_df", &p.MaxDF, 0, anyDF).Checked(p.checkMaxDF).
			Within("a whole number from 1, a share, or 0").
			Says("Most training documents with a kept term; 0 for no bound."),
		params.Whole("max_features", &p.MaxFeatures, 0, 0, math.MaxInt32).
			Says("Keeps the terms that occur most; 0 keeps all."),
	}
}

const anyDF = "[0, 9007199254740992]"

// Check rejects what makes no tokenizer.
func (p *Params) Check() error {
	_, err := p.Tokenizer()
	return err
}

func (p *Params) checkMinDF() error {
	if !validDF(p.MinDF) {
		return protocol.SpecFault("min_df is a whole number of documents from 1 or a share below 1, not %v", p.MinDF)
	}
	return nil
}

func (p *Params) checkMaxDF() error {
	if p.MaxDF != 0 && !validDF(p.MaxDF) {
		return protocol.SpecFault(
			"max_df is a whole number of documents from 1, a share below 1, or 0 for no bound, not %v", p.MaxDF)
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

// TokenizerFields lists the tokenizer's part of the parameters; what is read has defaults for the rest. Check the
// result: the values are as they stand there.
func (p *Params) TokenizerFields(f *jobs.Fields) {
	low, high, stop := int32(p.NgramMin), int32(p.NgramMax), jobs.StringsOf(p.StopWords...)
	lower, analyzer, pattern := uint8(0), p.analyzer(), p.TokenPattern
	if p.Lowercase {
		lower = 1
	}
	if f.Has("tokenizer.analyzer", analyzer != text.Word) {
		f.Text("tokenizer.analyzer", &analyzer)
	}
	if f.Has("tokenizer.token_pattern", pattern != "") {
		f.Text("tokenizer.token_pattern", &pattern)
	}
	jobs.Scalar(f, "tokenizer.lowercase", &lower)
	jobs.Scalar(f, "tokenizer.ngram_min", &low)
	jobs.Scalar(f, "tokenizer.ngram_max", &high)
	f.Strings("tokenizer.stop_words", &stop)
	if f.Reading() {
		*p = DefaultParams()
		p.Lowercase, p.NgramMin, p.NgramMax, p.StopWords = lower != 0, int(low), int(high), stop.List()
		p.TokenPattern = pattern
		p.Analyzer = named(analyzer)
	}
}
