// Package client connects to a cluster: TLS, tokens, fail-over between coordinators, and repetition of
// calls that may succeed later.
package client

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/cmd/gram/internal/clientconfig"
	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

// Cluster is a client's view of a cluster. Its methods return failures.
type Cluster struct {
	Addr     string
	Jobs     gramv1connect.JobServiceClient
	Services gramv1connect.ClusterServiceClient

	Schedules gramv1connect.ScheduleServiceClient
	Models    gramv1connect.ModelServiceClient
	Upkeep    gramv1connect.UpkeepServiceClient
	Tokens    gramv1connect.TokenServiceClient
}

// Options are what a client needs to reach a cluster.
type Options struct {
	Config    clientconfig.Config
	Cert, Key string            // files of a worker's certificate; "" presents none
	Warn      func(text string) // is told of a token file that others can read
}

// Dial makes the clients; it sends nothing yet.
func Dial(opt Options) (*Cluster, error) {
	httpClient, addr, options, err := opt.Transport()
	if err != nil {
		return nil, err
	}
	c := Over(httpClient, addr, options...)
	c.Addr = opt.Config.Addr.Text
	return c, nil
}

// Over makes the clients of every service over an HTTP client.
func Over(httpClient *http.Client, addr string, options ...connect.ClientOption) *Cluster {
	return &Cluster{
		Addr:      addr,
		Jobs:      gramv1connect.NewJobServiceClient(httpClient, addr, options...),
		Services:  gramv1connect.NewClusterServiceClient(httpClient, addr, options...),
		Schedules: gramv1connect.NewScheduleServiceClient(httpClient, addr, options...),
		Models:    gramv1connect.NewModelServiceClient(httpClient, addr, options...),
		Upkeep:    gramv1connect.NewUpkeepServiceClient(httpClient, addr, options...),
		Tokens:    gramv1connect.NewTokenServiceClient(httpClient, addr, options...),
	}
}

// reachLimit is how long to try one coordinator when there are others.
const reachLimit = 3 * time.Second

// Transport connects to the configured addresses over TLS and sends the token with every call.
func (o Options) Transport() (*http.Client, string, []connect.ClientOption, error) {
	cfg := o.Config
	if cfg.Addr.Text == "" {
		return nil, "", nil, &exit.Failure{Code: exit.Usage, What: "no cluster is configured",
			Hint: "`gram dev` starts one here; --addr, GRAM_ADDR or a context names another."}
	}
	token, warning, err := cfg.Secret()
	if err != nil {
		return nil, "", nil, &exit.Failure{Code: exit.Denied, What: err.Error()}
	}
	if warning != "" {
		o.Warn(warning)
	}
	tlsConfig, err := o.tls()
	if err != nil {
		return nil, "", nil, err
	}
	credential := Fixed(token)
	if cfg.TokenFile.Text != "" {
		credential = InFile(cfg.TokenFile.Text, token)
	}
	hosts, limit := cfg.Hosts(), 10*time.Second
	if len(hosts) > 1 {
		limit = reachLimit
	}
	transport := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: limit}).DialContext,
		TLSClientConfig:     tlsConfig,
		ForceAttemptHTTP2:   true,
		TLSHandshakeTimeout: limit,
		// A peer that is gone without a word is noticed by its silence.
		HTTP2: &http.HTTP2Config{SendPingTimeout: limit, PingTimeout: limit},
	}
	options := []connect.ClientOption{connect.WithInterceptors(credential)}
	if len(hosts) == 1 {
		return &http.Client{Transport: transport}, cfg.Addr.Text, options, nil
	}
	return &http.Client{Transport: &failover{next: transport, hosts: hosts}}, "https://" + hosts[0], options, nil
}

// tls trusts the cluster's authority and presents the certificate, if there is one.
func (o Options) tls() (*tls.Config, error) {
	config, err := Trust(o.Config.CACert)
	if err != nil {
		return nil, &exit.Failure{Code: exit.Usage, What: err.Error()}
	}
	if o.Cert == "" && o.Key == "" {
		return config, nil
	}
	pair, err := loadClientCertificate(o.Cert, o.Key)
	if err != nil {
		return nil, &exit.Failure{Code: exit.Usage, What: err.Error(),
			Hint: "--cert and --key go together; `gram pki issue --role worker` makes them."}
	}
	config.GetClientCertificate = pair.show
	return config, nil
}

