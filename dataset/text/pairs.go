package text

import (
	"bytes"
	"cmp"
	"slices"
)

// Pairs reports whether terms are n-grams of words without spaces, which are numbered by the numbers of their parts:
// the n-gram without its last word, and that word.
func (t *Tokenizer) Pairs() bool { return t.ownWords() && t.params.NgramMax > 1 }

// ending are the numbers of the n-grams that end with a word, by length; -1 for those that have none.
type ending [MaxNgram + 1]int32

// numberPairs appends the numbers of the n-grams of the words scanned.
func (s *Scanner) numberPairs(dst []int32, in *Numbering) []int32 {
	var now ending
	least, most := s.tokenizer.params.NgramMin, s.tokenizer.params.NgramMax
	for words, k := range s.keys {
		word, before := s.add(k, in), now
		now[1] = word
		for n := 2; n <= min(most, words+1); n++ {
			now[n] = in.add(pairKey(before[n-1], word))
		}
		if n := min(most, words+1); n >= least {
			dst = append(dst, now[least:n+1]...)
		}
	}
	return dst
}

// findPairs appends the places of the n-grams of the words scanned.
func (s *Scanner) findPairs(dst []int32, in *Index) []int32 {
	var now ending
	least, most := s.tokenizer.params.NgramMin, s.tokenizer.params.NgramMax
	for words, k := range s.keys {
		word, before := s.find(k, in.numbers), now
		now[1] = word
		for n := 2; n <= min(most, words+1); n++ {
			if now[n] = -1; word >= 0 && before[n-1] >= 0 {
				now[n] = in.numbers.find(pairKey(before[n-1], word))
			}
		}
		for n := least; n <= min(most, words+1); n++ {
			if i := now[n]; i >= 0 && in.place[i] >= 0 {
				dst = append(dst, in.place[i])
			}
		}
	}
	return dst
}

// Index finds the terms of a list in texts. It is not changed after it is made and is safe for concurrent use.
type Index struct {
	numbers *Numbering
	place   []int32 // of n-grams of words: the place in the list of what has a number, -1 for a part of a term
}

// NewIndex returns the index of a list of terms for a tokenizer. The list is a numbering of terms as they are.
func NewIndex(t *Tokenizer, list *Numbering) *Index {
	if !t.Pairs() {
		return &Index{numbers: list}
	}
	in, term := &Index{numbers: NewNumbering(list.Len())}, []byte(nil)
	for place := range int32(list.Len()) {
		term = list.Append(term[:0], place)
		number := in.numbers.numberWords(term)
		for len(in.place) < in.numbers.Len() {
			in.place = append(in.place, -1)
		}
		in.place[number] = place
	}
	return in
}

// numberWords returns the number of a term as numberPairs finds it.
func (n *Numbering) numberWords(term []byte) int32 {
	gram := int32(-1)
	for word := range bytes.SplitSeq(term, []byte{' '}) {
		number := n.Number(word)
		if gram >= 0 {
			number = n.add(pairKey(gram, number))
		}
		gram = number
	}
	return gram
}

// Equal reports whether two tokenizers make the same terms of every text because their parameters are the same.
func (t *Tokenizer) Equal(other *Tokenizer) bool {
	a, b := t.params, other.params
	return a.Lowercase == b.Lowercase && cmp.Or(a.Analyzer, Word) == cmp.Or(b.Analyzer, Word) &&
		a.NgramMin == b.NgramMin && a.NgramMax == b.NgramMax && slices.Equal(a.StopWords, b.StopWords) &&
		a.TokenPattern == b.TokenPattern
}
