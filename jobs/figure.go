package jobs

// Figure is a figure of a job's report, as data. Exactly one of Lines, Heat, Images and
// Table is set. Package report decides how it looks.
type Figure struct {
	Title   string       `json:"title"`
	Caption string       `json:"caption,omitempty"`
	Lines   *LineChart   `json:"lines,omitempty"`
	Heat    *HeatMap     `json:"heat,omitempty"`
	Images  []Image      `json:"images,omitempty"`
	Table   *FigureTable `json:"table,omitempty"`
}

// LineChart has one or more lines over rounds, epochs or another unit, named by X.
type LineChart struct {
	X      string   `json:"x"`
	Y      string   `json:"y"`
	Series []Series `json:"series"`
}

// Series is a named line; X and Y have the same length.
type Series struct {
	Name string    `json:"name"`
	X    []float64 `json:"x"`
	Y    []float64 `json:"y"`
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
