package specfile_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gram-compute/gram/cmd/gram/internal/specfile"
	"github.com/gram-compute/gram/protocol"
)

func loadSchedule(text string, sets ...string) (protocol.JobSpec, specfile.Schedule, error) {
	return specfile.LoadSchedule(specfile.Source{Path: "-", Stdin: strings.NewReader(text), Sets: sets})
}

const job = "{apiVersion: v1, kind: K, spec: {input: {uri: 's3://b/{{tick:%Y}}/', format: tsv}}, schedule: "

func TestLoadSchedule(t *testing.T) {
	for section, want := range map[string]specfile.Schedule{
		`{cron: "0 2 * * *"}`: {Cron: "0 2 * * *"},
		`{cron: "0 2 * * *", time_zone: UTC, overlap: allow, catch_up: none, start_deadline: 90m, jitter: 1.5s}`: {
			Cron: "0 2 * * *", TimeZone: "UTC", Overlap: "allow", CatchUp: specfile.CatchUp{Mode: "none"},
			StartDeadline: specfile.Duration(90 * time.Minute), Jitter: specfile.Duration(1500 * time.Millisecond),
		},
		`{cron: "*/5 * * * *", catch_up: {mode: all, max: 7}}`: {Cron: "*/5 * * * *",
			CatchUp: specfile.CatchUp{Mode: "all", Max: 7}},
	} {
		spec, got, err := loadSchedule(job + section + "}")
		if err != nil || got != want {
			t.Errorf("%s: %+v (%v), want %+v", section, got, err, want)
		}
		if spec.Kind != "K" || spec.Spec.Input.URI != "s3://b/{{tick:%Y}}/" {
			t.Errorf("%s: the spec beside it is %+v", section, spec)
		}
	}
	_, got, err := loadSchedule(job+`{cron: "0 2 * * *"}}`, "schedule.cron=1 2 * * *", "schedule.catch_up.mode=all")
	if err != nil || got.Cron != "1 2 * * *" || got.CatchUp.Mode != "all" {
		t.Errorf("with --set: %+v (%v)", got, err)
	}
}

func TestLoadScheduleRefuses(t *testing.T) {
	for section, says := range map[string]string{
		`{corn: x}`:                   `did you mean "cron"?`,
		`[]`:                          "",
		`{cron: 5}`:                   `field "schedule.cron" wants a string`,
		`{catch_up: {mode: x, n: 1}}`: "catch_up is a word",
		`{jitter: 5}`:                 "90s",
		`{jitter: 5 minutes}`:         "90s",
		`{jitter: -5m}`:               "90s",
		`{jitter: 5us}`:               "90s",
	} {
		_, _, err := loadSchedule(job + section + "}")
		var fault *protocol.Fault
		if !errors.As(err, &fault) || fault.Code != protocol.CodeSpecInvalid || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q in it", section, err, says)
		}
	}
	if _, err := specfile.Load(specfile.Source{Path: "-", Stdin: strings.NewReader(job + "{}}")}); err == nil ||
		!strings.Contains(err.Error(), "schedule create") {
		t.Errorf("a schedule's file is taken for a job: %v", err)
	}
}

// Whatever the file holds, reading it ends with a schedule or a fault.
func FuzzLoadSchedule(f *testing.F) {
	for _, seed := range []string{job + `{cron: "0 2 * * *", catch_up: {mode: all, max: 7}}}`, "{schedule: 1}", "[]",
		"null", `{"schedule":{"jitter":"1h"}}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, s, err := loadSchedule(text)
		var fault *protocol.Fault
		if err != nil && !errors.As(err, &fault) {
			t.Fatalf("%q: %v is no fault", text, err)
		}
		if err == nil && (s.Jitter < 0 || s.StartDeadline < 0) {
			t.Fatalf("%q: %+v", text, s)
		}
	})
}