// Explain turns the error of a call into a failure that names the cluster.
func (c *Cluster) Explain(err error) error {
	if err == nil {
		return nil
	}
	return exit.OfCall(c.Addr, err)
}

func (c *Cluster) get(ctx context.Context, id string) (*gramv1.Job, error) {
	res, err := c.Jobs.Get(ctx, connect.NewRequest(&gramv1.GetRequest{Id: id}))
	if err != nil {
		return nil, c.Explain(err)
	}
	return res.Msg.GetJob(), nil
}

// Find reads the job that a reference names: an id, SCHEDULE@latest or @ALIAS. The coordinator knows
// what it means.
func (c *Cluster) Find(ctx context.Context, reference string) (*gramv1.Job, error) {
	job, err := c.get(ctx, reference)
	if f := (*exit.Failure)(nil); errors.As(err, &f) && f.Code == exit.NotFound {
		if schedule, latest := strings.CutSuffix(reference, protocol.LatestOf); latest &&
			!strings.HasPrefix(f.What, "no schedule ") {
			f.Hint = "`gram schedule show " + schedule + "` tells what became of its ticks."
		} else if strings.HasPrefix(reference, "@") {
			f.Hint = "`gram model alias list` shows the names that there are."
		}
	}
	return job, err
}

// ID is the id of the job that a reference names; an id passes as it is.
func (c *Cluster) ID(ctx context.Context, reference string) (string, error) {
	if !strings.Contains(reference, "@") {
		return reference, nil
	}
	job, err := c.Find(ctx, reference)
	return job.GetId(), err
}

// Cancel asks a job to end; an ended job stays as it is.
func (c *Cluster) Cancel(ctx context.Context, id string) (*gramv1.Job, error) {
	res, err := c.Jobs.Cancel(ctx, connect.NewRequest(&gramv1.CancelRequest{Id: id}))
	if err != nil {
		return nil, c.Explain(err)
	}
	return res.Msg.GetJob(), nil
}

// Submit hands a job in; repeated, it is the same job.
func (c *Cluster) Submit(ctx context.Context, id, spec string) (*gramv1.SubmitResponse, error) {
	res, err := c.Jobs.Submit(ctx, connect.NewRequest(&gramv1.SubmitRequest{Id: id, SpecJson: spec}))
	if err != nil {
		return nil, c.Explain(err)
	}
	return res.Msg, nil
}

// passing reports whether the same call may succeed later. What a server that goes
// down or is not the leader answers counts, and so does every broken stream.
func passing(err error) bool {
	var untrusted *tls.CertificateVerificationError
	if errors.As(err, &untrusted) {
		return false
	}
	var refused *connect.Error
	if errors.As(err, &refused) && exit.NoAnswer(refused) {
		return true
	}
	switch connect.CodeOf(err) {
	case connect.CodeNotFound, connect.CodeInvalidArgument, connect.CodeUnauthenticated, connect.CodePermissionDenied,
		connect.CodeAlreadyExists, connect.CodeResourceExhausted, connect.CodeFailedPrecondition,
		connect.CodeUnimplemented:
		return false
	}
	return true
}

// List turns the pages of what is asked for until there are limit jobs; more tells that there are others.
func (c *Cluster) List(ctx context.Context, limit int, ask *gramv1.ListRequest) (jobs []*gramv1.Job, more bool,
	err error) {
	for {
		ask.Limit = uint32(min(limit-len(jobs), 1000))
		res, err := c.Jobs.List(ctx, connect.NewRequest(ask))
		if err != nil {
			return nil, false, c.Explain(err)
		}
		jobs = append(jobs, res.Msg.GetJobs()...)
		ask.PageToken = res.Msg.GetNextPageToken()
		if ask.PageToken == "" || len(jobs) >= limit {
			return jobs, ask.PageToken != "", nil
		}
	}
}

// EachJob turns the pages of all jobs, newest first, until yield has enough.
func (c *Cluster) EachJob(ctx context.Context, yield func(*gramv1.Job) bool) error {
	req := &gramv1.ListRequest{Limit: 1000}
	for {
		res, err := c.Jobs.List(ctx, connect.NewRequest(req))
		if err != nil {
			return c.Explain(err)
		}
		for _, job := range res.Msg.GetJobs() {
			if !yield(job) {
				return nil
			}
		}
		if req.PageToken = res.Msg.GetNextPageToken(); req.PageToken == "" {
			return nil
		}
	}
}
