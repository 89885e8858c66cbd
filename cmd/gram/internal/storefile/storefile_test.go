package storefile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gram-compute/gram/cmd/gram/internal/storefile"
)

func load(t *testing.T, text string) (got string, err error) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{"stores.yaml": text, "key": "AKIA\n", "secret": "canary-of-a-file\n",
		"empty": "\n", "ca.pem": "no certificate"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{"LAKE_KEY": "AKIB", "LAKE_SECRET": "canary-of-a-variable"}
	declared, err := storefile.Load(filepath.Join(dir, "stores.yaml"), func(name string) string { return env[name] })
	if d, ok := declared["lake"]; ok {
		got = fmt.Sprint(d.Bucket, " ", d.Endpoint, " ", d.AccessKey, " ", string(d.SecretKey), " ", d.Local, " ",
			d.Read, " ", d.Write)
	}
	if shown := fmt.Sprintf("%+v %#v %v", declared, declared, err); strings.Contains(shown, "canary") {
		t.Errorf("a secret shows: %s", shown)
	}
	return got, err
}

func TestLoad(t *testing.T) {
	t.Setenv("AWS_CA_BUNDLE", "")
	for lake, want := range map[string]string{
		"": "lake    false [] []",
		"bucket: acme-lake, endpoint: 'https://s3.example:9000', read: [corpora/], write: [gram/], local: true": "" +
			"acme-lake https://s3.example:9000   true [corpora/] [gram/]",
		"access_key_env: LAKE_KEY, secret_key_env: LAKE_SECRET":      "lake  AKIB canary-of-a-variable false [] []",
		"access_key_file: key, secret_key_file: secret, write: ['']": "lake  AKIA canary-of-a-file false [] []",
	} {
		text := "stores: {lake: {" + lake + "}}"
		if got, err := load(t, text); err != nil || got != want {
			t.Errorf("%s\n%q, want %q, %v", text, got, want, err)
		}
	}
}

func TestMistakes(t *testing.T) {
	t.Setenv("AWS_CA_BUNDLE", "")
	for text, says := range map[string]string{
		"{}":                                               "declares none",
		"stores: {}":                                       "declares none",
		"stores: [lake]":                                   "wants",
		"stores: {lake: {secret_key: abc}}":                `no field "secret_key" in stores.lake`,
		"stores: {Lake: {}}":                               "not a bucket name",
		"stores: {lake: {read: [corpora]}}":                `write "corpora/"`,
		"stores: {lake: {read: ['../']}}":                  "../",
		"stores: {lake: {endpoint: 's3.example'}}":         "http://host",
		"stores: {lake: {endpoint: 'http://me:canary@h'}}": "http://host",
		"stores: {lake: {access_key_env: LAKE_KEY}}":       "go together",
		"stores: {lake: {access_key_env: NONE, secret_key_env: LAKE_SECRET}}": "NONE, which is not set",
		"stores: {lake: {access_key_env: LAKE_KEY, access_key_file: key}}":    "exclude each other",
		"stores: {lake: {access_key_file: none, secret_key_file: secret}}":    "none",
		"stores: {lake: {access_key_file: key, secret_key_file: empty}}":      "empty",
		"stores: {lake: {ca_file: ca.pem}}":                                   "no PEM certificate",
		"a: &a [x]\nstores: {lake: {read: *a}}":                               "anchors and aliases",
	} {
		if _, err := load(t, text); err == nil || !strings.Contains(err.Error(), says) ||
			!strings.Contains(err.Error(), "stores") {
			t.Errorf("%s: %v, want %q", text, err, says)
		}
	}
}
