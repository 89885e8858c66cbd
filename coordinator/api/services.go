package api

import (
	"net/http"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/protocol/gramv1/gramv1connect"
)

// Services are all that clients and workers may call.
type Services struct {
	Jobs      *Jobs
	Compares  *Compares
	Models    *Models
	Schedules *Schedules
	Tokens    *Tokens
	Clusters  *Clusters
	Upkeep    *Upkeep
	Workers   *Workers
}

// Handler serves them. Workers wait for their leases, so that those are not compressed: the options of workers come on
// top of the others.
func (s Services) Handler(options, workers connect.HandlerOption) http.Handler {
	mux := http.NewServeMux()
	mux.Handle(gramv1connect.NewJobServiceHandler(s.Jobs, options))
	mux.Handle(gramv1connect.NewCompareServiceHandler(s.Compares, options))
	mux.Handle(gramv1connect.NewWorkerServiceHandler(s.Workers, options, workers))
	mux.Handle(gramv1connect.NewClusterServiceHandler(s.Clusters, options))
	mux.Handle(gramv1connect.NewScheduleServiceHandler(s.Schedules, options))
	mux.Handle(gramv1connect.NewModelServiceHandler(s.Models, options))
	mux.Handle(gramv1connect.NewUpkeepServiceHandler(s.Upkeep, options))
	mux.Handle(gramv1connect.NewTokenServiceHandler(s.Tokens, options))
	return mux
}
