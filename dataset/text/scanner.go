package text

import "math/bits"

// Scanner numbers the terms of texts. What it finds are the terms of Tokens, in their order, to the byte. Words of
// ASCII are read eight bytes at a time, and n-grams of words are numbered by the numbers of their parts. It keeps
// memory between calls: one goroutine.
type Scanner struct {
	tokenizer *Tokenizer
	keys      []key
	long      []byte // of the keys' long terms
	scratch   []byte
	after     [batch]uint32
}

// NewScanner returns a scanner of a tokenizer's terms.
func NewScanner(t *Tokenizer) *Scanner { return &Scanner{tokenizer: t} }

// Number appends the numbers of the terms of text to dst. A term that is not in the numbering is added to it. With
// n-grams of words, their words and shorter n-grams are added too, whether they are terms or not.
func (s *Scanner) Number(dst []int32, text []byte, in *Numbering) []int32 {
	s.scan(text)
	if s.tokenizer.Pairs() {
		return s.numberPairs(dst, in)
	}
	for at := 0; at < len(s.keys); at += batch {
		keys := s.keys[at:min(at+batch, len(s.keys))]
		in.first(s.after[:], keys)
		for i, k := range keys {
			number := int32(s.after[i] - 1)
			if number < 0 || in.keys[number] != k || k.form() == formLong {
				number = s.add(k, in)
			}
			dst = append(dst, number)
		}
	}
	return dst
}

// batch is how many terms are looked up at a time: the table is read for all of them before any is compared, so that
// what is not in the cache is waited for once.
const batch = 64

// Find appends the places of the terms of text that are in the index, which is one for the scanner's tokenizer.
func (s *Scanner) Find(dst []int32, text []byte, in *Index) []int32 {
	s.scan(text)
	if s.tokenizer.Pairs() {
		return s.findPairs(dst, in)
	}
	for at := 0; at < len(s.keys); at += batch {
		keys := s.keys[at:min(at+batch, len(s.keys))]
		in.numbers.first(s.after[:], keys)
		for i, k := range keys {
			number := int32(s.after[i] - 1)
			if number >= 0 && in.numbers.keys[number] != k || k.form() == formLong {
				number = s.find(k, in.numbers)
			}
			if number >= 0 {
				dst = append(dst, number)
			}
		}
	}
	return dst
}

func (s *Scanner) add(k key, in *Numbering) int32 {
	if k.form() == formLong {
		from, to := k.place()
		return in.addLong(s.long[from:to])
	}
	return in.add(k)
}

func (s *Scanner) find(k key, in *Numbering) int32 {
	if k.form() == formLong {
		from, to := k.place()
		return in.findLong(s.long[from:to])
	}
	return in.find(k)
}

// scan sets the keys of the terms of text; of n-grams of words, of their words.
func (s *Scanner) scan(text []byte) {
	s.keys, s.long = s.keys[:0], s.long[:0]
	if !s.tokenizer.ownWords() {
		s.scratch = s.tokenizer.Tokens(s.scratch, text, s.keep)
		return
	}
	s.words(text)
	if stop := s.tokenizer.stopped; stop != nil {
		kept := s.keys[:0]
		for _, k := range s.keys {
			if s.find(k, stop) < 0 {
				kept = append(kept, k)
			}
		}
		s.keys = kept
	}
}

// ownWords reports whether words are those of the package: runs of letters, marks and numbers.
func (t *Tokenizer) ownWords() bool {
	return (t.params.Analyzer == "" || t.params.Analyzer == Word) && t.pattern == nil
}

// keep adds the key of a term.
func (s *Scanner) keep(term []byte) {
	if len(term) <= inline {
		s.keys = append(s.keys, shortKey(term))
		return
	}
	s.keys = append(s.keys, longKey(len(s.long), len(term)))
	s.long = append(s.long, term...)
}

// words adds the keys of the words of text. No word has begun at the head of the loop: Tokenizer.word reads the next
// one if it is long, or if a byte that is not ASCII comes before its end.
func (s *Scanner) words(text []byte) {
	fold, keys := uint64(0), s.keys
	if s.tokenizer.params.Lowercase {
		fold = 0x20 * eachByte
	}
	for at := 0; at < len(text); {
		x := eight(text, at)
		word, letter := classify(x)
		n := bits.TrailingZeros64(^word&highBits) >> 3 // letters and digits in front
		if n == 0 {
			skip := bits.TrailingZeros64(word) >> 3 // 8 if there are none
			if x&highBits&(1<<(8*uint(skip))-1) == 0 {
				at += skip
				continue
			}
		} else if n < 8 && x>>(8*uint(n))&0x80 == 0 {
			lo := x | letter>>2&fold
			keys = append(keys, key{lo & (1<<(8*uint(n)) - 1), uint64(n) << formShift})
			at += n + 1
			continue
		} else if n == 8 {
			y := eight(text, at+8)
			more, letters := classify(y)
			if n := bits.TrailingZeros64(^more&highBits) >> 3; n < 8 && y>>(8*uint(n))&0x80 == 0 {
				hi := (y | letters>>2&fold) & (1<<(8*uint(n)) - 1)
				keys = append(keys, key{x | letter>>2&fold, hi | uint64(8+n)<<formShift})
				at += 8 + n + 1
				continue
			}
		}
		s.keys = keys
		at += s.word(text[at:])
		keys = s.keys
	}
	s.keys = keys
}

// word adds the next word of a text, if there is one, in any script, and returns how far it read.
func (s *Scanner) word(text []byte) int {
	word, rest := s.tokenizer.word(s.scratch[:0], text)
	if s.scratch = word; len(word) > 0 {
		s.keep(word)
	}
	return len(text) - len(rest)
}
