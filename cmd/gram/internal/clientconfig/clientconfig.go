// Package clientconfig finds out which cluster a client talks to, as whom, and
// remembers where each value came from.
//
//	flag > environment > project file > user file > default
package clientconfig

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gram-compute/gram/protocol"
)

// Config is what the sources say together.
type Config struct {
	Context   Value // name of the context in use
	Addr      Value // https URLs of coordinators, with commas
	CACert    Value // file with the certificates to trust; empty means the system's
	TokenFile Value
	Token     Value // the secret itself, from the environment only; never print Text
	Output    Value // "table" or "json"
	Color     Value // "auto", "always" or "never"
}

// Sources are where settings come from. Flags holds the flags that were given, by
// name without dashes; Dir is the working directory.
type Sources struct {
	Flags  map[string]string
	Getenv func(string) string
	Dir    string
}

// ProjectFile is the name of the project file. It may choose among the user's
// contexts but not define one: a checkout must not decide where a token goes.
const ProjectFile = ".gram.yaml"

// Load gathers the settings. Only malformed or missing files, and unknown names, are errors.
func Load(src Sources) (Config, error) {
	if src.Getenv == nil {
		src.Getenv = func(string) string { return "" }
	}
	user, err := userFile(src.Getenv)
	if err != nil {
		return Config{}, err
	}
	project, err := readFile(filepath.Join(src.Dir, ProjectFile), true)
	if err != nil {
		return Config{}, err
	}
	if len(project.Contexts) > 0 {
		return Config{}, fmt.Errorf("%s: a project file chooses a context by name; define it in %s", project.path,
			userFileName(src.Getenv))
	}
	cfg := Config{
		Output: src.pick("output", "GRAM_OUTPUT", project.value(project.Output), user.value(user.Output),
			Value{"table", "default"}),
		Color: src.pick("color", "", project.value(project.Color), user.value(user.Color), Value{"auto", "default"}),
		Token: src.pick("", "GRAM_TOKEN"),
	}
	if err := oneOf("output", cfg.Output, "table", "json"); err != nil {
		return cfg, err
	}
	if err := oneOf("color", cfg.Color, "auto", "always", "never"); err != nil {
		return cfg, err
	}
	cfg.Context = src.pick("context", "GRAM_CONTEXT", project.value(project.Context), user.value(user.Context),
		user.onlyContext())
	return cfg.connection(src, user)
}

// connection fills in the three settings that a context may hold.
func (cfg Config) connection(src Sources, user file) (Config, error) {
	context, origin, err := user.context(cfg.Context)
	if err != nil {
		return cfg, err
	}
	if cfg.Context.Text == "" && src.pick("addr", "GRAM_ADDR").Text == "" {
		context, origin, err = devContext(src.Getenv)
		if err != nil {
			return cfg, err
		}
	}
	held := func(text string) Value {
		if text == "" {
			return Value{}
		}
		return Value{text, origin}
	}
	cfg.Addr = src.pick("addr", "GRAM_ADDR", held(context.Addr))
	cfg.CACert = src.pick("cacert", "GRAM_CACERT", held(context.CACert))
	cfg.TokenFile = src.pick("token-file", "GRAM_TOKEN_FILE", held(context.TokenFile))
	if cfg.Token.Text != "" && cfg.TokenFile.Origin != "--token-file" {
		cfg.TokenFile = Value{} // the secret in the environment stands above every file but the flag's
	} else {
		cfg.Token = Value{}
	}
	cfg.Addr.Text, err = checkAddr(cfg.Addr)
	return cfg, err
}

// pick returns the first of flag, environment variable and the given values that is set.
func (src Sources) pick(flag, variable string, below ...Value) Value {
	if text, ok := src.Flags[flag]; ok {
		return Value{text, "--" + flag}
	}
	if variable != "" {
		if text := src.Getenv(variable); text != "" {
			return Value{text, variable}
		}
	}
	for _, v := range below {
		if v.Text != "" {
			return v
		}
	}
	return Value{}
}

// checkAddr accepts host:port and https://host:port, several with commas, and nothing without TLS.
func checkAddr(addr Value) (string, error) {
	if addr.Text == "" {
		return "", nil
	}
	var urls []string
	for _, one := range strings.Split(addr.Text, ",") {
		scheme, rest, ok := strings.Cut(strings.TrimSpace(one), "://")
		if !ok {
			scheme, rest = "https", scheme
		}
		rest = strings.TrimSuffix(rest, "/")
		if scheme != "https" || rest == "" || strings.ContainsAny(rest, "/?#@ ") {
			return "", fmt.Errorf("address %q (from %s) is not read: write host:port or https://host:port, several "+
				"with commas; nothing is sent without TLS", addr.Text, addr.Origin)
		}
		urls = append(urls, "https://"+rest)
	}
	return strings.Join(urls, ","), nil
}

// Hosts are the coordinators' host:port.
func (cfg Config) Hosts() []string {
	var hosts []string
	for _, url := range strings.Split(cfg.Addr.Text, ",") {
		hosts = append(hosts, strings.TrimPrefix(url, "https://"))
	}
	return hosts
}

func oneOf(name string, v Value, known ...string) error {
	if slices.Contains(known, v.Text) {
		return nil
	}
	return fmt.Errorf("%s %q (from %s) is unknown; known: %s", name, v.Text, v.Origin, strings.Join(known, ", "))
}

// context looks a context up; an empty name is the empty context.
func (f file) context(name Value) (Context, string, error) {
	if name.Text == "" {
		return Context{}, "", nil
	}
	c, ok := f.Contexts[name.Text]
	if ok {
		return c, f.path, nil
	}
	known := slices.Sorted(maps.Keys(f.Contexts))
	what := fmt.Sprintf("context %q (from %s) is not defined in %s", name.Text, name.Origin, f.path)
	if near := protocol.Nearest(name.Text, known); near != "" {
		return c, "", fmt.Errorf("%s; did you mean %q?", what, near)
	}
	return c, "", fmt.Errorf("%s; defined there: %s", what, cmp.Or(strings.Join(known, ", "), "none"))
}

// Secret returns the token and, where its file is open to others, a warning. Without
// any token it returns "".
func (cfg Config) Secret() (token, warning string, err error) {
	if cfg.TokenFile.Text == "" {
		return cfg.Token.Text, "", nil
	}
	return ReadToken(cfg.TokenFile.Text)
}
