// Package yamldoc turns one small YAML or JSON document into JSON.
package yamldoc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/gram-compute/gram/protocol"
	"go.yaml.in/yaml/v3"
)

// MaxBytes bounds a document.
const MaxBytes = 256 << 10

// Read reads a document, at most MaxBytes of it.
func Read(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("more than %d KiB; such a file is not read", MaxBytes>>10)
	}
	return data, nil
}

// ToJSON converts one document. JSON passes unchanged. Words such as y, n, on and
// off are text, dates too. Anchors and aliases are refused, so that the result
// is never much longer than the text; so are repeated keys and a second document.
func ToJSON(data []byte) ([]byte, error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("more than %d KiB; such a document is not read", MaxBytes>>10)
	}
	if json.Valid(data) {
		var fault *protocol.Fault
		if errors.As(protocol.CheckNames(data), &fault) {
			return nil, errors.New(fault.What)
		}
		return data, nil
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var first, second yaml.Node
	if err := dec.Decode(&first); errors.Is(err, io.EOF) {
		return nil, errors.New("the document is empty")
	} else if err != nil {
		return nil, plain(err)
	}
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, errors.New("a second document follows the first; one is read")
	}
	value, err := convert(&first)
	if err != nil {
		return nil, err
	}
	return json.Marshal(value)
}

func convert(n *yaml.Node) (any, error) {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		return nil, fmt.Errorf("line %d: YAML anchors and aliases are not read; write the value out", n.Line)
	}
	if n.Style&yaml.TaggedStyle != 0 {
		return nil, fmt.Errorf("line %d: YAML tags such as %s are not read", n.Line, n.Tag)
	}
	switch n.Kind {
	case yaml.DocumentNode:
		return convert(n.Content[0])
	case yaml.MappingNode:
		return convertMapping(n)
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, child := range n.Content {
			value, err := convert(child)
			if err != nil {
				return nil, err
			}
			list[i] = value
		}
		return list, nil
	}
	return convertScalar(n)
}

func convertMapping(n *yaml.Node) (any, error) {
	object := make(map[string]any, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge" {
			return nil, fmt.Errorf("line %d: a key is a word", key.Line)
		}
		if _, repeated := object[key.Value]; repeated {
			return nil, fmt.Errorf("line %d: key %q stands there already", key.Line, key.Value)
		}
		value, err := convert(n.Content[i+1])
		if err != nil {
			return nil, err
		}
		object[key.Value] = value
	}
	return object, nil
}

func convertScalar(n *yaml.Node) (any, error) {
	var value any
	if err := n.Decode(&value); err != nil {
		return nil, plain(err)
	}
	switch value.(type) {
	case int, int64, uint64, float64:
		if octal(n.Value) {
			return nil, fmt.Errorf("line %d: %s begins with 0, which YAML 1.1 reads as octal and YAML 1.2 as decimal; "+
				"write it without the 0, as 0o17, or as text in quotes", n.Line, n.Value)
		}
	}
	switch value.(type) {
	case nil, bool, int, int64, uint64, string:
		return value, nil
	case float64:
		if _, err := json.Marshal(value); err != nil {
			return nil, fmt.Errorf("line %d: %s is not a finite number", n.Line, n.Value)
		}
		return value, nil
	case time.Time:
		return n.Value, nil
	}
	return nil, fmt.Errorf("line %d: a value of type %s is not read", n.Line, n.ShortTag())
}

// octal reports whether a number's value depends on the version of YAML.
func octal(text string) bool {
	digits := strings.TrimLeft(text, "+-")
	return len(digits) > 1 && digits[0] == '0' && strings.Trim(digits, "0123456789_") == ""
}

// plain takes the library's prefix off.
func plain(err error) error {
	return errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
}
