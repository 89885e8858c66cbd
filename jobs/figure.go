package jobs

// Figure is a picture of a run's report, as data. Exactly one of Lines, Heat, Images and
// Table is set; whoever shows it decides how it looks.
type Figure struct {
	Title   string       `json:"title"`
	Caption string       `json:"caption,omitempty"`
	Lines   *LineChart   `json:"lines,omitempty"`
	Heat    *HeatMap     `json:"heat,omitempty"`
	Images  []Image      `json:"images,omitempty"`
	Table   *FigureTable `json:"table,omitempty"`
}

// LineChart is values over rounds, epochs or whatever X counts.
type LineChart struct {
	X      string   `json:"x"`
	Y      string   `json:"y"`
	Series []Series `json:"series"`
}

// Series is a named line; X and Y have one length.
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

// Image is a small grey picture, row-major, scaled by whoever shows it between its least
// and its greatest value.
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

// ImageWidth guesses the width of the picture that a vector of so many values is: the root of
// a square of 16 to 16,384 values, 0 for anything else.
func ImageWidth(values int) int {
	for side := 4; side <= 128; side++ {
		if side*side == values {
			return side
		}
	}
	return 0
}
