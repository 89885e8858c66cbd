// Package storefile reads the file in which an operator declares the stores that a coordinator or a worker may open.
package storefile

import (
	"cmp"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/gram-compute/gram/cmd/gram/internal/yamldoc"
	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/s3"
	"github.com/gram-compute/gram/objstore/stores"
	"github.com/gram-compute/gram/protocol"
)

// document is the file.
type document struct {
	Stores map[string]store `json:"stores"`
}

// store is a declaration. Secrets do not stand in it: it names variables or files that hold them.
type store struct {
	Bucket           string   `json:"bucket"` // "" means the store's name
	Endpoint         string   `json:"endpoint"`
	Region           string   `json:"region"`
	CAFile           string   `json:"ca_file"`
	AccessKeyEnv     string   `json:"access_key_env"`
	AccessKeyFile    string   `json:"access_key_file"`
	SecretKeyEnv     string   `json:"secret_key_env"`
	SecretKeyFile    string   `json:"secret_key_file"`
	SessionTokenEnv  string   `json:"session_token_env"`
	SessionTokenFile string   `json:"session_token_file"`
	Local            bool     `json:"local"`
	Read             []string `json:"read"`
	Write            []string `json:"write"`
}

// Load reads the file; what its declarations leave out comes from the environment, as for any S3 client.
func Load(path string, getenv func(string) string) (map[string]stores.Declared, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("stores: %w", err)
	}
	defer file.Close()
	text, err := yamldoc.Read(file)
	if err != nil {
		return nil, fmt.Errorf("stores: %s: %w", path, err)
	}
	converted, err := yamldoc.ToJSON(text)
	if err != nil {
		return nil, fmt.Errorf("stores: %s: %w", path, err)
	}
	var doc document
	if err := protocol.StrictDecode(converted, &doc); err != nil {
		var fault *protocol.Fault
		if errors.As(err, &fault) {
			return nil, fmt.Errorf("stores: %s: %s", path, fault.What)
		}
		return nil, fmt.Errorf("stores: %s: %w", path, err)
	}
	if len(doc.Stores) == 0 {
		return nil, fmt.Errorf("stores: %s declares none", path)
	}
	declared := make(map[string]stores.Declared, len(doc.Stores))
	sources := sources{dir: filepath.Dir(path), getenv: getenv}
	for name, s := range doc.Stores {
		if declared[name], err = sources.declare(name, s); err != nil {
			return nil, fmt.Errorf("stores: %s: store %q: %w", path, name, err)
		}
	}
	return declared, nil
}

// sources are where values come from.
type sources struct {
	dir    string
	getenv func(string) string
}

func (from sources) declare(name string, s store) (stores.Declared, error) {
	d := stores.Declared{Bucket: cmp.Or(s.Bucket, name), Read: s.Read, Write: s.Write,
		Config: stores.Config{Endpoint: s.Endpoint, Region: s.Region, Local: s.Local}}
	for _, host := range []string{name, d.Bucket} {
		if _, err := objstore.ParseURI("s3://" + host); err != nil {
			return d, err
		}
	}
	for _, prefix := range append(s.Read[:len(s.Read):len(s.Read)], s.Write...) {
		if err := objstore.ValidPrefix(prefix); err != nil {
			return d, err
		}
		if prefix != "" && !strings.HasSuffix(prefix, "/") {
			return d, fmt.Errorf("prefix %q would also stand for other folders; write %q", prefix, prefix+"/")
		}
	}
	access, err := from.value("access_key", s.AccessKeyEnv, s.AccessKeyFile)
	if err != nil {
		return d, err
	}
	secret, err := from.value("secret_key", s.SecretKeyEnv, s.SecretKeyFile)
	if err != nil {
		return d, err
	}
	session, err := from.value("session_token", s.SessionTokenEnv, s.SessionTokenFile)
	if err != nil {
		return d, err
	}
	d.AccessKey, d.SecretKey, d.SessionToken = access, s3.Secret(secret), s3.Secret(session)
	if d.RootCAs, err = from.authorities(s.CAFile); err != nil {
		return d, err
	}
	_, err = s3.Open(s3.Config{Bucket: d.Bucket, Endpoint: d.Endpoint, Region: d.Region, AccessKey: d.AccessKey,
		SecretKey: d.SecretKey})
	return d, err
}

// maxSecretBytes bounds a file with a credential.
const maxSecretBytes = 64 << 10

// value is what a variable or a file holds; "" where neither is named. An error tells the place, never the value.
func (from sources) value(field, variable, file string) (string, error) {
	switch {
	case variable != "" && file != "":
		return "", fmt.Errorf("%s_env and %s_file exclude each other", field, field)
	case variable != "":
		text := from.getenv(variable)
		if text == "" {
			return "", fmt.Errorf("%s_env names %s, which is not set", field, variable)
		}
		return text, nil
	case file == "":
		return "", nil
	}
	r, err := os.Open(from.path(file))
	if err != nil {
		return "", fmt.Errorf("%s_file: %w", field, err)
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, maxSecretBytes))
	if err != nil {
		return "", fmt.Errorf("%s_file: %w", field, err)
	}
	if value := strings.TrimSpace(string(text)); value != "" {
		return value, nil
	}
	return "", fmt.Errorf("%s_file: %s is empty", field, file)
}

func (from sources) authorities(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(from.path(file))
	if err != nil {
		return nil, fmt.Errorf("ca_file: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("ca_file: %s holds no PEM certificate", file)
	}
	return pool, nil
}

// path counts from the folder of the file that names it.
func (from sources) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(from.dir, name)
}
