package s3

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/gram-compute/gram/objstore"
)

// credentialTimeout bounds one request to a service that hands out credentials;
// the machine's is looked for also where there is none.
const credentialTimeout = 5 * time.Second

func newCredentials(cfg Config, client *http.Client) *credentials.Credentials {
	if cfg.AccessKey != "" {
		return credentials.NewStaticV4(cfg.AccessKey, string(cfg.SecretKey), string(cfg.SessionToken))
	}
	c := &chain{links: []link{
		{"environment", &credentials.EnvAWS{}},
		{"shared files", &credentials.FileAWSCredentials{}},
	}}
	if hasRole() {
		role := &credentials.IAM{Client: client, Region: cfg.Region}
		if os.Getenv(webIdentity) != "" {
			role.Endpoint = os.Getenv("AWS_ENDPOINT_URL_STS") // empty: Amazon's
		}
		c.links = append(c.links, link{"role", role})
	}
	return credentials.New(c)
}

const webIdentity = "AWS_WEB_IDENTITY_TOKEN_FILE"

// hasRole: there is a role to ask for, or a machine's service is not ruled out.
func hasRole() bool {
	for _, name := range []string{webIdentity, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
		"AWS_CONTAINER_CREDENTIALS_FULL_URI"} {
		if os.Getenv(name) != "" {
			return true
		}
	}
	return !strings.EqualFold(os.Getenv("AWS_EC2_METADATA_DISABLED"), "true")
}

// chain asks one provider after the other. Unlike minio-go's own it says why
// each had nothing, and does not go on without credentials.
type chain struct {
	links   []link
	current credentials.Provider
}

type link struct {
	name     string
	provider credentials.Provider
}

func (c *chain) RetrieveWithCredContext(cc *credentials.CredContext) (credentials.Value, error) {
	var reasons []error
	for _, l := range c.links {
		value, err := l.provider.RetrieveWithCredContext(cc)
		if err == nil && value.AccessKeyID != "" && value.SecretAccessKey != "" {
			c.current = l.provider
			return value, nil
		}
		if err == nil {
			err = errors.New("none set")
		}
		reasons = append(reasons, fmt.Errorf("%s: %w", l.name, err))
	}
	return credentials.Value{}, fmt.Errorf("%w: %w", errNoCredentials, errors.Join(reasons...))
}

var errNoCredentials = fmt.Errorf(
	"%w: no credentials found (set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE)", objstore.ErrDenied)

func (c *chain) Retrieve() (credentials.Value, error) { return c.RetrieveWithCredContext(nil) }

func (c *chain) IsExpired() bool { return c.current == nil || c.current.IsExpired() }
