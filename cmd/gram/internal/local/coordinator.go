package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/coordinator"
	"github.com/gram-compute/gram/coordinator/node"
)

// CAPath is the authority's certificate, in the data directory.
var CAPath = filepath.Join("pki", coordinator.CAFile)

// standardOutput stays open.
type standardOutput struct{ io.Writer }

// Close implements io.Closer.
func (standardOutput) Close() error { return nil }

// minLeaseTTL is still several heartbeats on an idle machine.
const minLeaseTTL = 100 * time.Millisecond

// PrepareData makes the data directory and fills in what follows from it.
func PrepareData(cfg *coordinator.Config, stdout io.Writer) error {
	if cfg.Schedule.LeaseTTL < minLeaseTTL {
		return &exit.Failure{Code: exit.Usage, What: fmt.Sprintf("--lease-ttl is at least %s", minLeaseTTL)}
	}
	data, err := filepath.Abs(cfg.DataDir)
	if err != nil {
		return err
	}
	cfg.DataDir = data
	if cfg.Restore != "" {
		if _, err := os.Stat(filepath.Join(data, node.ClusterIDFile)); err == nil {
			return &exit.Failure{Code: exit.Usage,
				What: "--restore needs an empty data directory, and a cluster lives in " + data,
				Hint: "Leave --restore out to go on with it."}
		}
	}
	if err := os.MkdirAll(data, 0o700); err != nil { // before the store makes it for all to read
		return fmt.Errorf("make data directory: %w", err)
	}
	if cfg.Audit == "-" {
		cfg.AuditTo = standardOutput{stdout}
	}
	if cfg.StoreURI == "" {
		cfg.StoreURI = filepath.Join(data, "store")
	}
	return nil
}

// Serve runs a coordinator until ctx ends or it fails; ready is called once it leads.
func Serve(ctx context.Context, cfg coordinator.Config, ready func(*coordinator.Coordinator) error) error {
	c, err := coordinator.Start(ctx, cfg)
	if err != nil {
		return err
	}
	failed := ready(c)
	if failed == nil {
		select {
		case <-ctx.Done():
		case failed = <-c.Failed():
			// A log store that hangs would hang Shutdown too: say why, and go.
			return &exit.Failure{Code: exit.Of(failed).Code, What: "the coordinator stopped itself", Why: failed}
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	return errors.Join(failed, c.Shutdown(ctx))
}
