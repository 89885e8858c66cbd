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

// Page is what the HTML page of a job that has ended shows.
type Page struct {
	Job, Name, Kind string
	State           string   // "" means succeeded
	Failure         *Failure // of a job that failed
	ModelSHA256     string
	Seconds         float64
	Rounds          []Round
	Metrics         []jobs.Metric
	Figures         []jobs.Figure
	Timeline        *Timeline   // nil: nobody saw one
	Audits          *Audits     // nil: not known
	Facts           [][2]string // further lines of the summary, such as seed and input
	Set, Defaults   []Param     // as ParamsOf parts them
	Run             Run
	Spec            string // as JSON; "" is not known
	Links           []Link
}

// Run is when, where and by what a job ran. What is empty is not known.
type Run struct {
	Submitted, Started, Ended string // in UTC
	Workers                   []string
	Kernels                   []string
	Build, Go                 string  // of the program that wrote the page
	WorkSeconds               float64 // of workers at its tasks, each slot counted
}

// Link is a file beside the page, by its name.
type Link struct{ File, Says string }

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
	"label":   breakable,
	"moment":  readable,
	"s":       pluralEnd,
	"wide":    wide,
	"size":    style.Size,
	"count":   style.Count,
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
	picture := template.HTML("")
	if p.Timeline != nil {
		picture = Gantt(p.Timeline)
	}
	err := pageTemplate.Execute(&out, struct {
		Page
		Figures []drawn
		Gantt   template.HTML
		Tiles   []Tile
		Titled  string
	}{p, figures, picture, p.tiles(), titled(p.Set)})
	return []byte(protocol.VisibleLines(out.String())), err // labels may hold what steers a page, such as U+202E
}

// tiles is the headline: of a job that did not succeed, how far it came.
func (p Page) tiles() []Tile {
	if p.State == "" {
		return Headline(p.Metrics, p.Seconds)
	}
	list := []Tile{{"state", p.State, ""}}
	if p.Failure != nil {
		list = append(list, Tile{"why", p.Failure.Code, p.Failure.Class})
	}
	reached := Tile{"rounds", fmt.Sprint(len(p.Rounds)), "finished"}
	if n := len(p.Rounds); n > 0 {
		reached.Value = fmt.Sprint(p.Rounds[n-1].Number)
	}
	return append(list, reached, Tile{"time", style.Clock(p.Seconds), "from submission to its end"})
}

// halfWidth is up to which width two figures stand beside each other, in pixels.
const halfWidth = 700

// wide reports whether a figure takes the whole width of the page.
func wide(d drawn) bool {
	var width float64
	if _, view, found := strings.Cut(string(d.SVG), `viewBox="0 0 `); found {
		_, _ = fmt.Sscan(view, &width) // of an unknown form: not wide
	}
	return width > halfWidth || d.Table != nil && len(d.Table.Columns) > 6
}

// pluralEnd is what a noun ends with after a number.
func pluralEnd(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// breaks are where a name may go on in the next line: behind what joins its words.
var breaks = strings.NewReplacer(".", ".<wbr/>", "_", "_<wbr/>", "/", "/<wbr/>", "-", "-<wbr/>", ",", ",<wbr/>")

// dotted lets a name break behind its dots and the like. It ends the element, so that the page nests as XML does. No
// reference of HTML has such a character.
func dotted(name string) template.HTML { return template.HTML(breaks.Replace(escape(name))) } // escaped

// breakable lets a cell of a table break as dotted does, if it is long: short labels stay whole.
func breakable(cell string) template.HTML {
	if len(cell) < longLabel {
		return template.HTML(escape(cell)) // escaped
	}
	return dotted(cell)
}

// longLabel is from how many bytes on a cell may break.
const longLabel = 20

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
