package clientconfig_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gram-compute/gram/cmd/gram/internal/clientconfig"
)

// world is a home, a working directory and an environment.
type world struct {
	t       *testing.T
	home    string
	project string
	env     map[string]string
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, home: t.TempDir(), project: t.TempDir()}
	w.env = map[string]string{"HOME": w.home}
	return w
}

func (w *world) write(path, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) userFile() string {
	return filepath.Join(w.home, ".config", "gram", "config.yaml")
}

func (w *world) load(flags map[string]string) (clientconfig.Config, error) {
	getenv := func(name string) string { return w.env[name] }
	return clientconfig.Load(clientconfig.Sources{Flags: flags, Getenv: getenv, Dir: w.project})
}

func (w *world) mustLoad(flags map[string]string) clientconfig.Config {
	w.t.Helper()
	cfg, err := w.load(flags)
	if err != nil {
		w.t.Fatal(err)
	}
	return cfg
}

// Every layer sets the output; each one taken away shows the one below.
func TestPrecedence(t *testing.T) {
	w := newWorld(t)
	projectFile := filepath.Join(w.project, clientconfig.ProjectFile)
	w.write(projectFile, "output: json\n")
	w.write(w.userFile(), "output: table\n")
	w.env["GRAM_OUTPUT"] = "table"

	want := func(flags map[string]string, text, origin string) {
		t.Helper()
		if got := w.mustLoad(flags).Output; got != (clientconfig.Value{Text: text, Origin: origin}) {
			t.Errorf("output = %+v, want %s from %s", got, text, origin)
		}
	}
	want(map[string]string{"output": "json"}, "json", "--output")
	want(nil, "table", "GRAM_OUTPUT")
	delete(w.env, "GRAM_OUTPUT")
	want(nil, "json", projectFile)
	os.Remove(projectFile)
	want(nil, "table", w.userFile())
	os.Remove(w.userFile())
	want(nil, "table", "default")
}

const twoContexts = `
context: lab
contexts:
  lab:  {addr: "lab.example:7480", cacert: lab.pem, token_file: lab.token}
  prod: {addr: "https://prod.example:7480/", token_file: /etc/gram/token}
`

func TestContextGivesAddressAuthorityAndToken(t *testing.T) {
	w := newWorld(t)
	w.write(w.userFile(), twoContexts)
	cfg := w.mustLoad(nil)
	dir := filepath.Dir(w.userFile())
	if cfg.Addr.Text != "https://lab.example:7480" || cfg.CACert.Text != filepath.Join(dir, "lab.pem") ||
		cfg.TokenFile.Text != filepath.Join(dir, "lab.token") || cfg.TokenFile.Origin != w.userFile() {
		t.Errorf("context lab: %+v", cfg)
	}
	w.env["GRAM_CONTEXT"] = "prod"
	if cfg = w.mustLoad(nil); cfg.Addr.Text != "https://prod.example:7480" || cfg.CACert.Text != "" {
		t.Errorf("context prod: %+v", cfg)
	}
	w.env["GRAM_ADDR"] = "other:1"
	if cfg = w.mustLoad(nil); cfg.Addr != (clientconfig.Value{Text: "https://other:1", Origin: "GRAM_ADDR"}) {
		t.Errorf("GRAM_ADDR must stand above the context: %+v", cfg.Addr)
	}
	if cfg = w.mustLoad(map[string]string{"addr": "third:1"}); cfg.Addr.Text != "https://third:1" {
		t.Errorf("--addr must stand above GRAM_ADDR: %+v", cfg.Addr)
	}
}

func TestTokenPrecedence(t *testing.T) {
	w := newWorld(t)
	w.write(w.userFile(), twoContexts)
	w.env["GRAM_TOKEN_FILE"] = "from-env"
	if cfg := w.mustLoad(nil); cfg.TokenFile.Text != "from-env" {
		t.Errorf("GRAM_TOKEN_FILE must stand above the context: %+v", cfg.TokenFile)
	}
	w.env["GRAM_TOKEN"] = "secret"
	if cfg := w.mustLoad(nil); cfg.Token.Text != "secret" || cfg.TokenFile.Text != "" {
		t.Errorf("GRAM_TOKEN must stand above files: %+v", cfg)
	}
	if cfg := w.mustLoad(map[string]string{"token-file": "f"}); cfg.Token.Text != "" || cfg.TokenFile.Text != "f" {
		t.Errorf("--token-file must stand above GRAM_TOKEN: %+v", cfg)
	}
}

