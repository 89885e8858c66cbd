package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"connectrpc.com/connect"
	"github.com/gram-compute/gram/cmd/gram/internal/client"
	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/cmd/gram/internal/show"
	"github.com/gram-compute/gram/cmd/gram/internal/specfile"
	"github.com/gram-compute/gram/coordinator/schedule"
	"github.com/gram-compute/gram/coordinator/state"
	"github.com/gram-compute/gram/jobs/all"
	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/protocol/gramv1"
	"github.com/spf13/cobra"
)

func scheduleCreateCommand(a *app) *cobra.Command {
	var from specFlags
	var id string
	var replace bool
	cmd := &cobra.Command{
		Use:   "create -f FILE",
		Short: "Make a schedule of a spec with a section schedule; prints its id",
		Example: `  gram schedule create -f examples/nightly.yaml
  gram schedule create -f nightly.yaml --id nightly --set schedule.time_zone=UTC
  gram schedule create -f nightly.yaml --replace`,
		Long: `The section schedule says when: cron (five fields), and if they are not the
defaults time_zone (UTC), overlap (allow, forbid, replace, queue; forbid),
catch_up (none, latest, all or {mode: all, max: N}; latest), start_deadline
and jitter (such as 6h). URIs of the spec may hold {{tick}} and
{{previous_tick}}, and with a form {{tick:%Y-%m-%d}}.
Creating is safe to repeat: the same definition under the same id is the same
schedule. Another one is a conflict (exit code 5) without --replace.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := loadSchedule(a, from, id)
			if err != nil {
				return err
			}
			c, err := a.connect()
			if err != nil {
				return err
			}
			return createSchedule(cmd.Context(), a, c, &gramv1.CreateScheduleRequest{Definition: d, Replace: replace})
		},
	}
	from.add(cmd)
	cmd.Flags().StringVar(&id, "id", "", "`id` of the schedule: a-z, 0-9 and -, at most 40 (default made of the name)")
	cmd.Flags().BoolVar(&replace, "replace", false,
		"change the schedule of this id; its ticks go on after the last decided")
	return cmd
}

func createSchedule(ctx context.Context, a *app, c *client.Cluster, req *gramv1.CreateScheduleRequest) error {
	var answer *gramv1.CreateScheduleResponse
	err := decide(ctx, a, c, func(ctx context.Context) error {
		res, err := c.Schedules.CreateSchedule(ctx, connect.NewRequest(req))
		if err == nil {
			answer = res.Msg
		}
		return err
	})
	if err != nil {
		return err
	}
	id := answer.GetSchedule().GetDefinition().GetId()
	if !answer.GetCreated() && !req.GetReplace() {
		a.note("gram: schedule %s was there already, as it is defined here", id)
	}
	if a.flags.output == "json" {
		return a.printJSON(struct {
			SchemaVersion int           `json:"schema_version"`
			Created       bool          `json:"created"`
			Schedule      show.Schedule `json:"schedule"`
		}{show.SchemaVersion, answer.GetCreated(), show.OfSchedule(answer.GetSchedule())})
	}
	_, err = a.out.Write([]byte(id + "\n"))
	return err
}

// loadSchedule reads a spec with its schedule and checks both, as the coordinator does again.
func loadSchedule(a *app, from specFlags, id string) (*gramv1.ScheduleDefinition, error) {
	spec, section, err := specfile.LoadSchedule(specfile.Source{Path: from.file, Stdin: a.in, Sets: from.sets,
		Params: all.Params})
	if err != nil {
		return nil, exit.AsUsage(err)
	}
	d, err := definitionOf(section)
	if err != nil {
		return nil, err
	}
	if d.Id = id; id == "" {
		d.Id = scheduleID(spec)
	}
	if !state.ValidScheduleID(d.Id) {
		return nil, &exit.Failure{Code: exit.Usage,
			What: fmt.Sprintf("schedule id %q: use 1 to 40 of a-z, 0-9 and -, not beginning with -", d.Id),
			Hint: "--id names one."}
	}
	table, _, err := timetable(d.GetCron(), d.GetTimeZone())
	if err != nil {
		return nil, err
	}
	if spec, err = spec.WithTickDefaults(table.Tick(table.Next(a.now())), all.Validate); err != nil {
		return nil, exit.AsUsage(err)
	}
	canonical, err := spec.Canonical()
	d.SpecJson = string(canonical)
	return d, err
}

// scheduleID makes an id out of the spec's name, the same each time.
func scheduleID(spec protocol.JobSpec) string {
	name := protocol.SpelledAsID(spec.Metadata.Name, spec.Kind)
	return strings.Trim(name[:min(len(name), 40)], "-")
}

// definitionOf turns the section's words into the protocol's.
func definitionOf(s specfile.Schedule) (*gramv1.ScheduleDefinition, error) {
	d := &gramv1.ScheduleDefinition{
		Cron: s.Cron, TimeZone: s.TimeZone, CatchUpMax: s.CatchUp.Max,
		StartDeadlineMs: time.Duration(s.StartDeadline).Milliseconds(),
		JitterMs:        time.Duration(s.Jitter).Milliseconds(),
	}
	overlap, err := enumOf("schedule.overlap", s.Overlap, "SCHEDULE_OVERLAP_", gramv1.ScheduleOverlap_value)
	if err != nil {
		return nil, err
	}
	catchUp, err := enumOf("schedule.catch_up", s.CatchUp.Mode, "CATCH_UP_", gramv1.CatchUp_value)
	if err != nil {
		return nil, err
	}
	d.Overlap, d.CatchUp = gramv1.ScheduleOverlap(overlap), gramv1.CatchUp(catchUp)
	schedule.WithDefaults(d)
	return d, nil
}

// enumOf finds an enum's value by the word that people write; "" is not specified.
func enumOf(field, word, prefix string, values map[string]int32) (int32, error) {
	if word == "" {
		return 0, nil
	}
	known := make([]string, len(values)-1)
	for name, value := range values {
		if value > 0 {
			known[value-1] = strings.ToLower(strings.TrimPrefix(name, prefix))
		}
	}
	for i, name := range known {
		if name == word {
			return int32(i + 1), nil
		}
	}
	return 0, &exit.Failure{Code: exit.Usage,
		What: fmt.Sprintf("%s is %q; known: %s", field, word, strings.Join(known, ", "))}
}

// timetable reads a cron expression in a zone.
func timetable(cron, zoneName string) (schedule.Timetable, *time.Location, error) {
	if zoneName == "" {
		zoneName = schedule.DefaultZone
	}
	zone, err := time.LoadLocation(zoneName)
	if err != nil || zoneName == "Local" {
		return schedule.Timetable{}, nil, &exit.Failure{Code: exit.Usage, What: fmt.Sprintf("unknown time zone %.64q",
			zoneName), Hint: "Give an IANA name such as Europe/Berlin, or UTC."}
	}
	table, err := schedule.ParseCron(cron, zone)
	if err != nil {
		return table, nil, &exit.Failure{Code: exit.Usage, What: err.Error(), Cause: err}
	}
	return table, zone, nil
}
