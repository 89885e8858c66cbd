package dataset

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gram-compute/gram/kernelops/decimal"
	"github.com/gram-compute/gram/protocol"
)

// jsonParser reads JSON Lines: one object of RFC 8259 a line, whose values are found by path.
type jsonParser struct {
	input   *protocol.Input
	missing *missing
	want    *jsonPaths
	paths   []string // id, label, text, weight, group, then features, then categories; empty where not wanted
	walk    jsonWalk
	widths  []int  // numbers of each feature, by the object's first record
	lists   []bool // of each feature: it is an array
	width   int
}

// Uses of the paths before those of features.
const (
	jsonID = iota
	jsonLabel
	jsonText
	jsonWeight
	jsonGroup
	jsonFeatures
)

func newJSONL(in *protocol.Input, _ decimal.Read) lineParser {
	p := &jsonParser{input: in, missing: newMissing(in), want: newJSONPaths(),
		paths: []string{in.ID.Name, in.Label.Name, in.Text.Name, in.Weight.Name, in.Split.Group.Name}}
	for _, c := range slices.Concat(in.Features, in.Categorical) {
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
	p.widths, p.lists, p.width = make([]int, len(p.input.Features)), make([]bool, len(p.input.Features)), 0
	for i := range p.widths {
		n, bad := p.numbers(jsonFeatures+i, nil, 0, nil)
		if bad.reason != "" {
			return bad
		}
		p.widths[i], p.lists[i] = n, p.isList(jsonFeatures+i)
		p.width += n
	}
	if p.width == 0 && len(p.input.Categorical) == 0 {
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
		if path == "" || use >= jsonFeatures && p.missing.nulls() {
			continue
		}
		if at.end == 0 || string(text[at.begin:at.end]) == "null" {
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

// raw is the text of a wanted value; null for one that is not there, where that is a missing number.
func (p *jsonParser) raw(use int) []byte {
	at := p.walk.found[use]
	if at.end == 0 {
		return []byte("null")
	}
	return p.walk.text[at.begin:at.end:at.end]
}

func (p *jsonParser) record(b *Block, text []byte) flaw {
	if bad := p.find(text); bad.reason != "" {
		return bad
	}
	for use, take := range []func(*Block) flaw{p.id, p.label, p.text, p.weight, p.group} {
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
		have, bad := p.numbers(jsonFeatures+i, row[:want], p.width-len(row), &b.watch)
		switch {
		case bad.reason != "":
			return bad
		case have != want:
			return p.flaw(jsonFeatures+i, otherLength, 0)
		}
		row = row[want:]
	}
	return p.categories(b)
}

// categories takes each as a label is, and a missing one as the category "".
func (p *jsonParser) categories(b *Block) (bad flaw) {
	n := len(p.input.Categorical)
	b.Categories.extend(n)
	row := b.Categories.Values[len(b.Categories.Values)-n:]
	for k := range row {
		use := jsonFeatures + len(p.input.Features) + k
		text, reason := p.scalar(use, notCategory, badNumberName)
		if reason == "" {
			row[k], bad = p.missing.category(text)
			reason = bad.reason
		}
		if reason != "" {
			return p.flaw(use, reason, 0)
		}
	}
	return flaw{}
}

// id takes a string as it is, and an integer as it is written.
func (p *jsonParser) id(b *Block) flaw {
	b.id = p.raw(jsonID)
	if b.id[0] == '"' {
		b.id = unquoteJSON(b.id)
	} else if c := b.id[0]; c != '-' && (c < '0' || c > '9') || bytes.ContainsAny(b.id, ".eE") || string(b.id) == "-0" {
		return p.flaw(jsonID, notID, 0)
	}
	if bad := checkID(b.id, -1); bad.reason != "" {
		return p.flaw(jsonID, bad.reason, 0)
	}
	return flaw{}
}

func (p *jsonParser) label(b *Block) flaw {
	label, bad := p.name(jsonLabel, notScalar, emptyLabel)
	if bad.reason == "" {
		b.Labels = append(b.Labels, label)
	}
	return bad
}

func (p *jsonParser) group(b *Block) flaw {
	value, bad := p.name(jsonGroup, notGroup, emptyGroup)
	if bad.reason == "" {
		b.Groups = append(b.Groups, GroupOf(value))
	}
	return bad
}

// name is a value as a text of at least one byte, none of them 0.
func (p *jsonParser) name(use int, list, empty string) (name []byte, bad flaw) {
	name, reason := p.scalar(use, list, badNumberLabel)
	if reason != "" {
		return nil, p.flaw(use, reason, 0)
	}
	switch {
	case len(name) == 0:
		return nil, p.flaw(use, empty, 0)
	case bytes.IndexByte(name, 0) >= 0:
		return nil, p.flaw(use, nulByte, 0)
	}
	return name, flaw{}
}

// scalar is a value as a text. The reason is that for a list or an object, or that for a number beyond float64.
func (p *jsonParser) scalar(use int, nested, beyond string) (text []byte, reason string) {
	raw := p.raw(use)
	switch c := raw[0]; {
	case c == '"':
		return unquoteJSON(raw), ""
	case c == '{' || c == '[':
		return nil, nested
	case c == 't' || c == 'f' || c == 'n' || !bytes.ContainsAny(raw, ".eE") && string(raw) != "-0":
		return raw, ""
	}
	value, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || math.IsInf(value, 0) {
		return nil, beyond
	}
	return strconv.AppendFloat(nil, value+0, 'g', -1, 64), "" // + 0 makes -0 plain
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
	if bad.reason == "" && weight.value < 0 {
		bad.reason = badWeight
	}
	if b.Weights = append(b.Weights, weight.value); bad.reason != "" {
		return p.flaw(jsonWeight, bad.reason, 0)
	}
	return flaw{}
}

// columns names the vector's columns by the paths of their numbers.
func (p *jsonParser) columns() (func(int) string, []Offset, flaw) {
	paths := make([]string, 0, p.width)
	for i, n := range p.widths {
		path := p.paths[jsonFeatures+i]
		if n == 1 && !p.lists[i] {
			paths = append(paths, path)
			continue
		}
		if !strings.HasPrefix(path, "/") {
			path = "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(path)
		}
		for k := range n {
			paths = append(paths, path+"/"+strconv.Itoa(k))
		}
	}
	offsets, bad := offsetsOf(p.input, func(key protocol.Column) (int, bool) {
		col := slices.Index(paths, key.Name)
		return col, col >= 0
	})
	return func(col int) string { return strconv.Quote(paths[col]) }, offsets, bad
}

// numbers reads a number or an array of them. It counts them all and keeps those that fit into row, whose first
// is column col.
func (p *jsonParser) numbers(use int, row []float32, col int, w *watch) (n int, bad flaw) {
	raw := p.raw(use)
	walk := jsonWalk{text: raw}
	one := func(int) {
		walk.space()
		begin := walk.at
		walk.skip()
		x, wrong := p.missing.json(raw[begin:walk.at])
		if wrong.reason != "" && bad.reason == "" {
			bad = p.flaw(use, wrong.reason, begin)
			bad.more = wrong.more
		}
		if n < len(row) {
			row[n] = w.take(col+n, x)
		}
		n++
	}
	if p.isList(use) {
		walk.each(']', one)
	} else {
		one(0)
	}
	return n, bad
}

// isList reports whether a wanted value is an array.
func (p *jsonParser) isList(use int) bool { return p.raw(use)[0] == '[' }
