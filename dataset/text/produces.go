package text

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"unicode/utf8"
)

// Produces reports whether some text has a term. Without a token pattern the answer is exact. A token pattern may look
// at the text around a word, and with it true means only that the characters of the term do not rule it out.
func (t *Tokenizer) Produces(term string) bool {
	if term == "" || !utf8.ValidString(term) {
		return false
	}
	if t.hasTerm(term, term) || t.params.Analyzer == CharWB && t.hasTerm("a", term) { // " " is of any word
		return true
	}
	return t.pattern != nil && string(t.plain(nil, []byte(term))) == term && t.mayMatch(term)
}

// hasTerm reports whether a text has a term.
func (t *Tokenizer) hasTerm(text, term string) (found bool) {
	t.Tokens(nil, []byte(text), func(got []byte) { found = found || string(got) == term })
	return found
}

// mayMatch reports whether words of the pattern, if nothing around them mattered, make a term. A pattern of single
// words without assertions and groups finds a term in itself if it finds it anywhere: the match that it prefers does
// not depend on what is around it.
func (t *Tokenizer) mayMatch(term string) bool {
	if _, stopped := t.stop[term]; stopped && t.params.NgramMax == 1 {
		return false
	}
	whole, err := syntax.Parse(t.params.TokenPattern, syntax.Perl)
	if err != nil {
		return true
	}
	word, around := wordOf(whole)
	if !around && t.params.NgramMax == 1 {
		return false
	}
	pattern, err := regexp.Compile(fmt.Sprintf(`\A(?:%s)(?: (?:%[1]s)){%d,%d}\z`, word, t.params.NgramMin-1,
		t.params.NgramMax-1))
	return err != nil || pattern.MatchString(term) // one that is too large rules nothing out
}

// wordOf returns the group of a pattern, or all of it, without assertions, and whether there was either. It writes into
// the pattern.
func wordOf(p *syntax.Regexp) (word *syntax.Regexp, around bool) {
	word = p
	switch p.Op {
	case syntax.OpCapture:
		word, _ = wordOf(p.Sub[0])
		return word, true
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary,
		syntax.OpNoWordBoundary:
		return &syntax.Regexp{Op: syntax.OpEmptyMatch}, true
	}
	group := p.MaxCap() > 0
	for i, sub := range p.Sub {
		inner, found := wordOf(sub)
		around = around || found
		if group && sub.MaxCap() > 0 {
			return inner, true
		}
		p.Sub[i] = inner
	}
	return word, around
}
