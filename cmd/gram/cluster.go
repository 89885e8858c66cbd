package main

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/cmd/gram/internal/endpoints"
	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

// cluster is a client's view of a cluster. Its methods return failures.
type cluster struct {
	addr     string
	jobs     gramv1connect.JobServiceClient
	services gramv1connect.ClusterServiceClient

	schedules  gramv1connect.ScheduleServiceClient
	modelCalls gramv1connect.ModelServiceClient
	upkeep     gramv1connect.UpkeepServiceClient
	tokens     gramv1connect.TokenServiceClient
}

// connect makes the clients; it sends nothing yet.
func (a *app) connect() (*cluster, error) {
	httpClient, addr, options, err := a.transport()
	if err != nil {
		return nil, err
	}
	return &cluster{
		addr:     a.flags.config.Addr.Text,
		jobs:     gramv1connect.NewJobServiceClient(httpClient, addr, options...),
		services: gramv1connect.NewClusterServiceClient(httpClient, addr, options...),

		schedules:  gramv1connect.NewScheduleServiceClient(httpClient, addr, options...),
		modelCalls: gramv1connect.NewModelServiceClient(httpClient, addr, options...),
		upkeep:     gramv1connect.NewUpkeepServiceClient(httpClient, addr, options...),
		tokens:     gramv1connect.NewTokenServiceClient(httpClient, addr, options...),
	}, nil
}

// reachLimit is how long to try one coordinator when there are others.
const reachLimit = 3 * time.Second

// transport is TLS to the configured addresses, and the token with every call.
func (a *app) transport() (*http.Client, string, []connect.ClientOption, error) {
	cfg := a.flags.config
	if cfg.Addr.Text == "" {
		return nil, "", nil, &failure{code: exitUsage, what: "no cluster is configured",
			hint: "`gram dev` starts one here; --addr, GRAM_ADDR or a context names another."}
	}
	token, warning, err := cfg.Secret()
	if err != nil {
		return nil, "", nil, &failure{code: exitDenied, what: err.Error()}
	}
	if warning != "" {
		a.note("gram: warning: %s", warning)
	}
	tlsConfig, err := trust(cfg.CACert)
	if err != nil {
		return nil, "", nil, &failure{code: exitUsage, what: err.Error()}
	}
	if a.flags.cert != "" || a.flags.key != "" {
		pair, err := loadClientCertificate(a.flags.cert, a.flags.key)
		if err != nil {
			return nil, "", nil, &failure{code: exitUsage, what: err.Error(), hint: "--cert and --key go together; `gram pki issue --role worker` makes them."}
		}
		tlsConfig.GetClientCertificate = pair.show
	}
	credential := fixed(token)
	if cfg.TokenFile.Text != "" {
		credential = inFile(cfg.TokenFile.Text, token)
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
	return &http.Client{Transport: endpoints.New(transport, hosts)}, "https://" + hosts[0], options, nil
}

func (c *cluster) explain(err error) error {
	if err == nil {
		return nil
	}
	return explainCall(c.addr, err)
}

func (c *cluster) get(ctx context.Context, id string) (*gramv1.Job, error) {
	res, err := c.jobs.Get(ctx, connect.NewRequest(&gramv1.GetRequest{Id: id}))
	if err != nil {
		return nil, c.explain(err)
	}
	return res.Msg.GetJob(), nil
}

// find reads the job that a reference names: an id, SCHEDULE@latest or @ALIAS. The coordinator knows
// what it means.
func (c *cluster) find(ctx context.Context, reference string) (*gramv1.Job, error) {
	job, err := c.get(ctx, reference)
	if f := (*failure)(nil); errors.As(err, &f) && f.code == exitNotFound {
		if schedule, latest := strings.CutSuffix(reference, protocol.LatestOf); latest && !strings.HasPrefix(f.what, "no schedule ") {
			f.hint = "`gram schedule show " + schedule + "` tells what became of its slots."
		} else if strings.HasPrefix(reference, "@") {
			f.hint = "`gram model alias list` shows the names that there are."
		}
	}
	return job, err
}

// idOf is the id of the job that a reference names; an id passes as it is.
func (c *cluster) idOf(ctx context.Context, reference string) (string, error) {
	if !strings.Contains(reference, "@") {
		return reference, nil
	}
	job, err := c.find(ctx, reference)
	return job.GetId(), err
}

func (c *cluster) cancel(ctx context.Context, id string) (*gramv1.Job, error) {
	res, err := c.jobs.Cancel(ctx, connect.NewRequest(&gramv1.CancelRequest{Id: id}))
	if err != nil {
		return nil, c.explain(err)
	}
	return res.Msg.GetJob(), nil
}

// submit hands a job in; repeated, it is the same job.
func (c *cluster) submit(ctx context.Context, id, spec string) (*gramv1.SubmitResponse, error) {
	res, err := c.jobs.Submit(ctx, connect.NewRequest(&gramv1.SubmitRequest{Id: id, SpecJson: spec}))
	if err != nil {
		return nil, c.explain(err)
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
	if errors.As(err, &refused) && lost(refused) {
		return true
	}
	switch connect.CodeOf(err) {
	case connect.CodeNotFound, connect.CodeInvalidArgument, connect.CodeUnauthenticated, connect.CodePermissionDenied,
		connect.CodeAlreadyExists, connect.CodeResourceExhausted, connect.CodeFailedPrecondition, connect.CodeUnimplemented:
		return false
	}
	return true
}
