package report

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html"
	"html/template"
	"strings"

	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/protocol"
	"github.com/gram-compute/gram/report/style"
)

// Page is what the HTML page of a finished job shows.
type Page struct {
	Job, Name, Kind string
	ModelSHA256     string
	Seconds         float64
	Rounds          []Round
	Metrics         []jobs.Metric
	Figures         []jobs.Figure
	Timeline        *Timeline   // nil: nobody saw one
	Audits          *Audits     // nil: not known
	Facts           [][2]string // further lines of the summary, such as seed and input
}

// Round is a finished round.
type Round struct {
	Number  uint32
	Phase   string
	Leaves  uint64
	Seconds float64
}

//go:embed page.html
var pageSource string

// styleSource is the sheet inside a page, which fetches nothing.
var styleSource = `{{define "style"}}<style>` + "\n" + style.CSS + `</style>{{end}}`

var templateFuncs = template.FuncMap{
	"clock":   style.Clock,
	"value":   metricText,
	"numeric": numericColumns,
	"cell":    cellClass,
	"dotted":  dotted,
	"s":       pluralEnd,
}

var pageTemplate = template.Must(template.New("page").Funcs(templateFuncs).Parse(pageSource + styleSource))

// drawn is a figure ready for the page.
type drawn struct {
	jobs.Figure
	SVG template.HTML
}

// HTML writes the page. A figure that cannot be drawn (a picture whose width does not
// divide its values, a chart whose axes differ in length, a row without a cell for each column) is an error.
func HTML(p Page) ([]byte, error) {
	figures := make([]drawn, len(p.Figures))
	for i, f := range p.Figures {
		picture, err := draw(f)
		if err != nil {
			return nil, fmt.Errorf("report: figure %q: %w", f.Title, err)
		}
		if err := checkTable(f.Table); err != nil {
			return nil, fmt.Errorf("report: figure %q: %w", f.Title, err)
		}
		figures[i] = drawn{f, template.HTML(picture)} // our own SVG, its texts escaped
	}
	var out bytes.Buffer
	gone := template.HTML("")
	if p.Timeline != nil {
		gone = Gantt(p.Timeline)
	}
	err := pageTemplate.Execute(&out, struct {
		Page
		Figures []drawn
		Gantt   template.HTML
	}{p, figures, gone})
	return []byte(protocol.VisibleLines(out.String())), err // labels may hold what steers a page, such as U+202E
}

// pluralEnd is what a noun ends with after a number.
func pluralEnd(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// dotted lets a name break behind its dots. It ends the element, so that the page nests as XML does.
func dotted(name string) template.HTML {
	return template.HTML(strings.ReplaceAll(escape(name), ".", ".<wbr/>")) // escaped
}

func escape(text string) string { return html.EscapeString(text) }

// maxMetricText bounds what the page shows of one metric.
const maxMetricText = 160

func metricText(raw json.RawMessage) string {
	text := strings.TrimSpace(string(raw))
	var plain string
	if json.Unmarshal(raw, &plain) == nil {
		return shorten(plain, maxMetricText)
	}
	if len(text) > maxMetricText {
		return fmt.Sprintf("%d bytes, in report.json", len(text))
	}
	return text
}
