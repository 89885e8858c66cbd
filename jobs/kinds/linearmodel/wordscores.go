package linearmodel

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/gram-compute/gram/dataset/text"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/features"
	"github.com/gram-compute/gram/jobs/learn/vocabulary"
	"github.com/gram-compute/gram/protocol"
)

// WordScores is a linear model of texts that a person gives: the score of each word. The score of a text is the sum of
// those of its words, each as often as it occurs, less Threshold. A text is Positive if that is above 0, else Negative.
type WordScores struct {
	Words              []string // in any order
	Scores             []float64
	Threshold          float64
	Negative, Positive string
	Text               vocabulary.Params // what a word is
	SHA256             string            // of the list's bytes, in hex
}

// MaxScore bounds the sizes of scores and of the threshold, so that no sum of them is infinite.
const MaxScore = 1e100

// Import writes the model. Words that no text has, words with two scores, and scores that are no numbers are a
// *protocol.Fault of CodeBadRecord that names the word; labels and tokenizers that make no model are one of
// CodeSpecInvalid. Time is linear in the words, but for sorting them.
func (w *WordScores) Import() (jobs.Arrays, error) {
	if err := w.checkModel(); err != nil {
		return nil, err
	}
	tokenizer, err := w.Text.Tokenizer()
	if err != nil {
		return nil, err
	}
	order := make([]int, len(w.Words))
	for i := range order {
		if err := w.CheckWord(tokenizer, i); err != nil {
			return nil, err
		}
		order[i] = i
	}
	// total order: words are distinct, else the model is refused
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(w.Words[i], w.Words[j]) })
	var terms jobs.Strings
	weights := make([]float64, 0, len(order)+1)
	for k, i := range order {
		if k > 0 && w.Words[i] == w.Words[order[k-1]] {
			return nil, protocol.InputFault(protocol.CodeBadRecord, "the word %.80q has two scores", w.Words[i])
		}
		terms.Append([]byte(w.Words[i]))
		weights = append(weights, w.Scores[i])
	}
	return w.model(terms, append(weights, 0-w.Threshold))
}

// model is the model of sorted words, whose labels may be in either order.
func (w *WordScores) model(terms jobs.Strings, weights []float64) (jobs.Arrays, error) {
	m := &model{biasScale: 1, weights: weights, origin: &origin{SHA256: w.SHA256}}
	labels := jobs.StringsOf(w.Negative, w.Positive)
	if w.Positive < w.Negative { // the machine looks for the second label in byte order
		labels, m.origin.negative = jobs.StringsOf(w.Positive, w.Negative), 1
		for j := range weights {
			weights[j] = 0 - weights[j]
		}
	}
	var err error
	if m.space, err = features.OfWords(terms, w.Text, labels); err != nil {
		return nil, err
	}
	return jobs.ArraysOf(m), nil
}

// checkModel refuses what is not about one word.
func (w *WordScores) checkModel() error {
	const hint = "Name two labels: that of texts up to the threshold, then that of texts above it."
	switch {
	case len(w.Words) == 0:
		return protocol.EmptyFault("the list has no words").WithHint("Give one word and its score a line.")
	case len(w.Words) != len(w.Scores) || len(w.Words) >= maxNumbers:
		return protocol.EmptyFault("%d words with %d scores make no model; it has 1 to %d words", len(w.Words),
			len(w.Scores), maxNumbers-1)
	case w.Negative == w.Positive:
		return protocol.SpecFault("both labels are %.80q", w.Negative).WithHint(hint)
	case w.Negative == "" || w.Positive == "":
		return protocol.SpecFault("a label is empty").WithHint(hint)
	case !(math.Abs(w.Threshold) <= MaxScore):
		return protocol.SpecFault("the threshold is %v, not a number within 1e100 of 0", w.Threshold)
	}
	return nil
}

// CheckWord refuses a word that the tokenizer makes of no text, or a score that is no number.
func (w *WordScores) CheckWord(tokenizer *text.Tokenizer, i int) error {
	word := w.Words[i]
	switch {
	case word == "":
		return protocol.InputFault(protocol.CodeBadRecord, "the word is empty")
	case !(math.Abs(w.Scores[i]) <= MaxScore):
		return protocol.InputFault(protocol.CodeBadRecord, "the score of %.80q is %v, not a number within 1e100 of 0",
			word, w.Scores[i])
	case tokenizer.Produces(word):
		return nil
	}
	var terms []string
	tokenizer.Tokens(nil, []byte(word), func(term []byte) { terms = append(terms, string(bytes.Clone(term))) })
	made := "nothing"
	if len(terms) > 0 {
		made = fmt.Sprintf("%.60q", terms[:min(len(terms), 4)])
	}
	return protocol.InputFault(protocol.CodeBadRecord, "no text has the word %.80q: the tokenizer makes %s of it", word,
		made).WithHint("Write the word as the tokenizer does, or leave it out, or change what a word is.")
}

// Exact reports whether the score of every text of up to 2^24 words is added up without rounding. It is if all scores
// and the threshold are whole multiples of one power of two, and sums of 2^24 scores stay below 2^53 of it.
func (w *WordScores) Exact() bool {
	last, most := lastBit(w.Threshold), math.Abs(w.Threshold)
	for _, s := range w.Scores {
		last, most = min(last, lastBit(s)), max(most, math.Abs(s))
	}
	_, above := math.Frexp(most) // most is below 2^above
	return most == 0 || above+25-last <= 53
}

// lastBit is the exponent of the last bit of a number that is 1; a great one of 0.
func lastBit(v float64) int {
	fraction, exponent := math.Frexp(math.Abs(v))
	if fraction == 0 {
		return math.MaxInt32
	}
	return exponent - 53 + bits.TrailingZeros64(uint64(math.Ldexp(fraction, 53))) //lint:checked from 2^52 to 2^53
}
