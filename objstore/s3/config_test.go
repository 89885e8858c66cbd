package s3_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/objstore"
	"github.com/gram-compute/gram/objstore/objstoretest/s3server"
	"github.com/gram-compute/gram/objstore/s3"
)

// clearEnv takes away whatever credentials the machine running the test has.
func clearEnv(t *testing.T) {
	t.Helper()
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, "")
		}
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
}

func TestSecretsDoNotShow(t *testing.T) {
	const canary = "canary-a8d2"
	cfg := s3.Config{Bucket: "bucket", Endpoint: "http://127.0.0.1:1", AccessKey: "AKIA", SecretKey: canary,
		SessionToken: canary}
	s := openStore(t, cfg)
	inJSON, err := json.Marshal(map[string]any{"secret": cfg.SecretKey})
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "secret", cfg.SecretKey, "config", cfg, "store", s)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "secret", cfg.SecretKey, "store", s)
	for what, text := range map[string]string{
		"config": fmt.Sprintf("%v %+v %#v", cfg, cfg, cfg),
		"store":  fmt.Sprintf("%v %+v %#v %s", s, s, s, s.String()),
		"secret": fmt.Sprintf("%v %s %q %x %#v %d %t %c", cfg.SecretKey, cfg.SecretKey, cfg.SecretKey, cfg.SecretKey,
			cfg.SecretKey, cfg.SecretKey, cfg.SecretKey, cfg.SecretKey),
		"JSON": string(inJSON), "log": log.String(),
	} {
		if strings.Contains(text, canary) || strings.Contains(text, fmt.Sprintf("%x", canary)) {
			t.Errorf("%s shows the secret: %s", what, text)
		}
	}
}

func TestBadConfig(t *testing.T) {
	clearEnv(t)
	for name, cfg := range map[string]s3.Config{
		"no bucket":          {},
		"bucket":             {Bucket: "Not A Bucket"},
		"prefix":             {Bucket: "bucket", Prefix: "a//b"},
		"prefix with slash":  {Bucket: "bucket", Prefix: "a/"},
		"half credentials":   {Bucket: "bucket", AccessKey: "a"},
		"endpoint no scheme": {Bucket: "bucket", Endpoint: "localhost:9000"},
		"endpoint path":      {Bucket: "bucket", Endpoint: "http://h/path"},
		"endpoint scheme":    {Bucket: "bucket", Endpoint: "ftp://h"},
		"endpoint user":      {Bucket: "bucket", Endpoint: "http://user:hunter2@h"},
		"endpoint query":     {Bucket: "bucket", Endpoint: "http://h?x=hunter2"},
		"endpoint garbage":   {Bucket: "bucket", Endpoint: "http://hunter2:\x7f"},
	} {
		_, err := s3.Open(cfg)
		if !errors.Is(err, objstore.ErrInvalidURI) || strings.Contains(fmt.Sprint(err), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNoCredentials(t *testing.T) {
	clearEnv(t)
	asked := make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r.URL.Path }))
	defer server.Close()
	s := openStore(t, s3.Config{Bucket: "bucket", Endpoint: server.URL})
	for op, err := range everyCall(t.Context(), s) {
		if !errors.Is(err, objstore.ErrDenied) || !strings.Contains(err.Error(), "AWS_ACCESS_KEY_ID") {
			t.Errorf("%s: %v", op, err)
		}
	}
	if len(asked) != 0 {
		t.Errorf("asked anonymously for %s", <-asked)
	}
}

// TestCredentialSources puts one object with credentials from each place, on a server that checks them.
func TestCredentialSources(t *testing.T) {
	server := s3server.Start(t, s3server.Options{})
	server.MakeBucket(t, "bucket")
	inFile := func(t *testing.T, text string) string {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	for name, set := range map[string]func(*testing.T){
		"environment": func(t *testing.T) {
			t.Setenv("AWS_ACCESS_KEY_ID", s3server.AccessKey)
			t.Setenv("AWS_SECRET_ACCESS_KEY", s3server.SecretKey)
		},
		"profile": func(t *testing.T) {
			t.Setenv("AWS_PROFILE", "test")
			t.Setenv("AWS_SHARED_CREDENTIALS_FILE", inFile(t, fmt.Sprintf(
				"[default]\naws_access_key_id = wrong\naws_secret_access_key = wrong\n[test]\naws_access_key_id = %s\naws_secret_access_key = %s\n",
				s3server.AccessKey, s3server.SecretKey)))
		},
		"container": func(t *testing.T) {
			role := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprintf(w, `{"AccessKeyId":%q,"SecretAccessKey":%q,"Token":"","Expiration":%q}`,
					s3server.AccessKey, s3server.SecretKey, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
			}))
			t.Cleanup(role.Close)
			t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", role.URL+"/role")
		},
		"web identity": func(t *testing.T) {
			sts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if err := r.ParseForm(); err != nil || r.Form.Get("WebIdentityToken") != "the-token" ||
					r.Form.Get("RoleArn") != "arn:role" {
					w.WriteHeader(http.StatusForbidden)
					return
				}
				fmt.Fprintf(w, `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult>
<Credentials><AccessKeyId>%s</AccessKeyId><SecretAccessKey>%s</SecretAccessKey><SessionToken></SessionToken><Expiration>%s</Expiration></Credentials>
</AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`,
					s3server.AccessKey, s3server.SecretKey, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
			}))
			t.Cleanup(sts.Close)
			t.Setenv("AWS_ENDPOINT_URL_STS", sts.URL)
			t.Setenv("AWS_WEB_IDENTITY_TOKEN_FILE", inFile(t, "the-token"))
			t.Setenv("AWS_ROLE_ARN", "arn:role")
		},
	} {
		t.Run(name, func(t *testing.T) {
			clearEnv(t)
			t.Setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
			t.Setenv("AWS_ENDPOINT_URL_S3", server.Endpoint()) // goes before the other
			set(t)
			put(t, openStore(t, s3.Config{Bucket: "bucket"}), "from "+name, nil)
		})
	}
}
