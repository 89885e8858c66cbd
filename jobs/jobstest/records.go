package jobstest

// Record is one record. A data set is of texts unless its records have vectors; vectors are
// dense or sparse, all of a data set the same.
type Record struct {
	Label   string    `json:"label,omitempty"`   // no record of a data set of vectors has one: Block.Labels is nil
	Text    string    `json:"text,omitempty"`    // of records without a vector
	Dense   []float32 `json:"dense,omitempty"`   // a dense vector
	Width   int       `json:"width,omitempty"`   // of a sparse vector; 0 for none
	Indices []int32   `json:"indices,omitempty"` // of a sparse vector, ascending
	Values  []float32 `json:"values,omitempty"`
	Weight  float32   `json:"weight,omitempty"` // no record of a data set has one other than 0: Block.Weights is nil
	Group   string    `json:"group,omitempty"`  // of no record or of all
	// Categories are beside Dense.
	Categories []string `json:"categories,omitempty"`
	ID         string   `json:"id,omitempty"` // names the record; without ids records are named by their places
}

// DenseRecords makes records of dense vectors. Without labels they have none.
func DenseRecords(rows [][]float32, labels ...string) []Record {
	records := make([]Record, len(rows))
	for i, row := range rows {
		records[i].Dense = row
	}
	return labelled(records, labels)
}

// SparseRecords makes records of sparse vectors out of the values of rows that are not zero.
func SparseRecords(width int, rows [][]float32, labels ...string) []Record {
	records := make([]Record, len(rows))
	for i, row := range rows {
		records[i].Width = width
		for j, v := range row {
			if v != 0 {
				records[i].Indices = append(records[i].Indices, int32(j))
				records[i].Values = append(records[i].Values, v)
			}
		}
	}
	return labelled(records, labels)
}

func labelled(records []Record, labels []string) []Record {
	for i := range labels {
		records[i].Label = labels[i]
	}
	return records
}

// Deal cuts records into n shards of about the same length, in order. There may be
// more shards than records.
func Deal(records []Record, n int) [][]Record {
	shards := make([][]Record, n)
	for i := range shards {
		shards[i] = records[i*len(records)/n : (i+1)*len(records)/n]
	}
	return shards
}
