package protocol

import (
	"fmt"
	"strings"
	"time"
)

// Tick is the nominal time of a scheduled job: the instant it is for, and the one before it.
// What came between them is the job's data, where it takes the data of an interval.
type Tick struct {
	At, Previous time.Time // their location is the schedule's zone
}

// NamedURI is a field of a spec that holds a URI.
type NamedURI struct {
	Field string
	URI   *string
}

// URIs lists the spec's fields that hold a URI, the empty ones too.
func (s *JobSpec) URIs() []NamedURI {
	uris := []NamedURI{
		{"spec.input.uri", &s.Spec.Input.URI}, {"spec.input.labels_uri", &s.Spec.Input.LabelsURI},
		{"spec.input.ids_uri", &s.Spec.Input.IDsURI},
		{"spec.output.uri", &s.Spec.Output.URI}, {"spec.model", &s.Spec.Model},
	}
	if q := s.Spec.Queries; q != nil {
		uris = append(uris, NamedURI{"spec.queries.uri", &q.URI}, NamedURI{"spec.queries.labels_uri", &q.LabelsURI},
			NamedURI{"spec.queries.ids_uri", &q.IDsURI})
	}
	return uris
}

// ForTick returns the spec with the placeholders of its URIs filled in; the same tick gives
// the same bytes everywhere.
//
// A placeholder is {{tick}} or {{previous_tick}}, which give UTC as 20261121T011500Z. After a colon
// stands another form, {{tick:%Y/%m/%d}}, with the directives of POSIX's date: %Y %m %d %H %M %S %j,
// %G and %V (ISO 8601's year and week) and %%. It speaks of the schedule's zone; with .utc, as in
// {{tick.utc:%H}}, of UTC.
func (s JobSpec) ForTick(tick Tick) (JobSpec, error) {
	if q := s.Spec.Queries; q != nil {
		queries := *q
		s.Spec.Queries = &queries
	}
	for _, named := range s.URIs() {
		filled, err := fillTick(*named.URI, tick)
		if err != nil {
			return s, SpecFault("%s: %v", named.Field, err)
		}
		*named.URI = filled
	}
	return s, nil
}

// WithTickDefaults validates the spec as it is for a tick, and returns it with the defaults
// that validate writes in and with its placeholders.
func (s JobSpec) WithTickDefaults(tick Tick, validate func(JobSpec) (JobSpec, error)) (JobSpec, error) {
	filled, err := s.ForTick(tick)
	if err == nil {
		filled, err = validate(filled)
	}
	if err != nil {
		return filled, err
	}
	templates := s.URIs()
	for i, named := range filled.URIs() {
		*named.URI = *templates[i].URI
	}
	return filled, nil
}

func fillTick(uri string, tick Tick) (string, error) {
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(uri, "{{")
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		inner, after, closed := strings.Cut(rest, "}}")
		if !closed {
			return "", fmt.Errorf("{{%.40s is not closed with }}", rest)
		}
		text, err := tick.placeholder(strings.TrimSpace(inner))
		if err != nil {
			return "", err
		}
		out.WriteString(text)
		uri = after
	}
}

func (tick Tick) placeholder(text string) (string, error) {
	name, format, formatted := strings.Cut(text, ":")
	name, inUTC := strings.CutSuffix(strings.TrimSpace(name), ".utc")
	known := map[string]time.Time{"tick": tick.At, "previous_tick": tick.Previous}
	at, ok := known[name]
	switch {
	case !ok:
		return "", fmt.Errorf("{{%.40s}} is no placeholder; known: {{tick}}, {{previous_tick}}, such as {{tick:%%Y-%%m-%%d}} or {{tick.utc:%%H}}", text)
	case at.IsZero():
		return "", fmt.Errorf("{{%s}}: the schedule has no tick before this one", text)
	case !formatted:
		return at.UTC().Format("20060102T150405Z"), nil
	case inUTC:
		at = at.UTC()
	}
	return formatTime(at, format)
}

// formatTime writes a time with the directives that ForTick names.
func formatTime(at time.Time, format string) (string, error) {
	year, week := at.ISOWeek()
	fields := map[byte]string{
		'Y': at.Format("2006"), 'm': at.Format("01"), 'd': at.Format("02"),
		'H': at.Format("15"), 'M': at.Format("04"), 'S': at.Format("05"),
		'j': at.Format("002"), 'G': fmt.Sprintf("%04d", year), 'V': fmt.Sprintf("%02d", week), '%': "%",
	}
	var out strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			out.WriteByte(format[i])
			continue
		}
		i++
		field, ok := "", false
		if i < len(format) {
			field, ok = fields[format[i]]
		}
		if !ok {
			return "", fmt.Errorf(
				"the time format %.40q has a directive that is not known; known: %%Y %%m %%d %%H %%M %%S %%j %%G %%V %%%%", format)
		}
		out.WriteString(field)
	}
	return out.String(), nil
}

// checkFilled refuses what only a schedule can fill in.
func (s JobSpec) checkFilled() error {
	for _, named := range s.URIs() {
		if strings.Contains(*named.URI, "{{") {
			return SpecFault("%s holds a placeholder ({{...}}), which a schedule alone fills in", named.Field)
		}
	}
	return nil
}
