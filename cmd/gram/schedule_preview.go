package main

import (
	"context"
	"fmt"
	"time"

	"github.com/gram-compute/gram/coordinator/schedule"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/cmd/gram/internal/client"
	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/show"
	"github.com/gram-compute/gram/cmd/gram/internal/terminal"
	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/spf13/cobra"
)

const maxPreview = 1000

func schedulePreviewCommand(a *app) *cobra.Command {
	var from specFlags
	var cron, zone, begin string
	var count int
	cmd := &cobra.Command{
		Use:   "preview [ID]",
		Short: "Print the next ticks, of a file or an expression without a cluster",
		Example: `  gram schedule preview -f examples/nightly.yaml
  gram schedule preview --cron '30 2 * * *' --zone Europe/Berlin -n 3
  gram schedule preview nightly-topics`,
		Long: `Ticks are instants; beside them stands what a clock in the schedule's zone
shows. A reading that the clock skips has no tick, one that it shows twice has
the first. -o json adds the URI that a tick's job reads.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			after, err := a.instant("--from", begin)
			if err != nil {
				return err
			}
			if count < 1 || count > maxPreview {
				return &exit.Failure{Code: exit.Usage, What: fmt.Sprintf("-n is 1 to %d", maxPreview)}
			}
			d, err := previewed(cmd.Context(), a, args, from, cron, zone)
			if err != nil {
				return err
			}
			return preview(a, d, after, count)
		},
	}
	set := cmd.Flags()
	set.StringVarP(&from.file, "file", "f", "", "spec `file` with a section schedule; - reads stdin")
	set.StringArrayVar(&from.sets, "set", nil, "set a field of the file: `field.field=value`; may be repeated")
	set.StringVar(&cron, "cron", "", "cron `expression` instead of a file")
	set.StringVar(&zone, "zone", schedule.DefaultZone, "with --cron: IANA `name` of a time zone")
	set.StringVar(&begin, "from", "",
		"ticks from this `instant` on, such as 2026-11-21 or 2026-11-21T02:15:00Z (default now)")
	set.IntVarP(&count, "count", "n", 10, "this `many` ticks")
	return cmd
}

// previewed is the schedule of one of: an id, a file, an expression.
func previewed(ctx context.Context, a *app, ids []string, from specFlags, cron,
	zone string) (*gramv1.ScheduleDefinition, error) {
	given := len(ids)
	for _, word := range []string{from.file, cron} {
		if word != "" {
			given++
		}
	}
	switch {
	case given != 1:
		return nil, &exit.Failure{Code: exit.Usage, What: "name one schedule: by id, by -f FILE or by --cron"}
	case from.file != "":
		return loadSchedule(a, from, "preview")
	case cron != "":
		return &gramv1.ScheduleDefinition{Cron: cron, TimeZone: zone}, nil
	}
	c, err := a.connect()
	if err != nil {
		return nil, err
	}
	sched, err := getSchedule(ctx, a, c, ids[0], 0)
	return sched.GetDefinition(), err
}

func getSchedule(ctx context.Context, a *app, c *client.Cluster, id string, next int) (*gramv1.Schedule, error) {
	res, err := c.Schedules.GetSchedule(ctx, connect.NewRequest(&gramv1.GetScheduleRequest{Id: id, Next: uint32(next)}))
	if err != nil {
		return nil, explainSchedule(c, err)
	}
	return res.Msg.GetSchedule(), nil
}

type tickView struct {
	Tick  string `json:"tick"`
	Local string `json:"local"`
	Input string `json:"input,omitempty"`
}

func preview(a *app, d *gramv1.ScheduleDefinition, after time.Time, count int) error {
	table, zone, err := timetable(d.GetCron(), d.GetTimeZone())
	if err != nil {
		return err
	}
	ticks := []tickView{}
	var rows terminal.Table
	rows.Row("TICK", zone.String())
	for at := table.Next(after.Add(-time.Nanosecond)); !at.IsZero() && len(ticks) < count; at = table.Next(at) {
		view := tickView{Tick: show.Timestamp(at.UnixMilli()), Local: at.In(zone).Format(time.RFC3339)}
		if d.GetSpecJson() != "" {
			spec, err := protocol.ParseSpec([]byte(d.GetSpecJson()))
			if err == nil {
				spec, err = spec.ForTick(table.Tick(at))
			}
			if err != nil {
				return exit.AsUsage(err)
			}
			view.Input = spec.Spec.Input.URI
		}
		ticks = append(ticks, view)
		rows.Row(at.UTC().Format(time.RFC3339), at.In(zone).Format("Mon 2006-01-02 15:04 -07:00"))
	}
	if a.flags.output == "json" {
		return a.printJSON(struct {
			SchemaVersion int        `json:"schema_version"`
			Cron          string     `json:"cron"`
			TimeZone      string     `json:"time_zone"`
			Ticks         []tickView `json:"ticks"`
		}{show.SchemaVersion, d.GetCron(), zone.String(), ticks})
	}
	rows.Write(a.out)
	return nil
}
