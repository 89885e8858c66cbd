package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/spf13/cobra"
)

func (a *app) logsCommand() *cobra.Command {
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
				return &failure{code: exitUsage, what: "--store and --follow exclude each other"}
			}
			if store != "" {
				return a.leftLogs(cmd.Context(), store, args[0])
			}
			c, err := a.connect()
			if err != nil {
				return err
			}
			id, err := c.idOf(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.logs(cmd.Context(), c, id, follow)
		},
	}
	cmd.Flags().StringVar(&store, "store", "", storeUsage)
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "stay until the job has ended")
	return cmd
}

// logs prints the lines. A lost stream goes on after the last line printed.
func (a *app) logs(ctx context.Context, c *cluster, id string, follow bool) error {
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
	l := &link{patience: a.patience, pause: a.pause, note: func(text string) { a.note("gram: %s", text) }}
	cursor := ""
	return l.keep(ctx, func(ctx context.Context) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		stream, err := c.jobs.Logs(ctx, connect.NewRequest(&gramv1.LogsRequest{Id: id, Follow: follow, Cursor: cursor}))
		if err != nil {
			return c.explain(err)
		}
		defer stream.Close()
		for stream.Receive() {
			l.up()
			for _, line := range stream.Msg().GetLines() {
				if a.flags.output != "json" {
					line = logLine(line, palette)
				} else {
					line = string(terminal.JSON([]byte(line)))
				}
				if _, err := fmt.Fprintln(a.out, line); err != nil {
					return &failure{code: exitFailed, what: "write to stdout", why: err}
				}
			}
			cursor = stream.Msg().GetCursor()
		}
		return c.explain(stream.Err())
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
