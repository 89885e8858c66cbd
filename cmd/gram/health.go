package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/gram-compute/gram/cmd/gram/internal/client"
	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/show"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/spf13/cobra"
)

type healthView struct {
	What   string `json:"what"` // an address, or a file
	OK     bool   `json:"ok"`
	Reason string `json:"reason,omitempty"`
}

func healthCommand(a *app) *cobra.Command {
	var file string
	var within, timeout time.Duration
	cmd := &cobra.Command{
		Use:   "health",
		Short: "Ask whether a coordinator is ready, or a worker alive",
		Example: `  gram health --addr 127.0.0.1:7480 --cacert ca.pem
  gram health --file /run/gram/alive --within 60s`,
		Long: `Without --file it asks each coordinator of --addr for /readyz; no token is
needed. With --file it looks when ` + "`worker --health-file`" + ` touched the file last.
It prints ok, or the reason, and ends with 0 or 1: what probes call.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if within <= 0 || timeout <= 0 {
				return &exit.Failure{Code: exit.Usage, What: "--within and --timeout are more than 0"}
			}
			if file != "" {
				return printHealth(a, []healthView{fileHealth(a, file, within)})
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
			defer cancel()
			views, err := coordinatorHealth(ctx, a)
			if err != nil {
				return err
			}
			return printHealth(a, views)
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "`file` that a worker touches")
	cmd.Flags().DurationVar(&within, "within", time.Minute, "the longest `time` since the file was touched")
	cmd.Flags().DurationVar(&timeout, "timeout", 5*time.Second, "the longest `time` for a coordinator's answer")
	return cmd
}

func printHealth(a *app, views []healthView) error {
	sick := 0
	for _, v := range views {
		if !v.OK {
			sick++
		}
	}
	if a.flags.output == "json" {
		if err := a.printJSON(struct {
			SchemaVersion int          `json:"schema_version"`
			Checks        []healthView `json:"checks"`
		}{show.SchemaVersion, views}); err != nil {
			return err
		}
	} else {
		for _, v := range views {
			text := "ok"
			if !v.OK {
				text = v.Reason
			}
			fmt.Fprintf(a.out, "%s: %s\n", terminal.Clean(v.What), terminal.Clean(text))
		}
	}
	if sick > 0 {
		return &exit.Failure{Code: exit.Failed, What: fmt.Sprintf("%d of %d not healthy", sick, len(views))}
	}
	return nil
}

// fileHealth looks when a worker last touched its file.
func fileHealth(a *app, file string, within time.Duration) healthView {
	file = a.within(file)
	info, err := os.Stat(file)
	if err != nil {
		return healthView{What: file, Reason: fmt.Sprintf("not touched yet: %v", errors.Unwrap(err))}
	}
	if age := a.now().Sub(info.ModTime()); age > within {
		return healthView{What: file, Reason: fmt.Sprintf("not touched for %s", age.Round(time.Second))}
	}
	return healthView{What: file, OK: true}
}

// coordinatorHealth asks every configured coordinator, each for itself.
func coordinatorHealth(ctx context.Context, a *app) ([]healthView, error) {
	cfg := a.flags.config
	if cfg.Addr.Text == "" {
		return nil, &exit.Failure{Code: exit.Usage, What: "nothing to ask",
			Hint: "Name a coordinator with --addr, or a worker's file with --file."}
	}
	trusted, err := client.Trust(cfg.CACert)
	if err != nil {
		return nil, &exit.Failure{Code: exit.Usage, What: err.Error()}
	}
	transport := &http.Transport{TLSClientConfig: trusted, DialContext: (&net.Dialer{}).DialContext}
	defer transport.CloseIdleConnections()
	var views []healthView
	for _, host := range cfg.Hosts() {
		view := healthView{What: host, OK: true}
		if err := ready(ctx, &http.Client{Transport: transport}, host); err != nil {
			view.OK, view.Reason = false, err.Error()
		}
		views = append(views, view)
	}
	return views, nil
}

// ready asks one coordinator; nil means that it is.
func ready(ctx context.Context, client *http.Client, host string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+host+"/readyz", nil)
	if err != nil {
		return err
	}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 1<<10))
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s (%s)", strings.TrimSpace(string(text)), res.Status)
	}
	return nil
}
