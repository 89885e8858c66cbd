package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/cmd/gram/internal/client"
	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/objects"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/spf13/cobra"
)

func logsCommand(a *app) *cobra.Command {
	var follow bool
	var store string
	cmd := &cobra.Command{
		Use:   "logs JOB",
		Short: "Print a job's log",
		Example: `  gram logs glosses-k3f9p2
  gram logs -f glosses-k3f9p2
  gram logs news@latest
  gram logs glosses-k3f9p2 --store s3://gram-jobs
  gram logs glosses-k3f9p2 -o json | jq -r '[.event, .message] | @tsv'`,
		Long: `With -o json each line is an object as it was stored. With --store the lines are
read from the cluster's store, whether or not there is a cluster; credentials
for S3 come from the environment.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if store != "" && follow {
				return &exit.Failure{Code: exit.Usage, What: "--store and --follow exclude each other"}
			}
			if store != "" {
				return leftLogs(cmd.Context(), a, store, args[0])
			}
			c, err := a.connect()
			if err != nil {
				return err
			}
			id, err := c.ID(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return logs(cmd.Context(), a, c, id, follow)
		},
	}
	cmd.Flags().StringVar(&store, "store", "", storeUsage)
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "stay until the job has ended")
	return cmd
}

// logs prints the lines. A lost stream goes on after the last line printed.
func logs(ctx context.Context, a *app, c *client.Cluster, id string, follow bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer a.catch()()
	stop := make(chan struct{})
	defer close(stop)
	go func() { // ends with this function, or with the command
		select {
		case <-a.interrupts:
			cancel()
		case <-stop:
		}
	}()
	palette := a.palette(a.out)
	l := a.link()
	cursor := ""
	return l.Keep(ctx, func(ctx context.Context) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		stream, err := c.Jobs.Logs(ctx, connect.NewRequest(&gramv1.LogsRequest{Id: id, Follow: follow, Cursor: cursor}))
		if err != nil {
			return c.Explain(err)
		}
		defer stream.Close()
		for stream.Receive() {
			l.Up()
			for _, line := range stream.Msg().GetLines() {
				if a.flags.output != "json" {
					line = logLine(line, palette)
				} else {
					line = string(terminal.JSON([]byte(line)))
				}
				if _, err := fmt.Fprintln(a.out, line); err != nil {
					return &exit.Failure{Code: exit.Failed, What: "write to stdout", Why: err}
				}
			}
			cursor = stream.Msg().GetCursor()
		}
		return c.Explain(stream.Err())
	})
}

// logLine writes a stored line for people: time, level, message, then the other
// fields by name. What is no JSON object is shown as it is.
func logLine(line string, palette terminal.Palette) string {
	fields := map[string]any{}
	dec := json.NewDecoder(strings.NewReader(line))
	dec.UseNumber()
	if err := dec.Decode(&fields); err != nil {
		return terminal.Clean(line)
	}
	take := func(name string) string {
		value, ok := fields[name]
		delete(fields, name)
		if !ok {
			return ""
		}
		return terminal.Clean(fmt.Sprint(value))
	}
	when, level := take("time"), strings.ToUpper(take("level"))
	if _, clock, ok := strings.Cut(when, "T"); ok {
		when = clock
	}
	switch level {
	case "ERROR":
		level = palette.Bad(level)
	case "WARN":
		level = palette.Notice(level)
	}
	text := []string{palette.Faint(when), level, take("event"), take("message")}
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		text = append(text, palette.Faint(terminal.Clean(name)+"=")+take(name))
	}
	return strings.Join(slices.DeleteFunc(text, func(s string) bool { return s == "" }), " ")
}

// leftLogs prints the log segments of a job in a store.
func leftLogs(ctx context.Context, a *app, uri, job string) error {
	store, err := objects.OpenLeft(ctx, a.storeURI(uri), job)
	if err != nil {
		return err
	}
	found, palette := false, a.palette(a.out)
	for info, err := range store.List(ctx, protocol.LogPrefix(job)) {
		if err != nil {
			return fmt.Errorf("list log segments: %w", err)
		}
		found = true
		text, err := objects.ReadKey(ctx, store, info.Key, objects.MaxSegmentBytes, "")
		if err != nil {
			return err
		}
		for line := range strings.Lines(strings.ToValidUTF8(string(text), "\ufffd")) {
			if line = strings.TrimRight(line, "\n"); a.flags.output != "json" {
				line = logLine(line, palette)
			} else {
				line = string(terminal.JSON([]byte(line)))
			}
			if _, err := fmt.Fprintln(a.out, line); err != nil {
				return &exit.Failure{Code: exit.Failed, What: "write to stdout", Why: err}
			}
		}
	}
	if !found {
		return &exit.Failure{Code: exit.NotFound, What: fmt.Sprintf("%s holds no log of job %s", store, job)}
	}
	return nil
}
