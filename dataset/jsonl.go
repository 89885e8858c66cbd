package dataset

import (
	"bytes"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/gram-compute/gram/protocol"
)

// jsonParser reads JSON Lines: one object of RFC 8259 a line, whose values are found by path.
type jsonParser struct {
	input  *protocol.Input
	want   *jsonPaths
	paths  []string // label, text, weight, then features; empty where not wanted
	walk   jsonWalk
	widths []int // numbers of each feature, by the object's first record
	width  int
}

// Uses of the paths before those of features.
const (
	jsonLabel = iota
	jsonText
	jsonWeight
	jsonFeatures
)

func newJSONL(in *protocol.Input) lineParser {
	p := &jsonParser{input: in, want: newJSONPaths(), paths: []string{in.Label.Name, in.Text.Name, in.Weight.Name}}
	for _, c := range in.Features {
		p.paths = append(p.paths, c.Name)
	}
	for use, path := range p.paths {
		if path != "" {
			p.want.add(path, use)
		}
	}
	p.walk.found = make([]span, len(p.paths))
	return p
}

func (p *jsonParser) content(text []byte) []byte {
	if len(bytes.Trim(text, " \t\r")) == 0 {
		return nil
	}
	return text
}

func (p *jsonParser) head() int {
	if len(p.input.Features) > 0 {
		return firstRecord
	}
	return noLine
}

func (p *jsonParser) header([]byte) error { return nil }

// first counts the numbers of each feature.
func (p *jsonParser) first(text []byte) flaw {
	if bad := p.find(text); bad.reason != "" {
		return bad
	}
	p.widths, p.width = make([]int, len(p.input.Features)), 0
	for i := range p.widths {
		n, bad := p.numbers(jsonFeatures+i, nil)
		if bad.reason != "" {
			return bad
		}
		p.widths[i] = n
		p.width += n
	}
	if p.width == 0 {
		return p.flaw(jsonFeatures, noNumbers, 0)
	}
	return flaw{}
}

// find checks the line and notes where the wanted values lie.
func (p *jsonParser) find(text []byte) flaw {
	if !utf8.Valid(text) {
		return flaw{reason: notUTF8, at: firstInvalid(text), inLine: true}
	}
	if bad := checkJSON(text); bad.reason != "" {
		return bad
	}
	w := &p.walk
	w.text, w.at, w.twice = text, 0, 0
	clear(w.found)
	w.space()
	if text[w.at] != '{' {
		return flaw{reason: notObject, at: w.at, inLine: true}
	}
	begin := w.at
	if w.value(p.want); w.twice > 0 {
		return flaw{reason: twiceThere, at: w.twice, inLine: true}
	}
	for use, path := range p.paths {
		at := w.found[use]
		if path != "" && (at.end == 0 || string(text[at.begin:at.end]) == "null") {
			w.found[use].begin = max(at.begin, begin)
			return p.flaw(use, notThere, 0)
		}
	}
	return flaw{}
}

// flaw is what is wrong with a wanted value, at a byte of it.
func (p *jsonParser) flaw(use int, reason string, at int) flaw {
	return flaw{reason: reason, path: p.paths[use], at: p.walk.found[use].begin + at, inLine: true}
}

func (p *jsonParser) raw(use int) []byte {
	at := p.walk.found[use]
	return p.walk.text[at.begin:at.end]
}

func (p *jsonParser) record(b *Block, text []byte) flaw {
	if bad := p.find(text); bad.reason != "" {
		return bad
	}
	for use, take := range []func(*Block) flaw{p.label, p.text, p.weight} {
		if p.paths[use] != "" {
			if bad := take(b); bad.reason != "" {
				return bad
			}
		}
	}
	at := len(b.Dense.Values)
	b.Dense.Width = p.width
	b.Dense.Values = extend(b.Dense.Values, p.width)
	row := b.Dense.Values[at:]
	for i, want := range p.widths {
		have, bad := p.numbers(jsonFeatures+i, row[:want])
		switch {
		case bad.reason != "":
			return bad
		case have != want:
			return p.flaw(jsonFeatures+i, otherLength, 0)
		}
		row = row[want:]
	}
	return flaw{}
}

// label takes a string as it is, an integer as it is written, another number as the shortest
// decimal that reads back as the same float64, and true and false.
func (p *jsonParser) label(b *Block) flaw {
	raw := p.raw(jsonLabel)
	var label []byte
	switch c := raw[0]; {
	case c == '"':
		label = unquoteJSON(raw)
	case c == '{' || c == '[':
		return p.flaw(jsonLabel, notScalar, 0)
	case c == 't' || c == 'f' || !bytes.ContainsAny(raw, ".eE") && string(raw) != "-0":
		label = raw
	default:
		value, err := strconv.ParseFloat(string(raw), 64)
		if err != nil || math.IsInf(value, 0) {
			return p.flaw(jsonLabel, badNumberLabel, 0)
		}
		label = strconv.AppendFloat(nil, value+0, 'g', -1, 64) // + 0 makes -0 plain
	}
	b.Labels = append(b.Labels, label)
	if len(label) == 0 {
		return p.flaw(jsonLabel, emptyLabel, 0)
	}
	if bytes.IndexByte(label, 0) >= 0 {
		return p.flaw(jsonLabel, nulByte, 0)
	}
	return flaw{}
}

func (p *jsonParser) text(b *Block) flaw {
	raw := p.raw(jsonText)
	if raw[0] != '"' {
		return p.flaw(jsonText, notString, 0)
	}
	text := unquoteJSON(raw)
	b.Texts = append(b.Texts, text)
	if bytes.IndexByte(text, 0) >= 0 {
		return p.flaw(jsonText, nulByte, 0)
	}
	return flaw{}
}

func (p *jsonParser) weight(b *Block) flaw {
	weight, bad := parseNumber(p.raw(jsonWeight))
	if bad.reason == "" && weight < 0 {
		bad.reason = badWeight
	}
	if b.Weights = append(b.Weights, weight); bad.reason != "" {
		return p.flaw(jsonWeight, bad.reason, 0)
	}
	return flaw{}
}

// numbers reads a number or an array of them. It counts them all and keeps those that fit into row.
func (p *jsonParser) numbers(use int, row []float32) (n int, bad flaw) {
	raw := p.raw(use)
	w := jsonWalk{text: raw}
	one := func(int) {
		w.space()
		begin := w.at
		w.skip()
		value, wrong := parseNumber(raw[begin:w.at])
		if wrong.reason != "" && bad.reason == "" {
			bad = p.flaw(use, wrong.reason, begin)
		}
		if n < len(row) {
			row[n] = value
		}
		n++
	}
	if raw[0] == '[' {
		w.each(']', one)
	} else {
		one(0)
	}
	return n, bad
}
