package listen

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/protocol"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// strictJSON reads the JSON of requests as connect's own codec does, but refuses a field that the message does not
// have: connect drops it, so a misspelt one would count as not given.
type strictJSON struct{ name string }

// strictBodies puts strictJSON in the place of connect's codecs, which have these two names.
func strictBodies() connect.HandlerOption {
	return connect.WithHandlerOptions(connect.WithCodec(strictJSON{"json"}),
		connect.WithCodec(strictJSON{"json; charset=utf-8"}))
}

func (c strictJSON) Name() string { return c.name }

func (c strictJSON) Marshal(message any) ([]byte, error) {
	m, ok := message.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("%T is no protobuf message", message)
	}
	return protojson.Marshal(m)
}

func (c strictJSON) Unmarshal(data []byte, message any) error {
	m, ok := message.(proto.Message)
	switch {
	case !ok:
		return fmt.Errorf("%T is no protobuf message", message)
	case len(data) == 0:
		return errors.New("the body is empty; it is one JSON object, {} at least")
	case json.Valid(data):
		if err := checkBody(data, m.ProtoReflect().Descriptor(), ""); err != nil {
			return err
		}
	}
	return protojson.Unmarshal(data, m) // it tells what is not JSON, and what has a wrong type
}

// checkBody refuses a name that a message does not have, at any depth, and a field that stands twice: under one name,
// or as jobId and job_id, which protobuf takes for the same.
func checkBody(data []byte, d protoreflect.MessageDescriptor, path string) error {
	dec, isObject := into(data, '{')
	if !isObject {
		return nil // a wrong type, or a type with a form of its own: protojson knows
	}
	seen := map[protoreflect.FieldNumber]bool{}
	for dec.More() {
		token, _ := dec.Token()
		name, _ := token.(string)
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return err
		}
		field := d.Fields().ByJSONName(name)
		if field == nil {
			field = d.Fields().ByTextName(name)
		}
		if field == nil {
			return unknownInBody(name, d, path)
		}
		if seen[field.Number()] {
			return fmt.Errorf("field %q stands twice%s", name, in(path))
		}
		seen[field.Number()] = true
		if err := checkField(value, field, strings.TrimPrefix(path+"."+name, ".")); err != nil {
			return err
		}
	}
	return nil
}

func checkField(value json.RawMessage, field protoreflect.FieldDescriptor, path string) error {
	switch {
	case field.IsMap() || field.Message() == nil:
		return nil // protojson refuses what is wrong in it
	case !field.IsList():
		return checkBody(value, field.Message(), path)
	}
	dec, isList := into(value, '[')
	for i := 0; isList && dec.More(); i++ {
		var item json.RawMessage
		if err := dec.Decode(&item); err != nil {
			return err
		}
		if err := checkBody(item, field.Message(), fmt.Sprintf("%s[%d]", path, i)); err != nil {
			return err
		}
	}
	return nil
}

// into opens an object or list, and reports whether it is one.
func into(value []byte, brace byte) (*json.Decoder, bool) {
	if trimmed := bytes.TrimLeft(value, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != brace {
		return nil, false
	}
	dec := json.NewDecoder(bytes.NewReader(value))
	_, err := dec.Token()
	return dec, err == nil
}

func unknownInBody(name string, d protoreflect.MessageDescriptor, path string) error {
	var known []string
	for i := range d.Fields().Len() {
		known = append(known, d.Fields().Get(i).JSONName())
	}
	text := fmt.Sprintf("no field %.80q%s", name, in(path))
	if near := protocol.Nearest(name, known); near != "" {
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	if len(known) == 0 {
		return errors.New(text + "; " + string(d.Name()) + " has no fields")
	}
	return fmt.Errorf("%s (the fields of %s: %s)", text, d.Name(), strings.Join(known, ", "))
}

// in is the place of a field in the words of an error.
func in(path string) string {
	if path == "" {
		return " in the request"
	}
	return " in " + path
}
