package s3

import (
	"cmp"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/gram-compute/gram/objstore"
)

// Config says which bucket, where and as whom. Only Bucket must be set.
type Config struct {
	Bucket string
	Prefix string // keys are relative to it; without trailing slash

	// Endpoint is the server's URL, "https://host:port" or "http://host:port". Empty
	// means AWS_ENDPOINT_URL_S3, else AWS_ENDPOINT_URL, else Amazon. Buckets are named in
	// the path everywhere but at Amazon.
	Endpoint string
	// Region is by default AWS_REGION, else AWS_DEFAULT_REGION, else asked of Amazon
	// or "us-east-1" elsewhere.
	Region string

	// Local lets the endpoint's name lead to this machine. An endpoint that says so by itself (localhost, 127.0.0.1)
	// needs no leave; link-local addresses and clouds' metadata services are refused always.
	Local bool

	// AccessKey and SecretKey replace the search for credentials.
	AccessKey    string
	SecretKey    Secret
	SessionToken Secret

	// RootCAs are the authorities trusted for TLS; nil means those of the file
	// AWS_CA_BUNDLE, else the system's.
	RootCAs *x509.CertPool

	// Attempts bounds the tries of one call. Default 5.
	Attempts int
	// RetryBase and RetryCap bound the pause before try n+1: a random time of up to
	// min(RetryCap, RetryBase * 2^(n-1)). Defaults 200 ms and 20 s.
	RetryBase, RetryCap time.Duration
	// StallTimeout ends a connection on which nothing moves. Default 60 s.
	StallTimeout time.Duration

	// HedgeAfter is how long a request may show no progress before a second is sent beside it, as S3's own clients
	// do; three at most. Default 5 s.
	HedgeAfter time.Duration
	// FloorRate, in bytes per second, is what a transfer must keep up; one that is FloorWindow behind it is broken
	// off, and a read taken up again on another connection. Only time spent waiting for the network counts. Defaults
	// 16 KiB/s and 10 s.
	FloorRate   int64
	FloorWindow time.Duration

	// SinglePut is the largest object, in bytes, that goes out as one PUT. Default 64 MiB.
	SinglePut int64
	// PartSize is the size of the parts of larger ones, in bytes; 5 MiB at least. Default 16 MiB.
	PartSize uint64
	// PageSize is how many objects a listing asks for at a time. Default 1,000, the most S3 gives.
	PageSize int

	endpoint endpoint
}

type endpoint struct {
	host   string // with port
	secure bool
	amazon bool
}

// complete fills in what is empty and checks the whole.
func (c *Config) complete() error {
	uri := objstore.URI{Scheme: "s3", Host: c.Bucket, Path: c.Prefix}.String()
	if _, err := objstore.ParseURI(uri); err != nil {
		return err
	}
	if c.Prefix != "" && objstore.ValidKey(c.Prefix) != nil {
		return fmt.Errorf("%w: prefix %q", objstore.ErrInvalidURI, c.Prefix)
	}
	if (c.AccessKey == "") != (c.SecretKey == "") {
		return fmt.Errorf("%w: access key and secret key go together", objstore.ErrInvalidURI)
	}
	c.Region = cmp.Or(c.Region, os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"))
	var err error
	c.endpoint, err = parseEndpoint(cmp.Or(c.Endpoint, os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL")),
		c.Region)
	if err != nil {
		return err
	}
	if !c.endpoint.amazon {
		c.Region = cmp.Or(c.Region, "us-east-1")
	}
	if c.RootCAs == nil {
		c.RootCAs, err = caBundle(os.Getenv("AWS_CA_BUNDLE"))
	}
	c.Attempts = cmp.Or(c.Attempts, 5)
	c.RetryBase = cmp.Or(c.RetryBase, 200*time.Millisecond)
	c.RetryCap = cmp.Or(c.RetryCap, 20*time.Second)
	c.StallTimeout = cmp.Or(c.StallTimeout, time.Minute)
	c.HedgeAfter = cmp.Or(c.HedgeAfter, 5*time.Second)
	c.FloorRate = cmp.Or(c.FloorRate, 16<<10)
	c.FloorWindow = cmp.Or(c.FloorWindow, 10*time.Second)
	c.SinglePut = cmp.Or(c.SinglePut, 64<<20)
	c.PartSize = cmp.Or(c.PartSize, 16<<20)
	c.PageSize = cmp.Or(c.PageSize, 1000)
	return err
}

func parseEndpoint(raw, region string) (endpoint, error) {
	switch {
	case raw == "" && strings.HasPrefix(region, "cn-"):
		return endpoint{host: "s3." + region + ".amazonaws.com.cn", secure: true, amazon: true}, nil
	case raw == "":
		return endpoint{host: "s3.amazonaws.com", secure: true, amazon: true}, nil
	}
	u, err := url.Parse(raw)
	if err != nil { // whose text would repeat the URL, a password in it included
		return endpoint{}, fmt.Errorf("%w: the endpoint is not a URL", objstore.ErrInvalidURI)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil ||
		strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return endpoint{}, fmt.Errorf(
			"%w: the endpoint must be http://host[:port] or https://host[:port] and nothing more",
			objstore.ErrInvalidURI)
	}
	name := u.Hostname()
	amazon := strings.HasSuffix(name, ".amazonaws.com") || strings.HasSuffix(name, ".amazonaws.com.cn")
	return endpoint{host: u.Host, secure: u.Scheme == "https", amazon: amazon}, nil
}

func caBundle(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("AWS_CA_BUNDLE: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("AWS_CA_BUNDLE: %w", errors.New("no certificate in "+file))
	}
	return pool, nil
}

// Secret is a string that does not show itself: not in fmt, slog or JSON.
type Secret string

const redacted = "REDACTED"

// Format implements fmt.Formatter for every verb, those of other types too.
func (Secret) Format(f fmt.State, _ rune) { fmt.Fprint(f, redacted) }

func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }
func (Secret) LogValue() slog.Value         { return slog.StringValue(redacted) }
