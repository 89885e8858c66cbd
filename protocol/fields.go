package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// field is a place of a document: its path, and the type that is read there.
type field struct {
	path string
	typ  reflect.Type
	bare bool // without a tag: named as in Go
}

// fieldsOf are the JSON fields of a struct in the order of its declaration, those of embedded structs among them; the
// path of each is its name. An outer field hides an embedded one of the same name, as encoding/json has it.
func fieldsOf(t reflect.Type) []field {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return nil
	}
	var named, embedded []field
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		name, _, _ := strings.Cut(tag, ",")
		switch {
		case tag == "-" || !f.IsExported() && !f.Anonymous:
		case f.Anonymous && name == "":
			embedded = append(embedded, fieldsOf(f.Type)...)
		case name == "":
			named = append(named, field{f.Name, f.Type, true})
		default:
			named = append(named, field{name, f.Type, false})
		}
	}
	for _, f := range embedded {
		if !slices.ContainsFunc(named, func(n field) bool { return n.path == f.path }) {
			named = append(named, f)
		}
	}
	return named
}

// below are the fields of f and those in them, with full paths, breadth first: the nearest to the top come first.
func below(f field) []field {
	var all []field
	for level := []field{f}; len(level) > 0; {
		var next []field
		for _, parent := range level {
			for _, child := range fieldsOf(parent.typ) {
				next = append(next, field{within(parent.path, child.path), child.typ, child.bare})
			}
		}
		all, level = append(all, next...), next
	}
	return all
}

// FieldsBelow returns the JSON names of a struct's fields and of those in them, with dots between: "text.min_df".
// Fields without a tag are not of the document.
func FieldsBelow(v any) []string {
	var names []string
	for _, f := range below(field{typ: reflect.TypeOf(v)}) {
		if !f.bare {
			names = append(names, f.path)
		}
	}
	return names
}

// familiar are names of scikit-learn, and what the same is called here: the first that a level has.
var familiar = map[string][]string{
	"n_clusters":    {"k"},
	"n_neighbors":   {"k"},
	"n_components":  {"dims"},
	"max_iter":      {"max_rounds", "epochs"},
	"n_iter":        {"max_rounds", "epochs"},
	"n_init":        {"restarts"},
	"tolerance":     {"tol"},
	"random_state":  {"seed"},
	"class_weight":  {"class_weights"},
	"fit_intercept": {"bias"},
	"coef0":         {"offset"},
	"test_size":     {"test"},
	"ngram_range":   {"ngram_max"},
	"average":       {"form"},
	"priors":        {"prior"},
	"fit_prior":     {"prior"},
	"beta":          {"stiffness"},
	"class_prior":   {"prior"},

	"bisecting_strategy": {"split"},
}

// absent are names of scikit-learn for what is not there, and why.
var absent = map[string]string{
	"C":       "LinearModel and SupportVectorMachine have a cost of slack",
	"alpha":   "NaiveBayes alone adds to its counts, and the penalty of LinearModel is C, 1/alpha",
	"penalty": "LinearModel alone has one, of squares: C weighs the losses against it",
	"eta0":    "the size of a step does not change what a perceptron decides",
	"n_jobs":  "all workers share a job, up to spec.run.max_workers",
}

// unknown is the fault of a name that the struct at path does not have: with the field that was meant, where one can be
// told, and the fields that there are.
func (w walker) unknown(path string, m member, t reflect.Type) *Fault {
	place := ""
	switch {
	case path != "":
		place = " in " + path
	case t == reflect.TypeFor[JobSpec]():
		place = " in a job"
	}
	var names []string
	for _, f := range fieldsOf(t) {
		names = append(names, f.path)
	}
	fault := SpecFault("no field %q%s%s", cut(m.name), place, w.meant(path, m, names))
	fault.Hint = fmt.Sprintf("The fields%s are %s.", place, strings.Join(names, ", "))
	if len(names) == 0 {
		fault.Hint = "It has no fields."
	}
	return fault
}

// meant is the end of the sentence about an unknown name; "" where nothing is near.
func (w walker) meant(path string, m member, names []string) string {
	for _, ours := range familiar[m.name] {
		if slices.Contains(names, ours) {
			return fmt.Sprintf("; here it is called %q", ours)
		}
	}
	if near := nearestWithin(m.name, names, 1); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	if path := w.elsewhere(m, func(name string) bool { return strings.EqualFold(name, m.name) }); path != "" {
		return fmt.Sprintf("; did you mean %s?", path)
	}
	if near := Nearest(m.name, names); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	for _, ours := range familiar[m.name] {
		if path := w.elsewhere(m, func(name string) bool { return name == ours }); path != "" {
			return fmt.Sprintf("; did you mean %s?", path)
		}
	}
	if why := absent[m.name]; why != "" && path != "" {
		return "; " + why
	}
	if path := w.elsewhere(m, func(name string) bool {
		return nearestWithin(m.name, []string{name},
			1) != ""
	}); path != "" {
		return fmt.Sprintf("; did you mean %s?", path)
	}
	return ""
}

// elsewhere finds a field whose name is right in another place of the document.
func (w walker) elsewhere(m member, right func(name string) bool) string {
	for _, root := range w.roots {
		for _, f := range below(root) {
			if right(f.path[strings.LastIndexByte(f.path, '.')+1:]) {
				return deepen(f, m.value)
			}
		}
	}
	return ""
}

// deepen follows a value that is an object of one member, as --set makes them, as far as the fields have the same
// names.
func deepen(f field, value json.RawMessage) string {
	var members map[string]json.RawMessage
	if !bytes.HasPrefix(bytes.TrimSpace(value), []byte("{")) || json.Unmarshal(value, &members) != nil ||
		len(members) != 1 {
		return f.path
	}
	for _, child := range fieldsOf(f.typ) {
		if inner, ok := members[child.path]; ok {
			return deepen(field{within(f.path, child.path), child.typ, child.bare}, inner)
		}
	}
	return f.path
}
