package params

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/gram-compute/gram/protocol"
)

// Parameter declares one parameter of a kind, bound to the field of a struct that holds its value. A section is a
// parameter that has parameters of its own.
type Parameter struct {
	name, kind string
	preset     any    // the default as in JSON; nil without a default
	missing    string // what a missing value stands for, where that is no constant
	choices    []string
	bounds     string
	limits     *interval // what bounds says, where it holds of every value that may be given
	doc, from  string
	section    []Parameter
	reset      func()
	check      func() error
}

// Says returns a copy with the sentence of the reference.
func (p Parameter) Says(doc string) Parameter { p.doc = doc; return p }

// From returns a copy with a formula or source.
func (p Parameter) From(source string) Parameter { p.from = source; return p }

// Missing returns a copy that says what a missing value stands for.
func (p Parameter) Missing(text string) Parameter { p.missing = text; return p }

// Within returns a copy with bounds for people, where the check is the struct's own.
func (p Parameter) Within(bounds string) Parameter { p.bounds = bounds; return p }

// Checked returns a copy with a check of its own.
func (p Parameter) Checked(check func() error) Parameter { p.check = check; return p }

// Choice declares one of several words.
func Choice[T ~string](name string, at *T, preset T, choices ...T) Parameter {
	words := make([]string, len(choices))
	for i, c := range choices {
		words[i] = string(c)
	}
	p := declare(name, kindText, at, preset)
	p.choices = words
	if preset == "" {
		p.preset = nil
	}
	return p.Checked(func() error {
		if *at == preset || slices.Contains(choices, *at) {
			return nil
		}
		return protocol.SpecFault("%s is one of %q, not %q", name, words, *at).Suggest(string(*at), words)
	})
}

// Flag declares true or false.
func Flag(name string, at *bool, preset bool) Parameter { return declare(name, kindFlag, at, preset) }

// Whole declares a whole number from low to high. A preset beyond them stands for a missing value.
func Whole(name string, at *int, preset, low, high int) Parameter {
	p := declare(name, kindWhole, at, preset)
	p.bounds, p.limits = fmt.Sprintf("%d to %d", low, high), &interval{low: float64(low), high: float64(high)}
	if preset < low || preset > high {
		p.preset, p.limits = nil, nil
	}
	return p.Checked(func() error {
		if *at != preset && (*at < low || *at > high) {
			return protocol.SpecFault("%s is from %d to %d, not %d", name, low, high, *at)
		}
		return nil
	})
}

// Number declares a number in an interval, such as "[0, 1)". A preset outside stands for a missing value.
func Number(name string, at *float64, preset float64, bounds string) Parameter {
	in := mustInterval(bounds)
	p := declare(name, kindNumber, at, preset)
	p.bounds, p.limits = bounds, &in
	if !in.holds(preset) {
		p.preset, p.limits = nil, nil
	}
	return p.Checked(func() error {
		if *at != preset && !in.holds(*at) {
			return protocol.SpecFault("%s is in %s, not %v", name, bounds, *at)
		}
		return nil
	})
}

// Text declares any text; without it the field is empty.
func Text(name string, at *string) Parameter {
	p := declare(name, kindText, at, "")
	p.preset = nil
	return p
}

// Bytes declares a size of at least a byte.
func Bytes(name string, at *protocol.ByteSize, preset protocol.ByteSize) Parameter {
	return declare(name, kindBytes, at, preset).Within("above 0").Checked(func() error {
		if *at < 1 {
			return protocol.SpecFault("%s is above 0, not %d", name, *at)
		}
		return nil
	})
}

// Optional declares a number that may be missing; the struct's own check bounds it.
func Optional[T int | float64](name string, at **T) Parameter {
	kind := kindNumber
	if _, whole := any(*new(T)).(int); whole {
		kind = kindWhole
	}
	p := declare(name, kind, at, nil)
	p.preset = nil
	return p
}

// Value declares a list, or an object whose names are of the data, such as labels; without it the field is empty.
func Value[T any](name string, at *T) Parameter {
	kind := kindMap
	if reflect.TypeFor[T]().Kind() == reflect.Slice {
		kind = kindList
	}
	p := declare(name, kind, at, *new(T))
	p.preset = nil
	return p
}

// Words declares a value that is one of several words, or an object.
func Words[T any](name string, at *T, preset T, words ...string) Parameter {
	p := declare(name, kindWords, at, preset)
	p.choices = words
	return p
}

// Section declares an object of parameters.
func Section[P any, T Pointer[P]](name string, at *P) Parameter {
	list := T(at).Parameters()
	return Parameter{name: name, kind: TypeSection, section: list, reset: func() { Reset(list) },
		check: func() error { return In(name, Check[P, T](at)) }}
}

// SectionAt declares an object of parameters that a pointer leads to, with its defaults unless it is given.
func SectionAt[P any, T Pointer[P]](name string, at **P) Parameter {
	value := *at
	if value == nil {
		value = new(P)
	}
	list := T(value).Parameters()
	return Parameter{name: name, kind: TypeSection, section: list, reset: func() { Reset(list); *at = value },
		check: func() error { return In(name, Check[P, T](*at)) }}
}

// OptionalSection declares an object of parameters that is missing unless it is given.
func OptionalSection[P any, T Pointer[P]](name string, at **P) Parameter {
	p := SectionAt[P, T](name, at)
	p.reset, p.missing = func() { *at = nil }, "none"
	return p
}

func declare[T any](name, kind string, at *T, preset T) Parameter {
	return Parameter{name: name, kind: kind, preset: preset, reset: func() { *at = preset }}
}

// Reset sets the defaults.
func Reset(list []Parameter) {
	for _, p := range list {
		if p.reset != nil {
			p.reset()
		}
	}
}

// Check returns the first fault of parameters: that of one parameter, or of what the struct's own method Check finds
// between them. Nil parameters have none.
func Check[P any, T Pointer[P]](p *P) error {
	if p == nil {
		return nil
	}
	for _, x := range T(p).Parameters() {
		if x.check == nil {
			continue
		}
		if err := x.check(); err != nil {
			return err
		}
	}
	if own, ok := any(p).(interface{ Check() error }); ok {
		return own.Check()
	}
	return nil
}

// interval is a range of numbers.
type interval struct {
	low, high         float64
	openLow, openHigh bool
}

// mustInterval reads an interval as mathematicians write it; a declaration that has none is a mistake in the program.
func mustInterval(text string) interval {
	ends := strings.Split(strings.Trim(text, "[]()"), ", ")
	low, err := strconv.ParseFloat(ends[0], 64)
	high, err2 := strconv.ParseFloat(ends[len(ends)-1], 64)
	if err != nil || err2 != nil || len(ends) != 2 {
		panic("params: not an interval: " + text)
	}
	return interval{low, high, text[0] == '(', strings.HasSuffix(text, ")")}
}

// holds reports whether x is in the interval; NaN is in none.
func (in interval) holds(x float64) bool {
	aboveLow := x >= in.low && !(in.openLow && x == in.low)
	return aboveLow && x <= in.high && !(in.openHigh && x == in.high)
}
