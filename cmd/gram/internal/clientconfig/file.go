package clientconfig

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gram-compute/gram/cmd/gram/internal/yamldoc"
	"github.com/gram-compute/gram/protocol"
	"go.yaml.in/yaml/v3"
)

// Value is a setting and its origin, for people: "--addr", "GRAM_ADDR", a file's
// path, "default", or "" when it is not set.
type Value struct {
	Text   string
	Origin string
}

// Context is a cluster and how to reach it. Relative paths count from the file's folder.
type Context struct {
	Addr      string `json:"addr" yaml:"addr"`
	CACert    string `json:"cacert" yaml:"cacert,omitempty"`
	TokenFile string `json:"token_file" yaml:"token_file,omitempty"`
}

// file is a user or project file.
type file struct {
	Context  string             `json:"context" yaml:"context,omitempty"` // used when none is named
	Output   string             `json:"output" yaml:"output,omitempty"`
	Color    string             `json:"color" yaml:"color,omitempty"`
	Contexts map[string]Context `json:"contexts" yaml:"contexts,omitempty"`

	path string
}

func (f file) value(text string) Value { return Value{text, f.path} }

// onlyContext spares the choice where there is none.
func (f file) onlyContext() Value {
	if len(f.Contexts) != 1 {
		return Value{}
	}
	for name := range f.Contexts {
		return f.value(name)
	}
	return Value{}
}

// readFile reads a file strictly; a missing optional one is empty.
func readFile(path string, optional bool) (file, error) {
	f := file{path: path}
	data, err := open(path)
	if optional && errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return f, fmt.Errorf("configuration: %w", err)
	}
	converted, err := yamldoc.ToJSON(data)
	if err != nil {
		return f, fmt.Errorf("%s: %w", path, err)
	}
	if err := protocol.StrictDecode(converted, &f); err != nil {
		var fault *protocol.Fault
		if errors.As(err, &fault) {
			return f, fmt.Errorf("%s: %s", path, fault.What)
		}
		return f, fmt.Errorf("%s: %w", path, err)
	}
	for name, c := range f.Contexts {
		c.CACert, c.TokenFile = beside(path, c.CACert), beside(path, c.TokenFile)
		f.Contexts[name] = c
	}
	return f, nil
}

func open(path string) ([]byte, error) {
	r, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return yamldoc.Read(r)
}

func beside(path, name string) string {
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(path), name)
}

// userFile reads $GRAM_CONFIG, or else the file in the user's configuration folder.
func userFile(getenv func(string) string) (file, error) {
	if path := getenv("GRAM_CONFIG"); path != "" {
		return readFile(path, false)
	}
	path := userFileName(getenv)
	if path == "" {
		return file{}, nil
	}
	return readFile(path, true)
}

func userFileName(getenv func(string) string) string {
	return xdg(getenv, "XDG_CONFIG_HOME", ".config", "gram", "config.yaml")
}

// DevDir is where `gram dev` keeps its cluster unless told otherwise; empty without a home folder.
func DevDir(getenv func(string) string) string {
	return xdg(getenv, "XDG_STATE_HOME", filepath.Join(".local", "state"), "gram", "dev")
}

func xdg(getenv func(string) string, variable, fallback string, rest ...string) string {
	base := getenv(variable)
	if base == "" {
		home := getenv("HOME")
		if home == "" {
			return ""
		}
		base = filepath.Join(home, fallback)
	}
	return filepath.Join(append([]string{base}, rest...)...)
}

// DevFile is the name of the file that `gram dev` writes into its data folder.
const DevFile = "client.yaml"

// devContext reads what a laptop cluster in the usual place left for its clients.
func devContext(getenv func(string) string) (Context, string, error) {
	dir := DevDir(getenv)
	if dir == "" {
		return Context{}, "", nil
	}
	f, err := readFile(filepath.Join(dir, DevFile), true)
	if err != nil {
		return Context{}, "", err
	}
	return f.Contexts[f.Context], f.path, nil
}

// WriteContext writes a file with one context, readable by its owner only.
func WriteContext(path, name string, c Context) error {
	text, err := yaml.Marshal(file{Context: name, Contexts: map[string]Context{name: c}})
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}