func TestDevClusterIsFoundWithoutConfiguration(t *testing.T) {
	w := newWorld(t)
	if cfg := w.mustLoad(nil); cfg.Addr.Text != "" {
		t.Fatalf("an address out of nothing: %+v", cfg.Addr)
	}
	getenv := func(name string) string { return w.env[name] }
	path := filepath.Join(clientconfig.DevDir(getenv), clientconfig.DevFile)
	w.write(path, "")
	err := clientconfig.WriteContext(path, "dev",
		clientconfig.Context{Addr: "https://127.0.0.1:7480", CACert: "pki/ca.pem", TokenFile: "admin.token"})
	if err != nil {
		t.Fatal(err)
	}
	cfg := w.mustLoad(nil)
	if cfg.Addr != (clientconfig.Value{Text: "https://127.0.0.1:7480", Origin: path}) ||
		cfg.CACert.Text != filepath.Join(filepath.Dir(path), "pki/ca.pem") {
		t.Errorf("dev cluster: %+v", cfg)
	}
	w.env["GRAM_CONFIG"] = path // what `gram dev` prints for other data folders
	if cfg = w.mustLoad(nil); cfg.Context.Text != "dev" || cfg.Addr.Text != "https://127.0.0.1:7480" {
		t.Errorf("GRAM_CONFIG: %+v", cfg)
	}
}

func TestMistakes(t *testing.T) {
	for _, c := range []struct{ name, user, project, env, value, want string }{
		{"unknown field", "otput: json\n", "", "", "", `did you mean "output"?`},
		{"unknown output", "output: yaml\n", "", "", "", "known: table, json"},
		{"unknown context", twoContexts, "", "GRAM_CONTEXT", "lap", `did you mean "lab"?`},
		{"project defines", "", "contexts: {x: {addr: evil:1}}\n", "", "", "chooses a context by name"},
		{"without TLS", "", "", "GRAM_ADDR", "http://x:1", "without TLS"},
		{"credentials", "", "", "GRAM_ADDR", "https://me:pw@x:1", "not read"},
		{"missing file", "", "", "GRAM_CONFIG", "absent.yaml", "absent.yaml"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			if c.user != "" {
				w.write(w.userFile(), c.user)
			}
			if c.project != "" {
				w.write(filepath.Join(w.project, clientconfig.ProjectFile), c.project)
			}
			w.env[c.env] = c.value
			if _, err := w.load(nil); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error = %v, want one with %q", err, c.want)
			}
		})
	}
}

func TestTokenFileOpenToOthersWarns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, []byte("abc\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if token, warning, err := clientconfig.ReadToken(path); token != "abc" || warning != "" || err != nil {
		t.Errorf("0600: %q, %q, %v", token, warning, err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, warning, err := clientconfig.ReadToken(path); err != nil || !strings.Contains(warning, "chmod 600") {
		t.Errorf("0644: warning %q, %v", warning, err)
	}
	for _, text := range []string{"", "two words", strings.Repeat("x", 5000)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := clientconfig.ReadToken(path); err == nil {
			t.Errorf("%.10q was taken for a token", text)
		}
	}
}

func TestSeveralAddresses(t *testing.T) {
	w := newWorld(t)
	cfg := w.mustLoad(map[string]string{"addr": "a:1, https://b:2/,[::1]:3"})
	if cfg.Addr.Text != "https://a:1,https://b:2,https://[::1]:3" ||
		strings.Join(cfg.Hosts(), " ") != "a:1 b:2 [::1]:3" {
		t.Errorf("%q, hosts %q", cfg.Addr.Text, cfg.Hosts())
	}
	for _, bad := range []string{"a:1,", ",", "a:1,http://b:2", "a:1,b:2/path"} {
		if _, err := w.load(map[string]string{"addr": bad}); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}
