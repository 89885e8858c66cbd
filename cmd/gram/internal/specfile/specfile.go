// Package specfile turns what a person wrote, a YAML or JSON file and --set flags,
// into a job spec that means the same on every machine of the cluster.
package specfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/gram-compute/gram/cmd/gram/internal/yamldoc"
	"github.com/gram-compute/gram/protocol"
)

// Source says where a spec comes from.
type Source struct {
	Path  string    // a file, or "-" for Stdin
	Stdin io.Reader // read when Path is "-"
	Sets  []string  // "spec.params.alpha=0.1", in order
	// Params returns a kind's typed parameters, nil for an unknown kind: errors suggest their names. It may be nil.
	Params func(kind string) any
}

// Load reads a spec strictly. Relative file paths in it become absolute ones: they
// count from the spec's folder, or from the working directory for stdin. Defaults are
// not written in. What is wrong with the spec is a *protocol.Fault.
func Load(src Source) (protocol.JobSpec, error) {
	document, dir, err := src.document()
	if err != nil {
		return protocol.JobSpec{}, err
	}
	if _, section, err := cutSchedule(document); err == nil && section != nil {
		return protocol.JobSpec{}, protocol.SpecFault("the file has a section schedule: it is for `gram schedule " +
			"create -f`; without the section it is a job")
	}
	return src.parse(document, dir)
}

// document is the source as JSON, with Sets applied; relative paths in it count from dir.
func (src Source) document() (document []byte, dir string, err error) {
	text, dir, err := src.read()
	if err != nil {
		return nil, "", err
	}
	if document, err = yamldoc.ToJSON(text); err != nil {
		return nil, "", protocol.SpecFault("%v", err)
	}
	if len(src.Sets) > 0 {
		document, err = applySets(document, src.Sets)
	}
	return document, dir, err
}

func (src Source) parse(document []byte, dir string) (protocol.JobSpec, error) {
	spec, err := protocol.ParseSpecOf(document, src.Params)
	if err != nil {
		return spec, err
	}
	for _, named := range spec.URIs() {
		if named.URI == &spec.Spec.Model && protocol.IsReference(spec.Spec.Model) {
			continue // of a job
		}
		*named.URI = AbsoluteURI(*named.URI, dir)
	}
	return spec, nil
}

func (src Source) read() (text []byte, dir string, err error) {
	if src.Path == "-" {
		if dir, err = os.Getwd(); err != nil {
			return nil, "", err
		}
		if text, err = yamldoc.Read(src.Stdin); err != nil {
			return nil, "", fmt.Errorf("spec from stdin: %w", err)
		}
		return text, dir, nil
	}
	f, err := os.Open(src.Path)
	if err != nil {
		return nil, "", fmt.Errorf("spec: %w", err)
	}
	defer f.Close()
	if dir, err = filepath.Abs(filepath.Dir(src.Path)); err != nil {
		return nil, "", err
	}
	if text, err = yamldoc.Read(f); err != nil {
		return nil, "", fmt.Errorf("spec %s: %w", src.Path, err)
	}
	return text, dir, nil
}

// AbsoluteURI turns a path, or "file:" and a path, into a file URI; relative ones count
// from dir, which must be absolute. Other URIs, and the empty one, pass unchanged.
func AbsoluteURI(uri, dir string) string {
	path, isFile := strings.CutPrefix(uri, "file:")
	if uri == "" || !isFile && strings.Contains(uri, "://") {
		return uri
	}
	if strings.HasPrefix(path, "//") {
		return uri // absolute already, or a mistake that the reader explains
	}
	absolute := filepath.Clean(path)
	if !filepath.IsAbs(path) {
		absolute = filepath.Join(dir, path)
	}
	if strings.HasSuffix(path, "/") && absolute != "/" {
		absolute += "/" // a prefix stays a prefix
	}
	return "file://" + filepath.ToSlash(absolute)
}

// applySets writes values into the document, by dotted paths.
func applySets(document []byte, sets []string) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(document))
	dec.UseNumber() // so that an untouched number keeps its text
	var root any
	if err := dec.Decode(&root); err != nil {
		return nil, protocol.SpecFault("%v", err)
	}
	object, ok := root.(map[string]any)
	if !ok {
		return nil, protocol.SpecFault("a spec is an object")
	}
	for _, set := range sets {
		if err := applySet(object, set); err != nil {
			return nil, protocol.SpecFault("--set %s: %v", set, err)
		}
	}
	return json.Marshal(object)
}

func applySet(object map[string]any, set string) error {
	path, text, ok := strings.Cut(set, "=")
	if !ok {
		return errors.New("write field.field=value")
	}
	value, err := parseValue(text)
	if err != nil {
		return err
	}
	fields := strings.Split(path, ".")
	for i, field := range fields {
		if field == "" {
			return errors.New("a field's name is empty")
		}
		if i == len(fields)-1 {
			object[field] = value
			return nil
		}
		if object[field] == nil {
			object[field] = map[string]any{}
		}
		next, ok := object[field].(map[string]any)
		if !ok {
			return fmt.Errorf("%s is not an object", strings.Join(fields[:i+1], "."))
		}
		object = next
	}
	return nil
}

// parseValue reads a value as the spec's own language does: 0.1, true, [a, b], text.
func parseValue(text string) (json.RawMessage, error) {
	if text == "" {
		return json.RawMessage(`""`), nil
	}
	return yamldoc.ToJSON([]byte(text))
}

// LoadSchedule reads a spec with its section schedule. The URIs may hold the placeholders that
// protocol.JobSpec.ForTick fills in. What is wrong with the file is a *protocol.Fault.
func LoadSchedule(src Source) (protocol.JobSpec, Schedule, error) {
	var s Schedule
	document, dir, err := src.document()
	if err != nil {
		return protocol.JobSpec{}, s, err
	}
	rest, section, err := cutSchedule(document)
	switch {
	case err != nil:
		return protocol.JobSpec{}, s, err
	case section == nil:
		return protocol.JobSpec{}, s, protocol.SpecFault("the file has no section schedule: give it one, with cron: " +
			"\"15 2 * * " +
			"*\" at least")
	}
	if err := protocol.StrictDecodeAt("schedule", section, &s); err != nil {
		return protocol.JobSpec{}, s, err
	}
	spec, err := src.parse(rest, dir)
	return spec, s, err
}

// KindOf returns the kind that a file names; "" where it names none, or cannot be read.
func KindOf(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, err := yamldoc.Read(f)
	if err != nil {
		return ""
	}
	var spec struct{ Kind string }
	document, err := yamldoc.ToJSON(text)
	if err != nil || json.Unmarshal(document, &spec) != nil {
		return ""
	}
	return spec.Kind
}
