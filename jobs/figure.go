package jobs

// Figure is a figure of a job's report, as data. Exactly one of Lines, Histogram, Scatter, Heat, Images and
// Table is set. Package report decides how it looks.
type Figure struct {
	Title     string       `json:"title"`
	Caption   string       `json:"caption,omitempty"`
	Lines     *LineChart   `json:"lines,omitempty"`
	Histogram *Histogram   `json:"histogram,omitempty"`
	Scatter   *ScatterPlot `json:"scatter,omitempty"`
	Heat      *HeatMap     `json:"heat,omitempty"`
	Images    []Image      `json:"images,omitempty"`
	Table     *FigureTable `json:"table,omitempty"`
}

// FiguresOf returns the Figures of a kind whose models read reads and draw draws.
func FiguresOf[M any](
	read func(Arrays) (M, error), draw func(M, []Metric) ([]Figure, error),
) func(Arrays, []Metric) ([]Figure, error) {
	return func(a Arrays, metrics []Metric) ([]Figure, error) {
		m, err := read(a)
		if err != nil {
			return nil, err
		}
		return draw(m, metrics)
	}
}

// LineChart has one or more lines over rounds, epochs or another unit, named by X.
type LineChart struct {
	X      string   `json:"x"`
	Y      string   `json:"y"`
	Series []Series `json:"series"`
	// UnitX and UnitY report that an axis is of shares, and goes from 0 to 1.
	UnitX bool `json:"unit_x,omitempty"`
	UnitY bool `json:"unit_y,omitempty"`
	// Decades reports that ratios of Y matter: where it spans two powers of ten or more, the axis is logarithmic.
	Decades bool `json:"decades,omitempty"`
}

// Series is a named line; X and Y have the same length.
type Series struct {
	Name string    `json:"name"`
	X    []float64 `json:"x"`
	Y    []float64 `json:"y"`
	// Reference reports that this is a line to compare the others with; it is dashed.
	Reference bool `json:"reference,omitempty"`
	// Chosen reports that the job went on with this one of several.
	Chosen bool `json:"chosen,omitempty"`
	// Steps reports that each Y holds from the X before to its own.
	Steps bool `json:"steps,omitempty"`
	// Points reports that no line joins the points.
	Points bool `json:"points,omitempty"`
}

// Histogram is how records of one or more groups are spread over the bins of a value.
type Histogram struct {
	X      string     `json:"x"`
	Y      string     `json:"y"`
	Edges  []float64  `json:"edges"` // ascending; one more than there are bins
	Groups []BinGroup `json:"groups"`
	Zero   bool       `json:"zero,omitempty"` // decisions change at 0, which is marked
}

// BinGroup is a group of a histogram, with a value of at least 0 for each bin.
type BinGroup struct {
	Name   string    `json:"name"`
	Values []float64 `json:"values"`
}

// ScatterPlot has points of a plane in one or more groups, and lines. X and Y name the axes.
type ScatterPlot struct {
	X      string         `json:"x"`
	Y      string         `json:"y"`
	Groups []PointGroup   `json:"groups"`
	Lines  []StraightLine `json:"lines,omitempty"`
	Curves []Curve        `json:"curves,omitempty"`
	Mark   string         `json:"mark,omitempty"` // what a marked point is
}

// PointGroup is a named list of points; X, Y and Marked have the same length.
type PointGroup struct {
	Name   string    `json:"name"`
	X      []float64 `json:"x"`
	Y      []float64 `json:"y"`
	Marked []bool    `json:"marked"`
	// Landmark reports that the points are no records, but what records are compared with; they are set apart.
	Landmark bool `json:"landmark,omitempty"`
}

// StraightLine is the line Ax + By + C = 0. Lines of one name have one entry in the legend.
type StraightLine struct {
	Name   string  `json:"name"`
	A      float64 `json:"a"`
	B      float64 `json:"b"`
	C      float64 `json:"c"`
	Dashed bool    `json:"dashed,omitempty"`
}

// Curve is straight from point to point; X and Y have the same length. What lies beyond the groups is cut off. Curves
// and lines of one name have one entry in the legend.
type Curve struct {
	Name   string    `json:"name"`
	X      []float64 `json:"x"`
	Y      []float64 `json:"y"`
	Dashed bool      `json:"dashed,omitempty"`
}

// SeriesOf is a line over 1, 2, 3 and so on.
func SeriesOf[T int64 | float64](name string, values []T) Series {
	s := Series{Name: name}
	for i, v := range values {
		s.X, s.Y = append(s.X, float64(i+1)), append(s.Y, float64(v))
	}
	return s
}

// HeatMap is a matrix of counts, row-major.
type HeatMap struct {
	Rows    string   `json:"rows"`    // what a row is, such as "truth"
	Columns string   `json:"columns"` // what a column is, such as "decision"
	RowKeys []string `json:"row_keys"`
	ColKeys []string `json:"column_keys"`
	Counts  []int64  `json:"counts"`
}

// Image is a small gray picture, row-major. The report scales it between its least and its
// greatest value.
type Image struct {
	Label  string    `json:"label"`
	Width  int       `json:"width"`
	Values []float32 `json:"values"`
}

// Pictures returns the figure of the first rows as images, each with its label; nil if the width of the rows is not
// that of a picture.
func Pictures[T float32 | float64](
	title, caption string, width, rows int, label func(i int) string, row func(i int) []T,
) []Figure {
	const most = 64
	side := ImageWidth(width)
	if side == 0 {
		return nil
	}
	f := Figure{Title: title, Caption: caption}
	for i := range min(rows, most) {
		image := Image{Label: label(i), Width: side}
		for _, v := range row(i) {
			image.Values = append(image.Values, float32(v))
		}
		f.Images = append(f.Images, image)
	}
	return []Figure{f}
}

// FigureTable is a small table of texts.
type FigureTable struct {
	Columns []string   `json:"columns"`
	Rows    [][]string `json:"rows"`
}

// ImageWidth guesses the width of a picture from the length of its vector: the square root, if the
// length is a square number from 16 to 16,384, else 0.
func ImageWidth(values int) int {
	for side := 4; side <= 128; side++ {
		if side*side == values {
			return side
		}
	}
	return 0
}
