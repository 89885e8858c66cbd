package kmeans

import (
	"context"
	"iter"
	"strconv"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/parts"
)

// The folders of what a job writes of its training records, beside the model.
const (
	assignmentsFolder = "assignments"
	distancesFolder   = "distances"

	responsibilitiesFolder = "responsibilities"
)

// matrixCells is how many numbers a part of a matrix has at most, unless one record has more. A worker keeps them as
// columns and encoded.
const matrixCells = 1 << 19

// output gathers what phase finish writes of the records of a leaf. Tables that are not wanted are nil.
type output struct {
	job
	leaf        jobs.Leaf
	assignments *assignments
	distances   *matrix
	shares      *matrix
}

func newOutput(j job, s *state, leaf jobs.Leaf) *output {
	o := &output{job: j, leaf: leaf}
	if j.params.Assignments {
		o.assignments = newAssignments(j)
	}
	if j.params.Distances {
		o.distances = newMatrix(j, distancesFolder, len(s.best.centers)/s.space.Width)
	}
	if j.params.Responsibilities {
		o.shares = newMatrix(j, responsibilitiesFolder, len(s.best.centers)/s.space.Width)
	}
	return o
}

// add takes in rows that were just assigned. Soft is nil where there are no responsibilities.
func (o *output) add(ctx context.Context, c chunk, near *assigner, soft *responder, centers []float64) error {
	if o.assignments != nil {
		for i, id := range c.IDs {
			o.assignments.add(id, near.index[i], distance(near.sqDist[i], o.cosine()))
		}
	}
	if o.shares != nil {
		if err := o.shares.visit(ctx, o.leaf, c, soft.toAll); err != nil {
			return err
		}
	}
	if o.distances == nil {
		return nil
	}
	return o.distances.visit(ctx, o.leaf, c, func(columns [][]float64, from, to int) {
		near.toAll(columns, c.X.RowRange(from, to), centers, o.cosine())
	})
}

// end writes what is left, and puts the lists of the parts into the census.
func (o *output) end(ctx context.Context, to *census) (err error) {
	if o.assignments != nil {
		to.parts, err = parts.Write(ctx, o.leaf.Emit, assignmentsFolder, o.leaf.Index, o.params.Format,
			o.assignments.table())
	}
	if err == nil && o.distances != nil {
		to.distances, err = o.distances.end(ctx, o.leaf)
	}
	if err == nil && o.shares != nil {
		to.shares, err = o.shares.end(ctx, o.leaf)
	}
	return err
}

// writeIndices emits the index of each folder.
func (j job) writeIndices(ctx context.Context, emit jobs.Emit, root *census) error {
	k := len(root.records)
	if j.params.Assignments {
		if err := j.writeIndex(ctx, emit, assignmentsFolder, newAssignments(j).table(), root.parts); err != nil {
			return err
		}
	}
	for folder, list := range j.matrices(root) {
		if err := j.writeIndex(ctx, emit, folder, newMatrix(j, folder, k).table(), list); err != nil {
			return err
		}
	}
	return nil
}

// matrices yields the parts of the matrices that are wanted, by folder.
func (j job) matrices(root *census) iter.Seq2[string, parts.List] {
	return func(yield func(string, parts.List) bool) {
		if j.params.Distances && !yield(distancesFolder, root.distances) {
			return
		}
		if j.params.Responsibilities {
			yield(responsibilitiesFolder, root.shares)
		}
	}
}

func (j job) writeIndex(ctx context.Context, emit jobs.Emit, folder string, empty parts.Table, list parts.List) error {
	_, err := parts.WriteIndex(ctx, emit, folder,
		parts.Index{Format: j.params.Format, Columns: empty.Names(), Parts: list})
	return err
}

// assignments gathers where each record of a leaf went, by column.
type assignments struct {
	ids       *parts.Identities
	clusters  []int64
	distances []float64
	numbers   bool // the clusters alone, for npy
}

func newAssignments(j job) *assignments {
	return &assignments{parts.NewIdentities(j.way), []int64{}, []float64{}, j.params.Format == parts.NPY}
}

func (r *assignments) add(id dataset.Identity, cluster int32, distance float64) {
	r.clusters = append(r.clusters, int64(cluster))
	if !r.numbers {
		r.ids.Add(id)
		r.distances = append(r.distances, distance)
	}
}

func (r *assignments) table() parts.Table {
	clusters := parts.Column{Name: "cluster", Ints: r.clusters}
	if r.numbers {
		return parts.Table{clusters}
	}
	return append(r.ids.Columns(), clusters, parts.Column{Name: "distance", Floats: r.distances})
}

// matrix gathers a number for each record of a leaf and each cluster, and writes parts of a bounded size.
type matrix struct {
	job
	folder  string
	ids     *parts.Identities
	columns [][]float64
	rows    int        // in the columns
	most    int        // rows of a part
	written parts.List // so far
	number  int        // of the next part
}

func newMatrix(j job, folder string, clusters int) *matrix {
	m := &matrix{job: j, folder: folder, ids: parts.NewIdentities(j.way), columns: make([][]float64, clusters),
		most: max(1, matrixCells/clusters)}
	for j := range m.columns {
		m.columns[j] = []float64{}
	}
	return m
}

// visit appends rows for the records of a chunk, and has fill set those of the records from up to, not including, to:
// it gets a slice of each column, of zeros.
func (m *matrix) visit(
	ctx context.Context, leaf jobs.Leaf, c chunk, fill func(columns [][]float64, from, to int),
) error {
	rows := make([][]float64, len(m.columns))
	for from := 0; from < len(c.IDs); {
		if m.rows == m.most {
			if err := m.flush(ctx, leaf); err != nil {
				return err
			}
		}
		to := min(len(c.IDs), from+m.most-m.rows)
		for j, column := range m.columns {
			m.columns[j] = append(column, make([]float64, to-from)...)
			rows[j] = m.columns[j][m.rows:]
		}
		fill(rows, from, to)
		if m.params.Format != parts.NPY {
			for _, id := range c.IDs[from:to] {
				m.ids.Add(id)
			}
		}
		m.rows, from = m.rows+to-from, to
	}
	return nil
}

// flush writes the rows as a part.
func (m *matrix) flush(ctx context.Context, leaf jobs.Leaf) error {
	list, err := parts.WriteNext(ctx, leaf.Emit, m.folder, leaf.Index, m.number, m.params.Format, m.table())
	m.written = append(m.written, list...)
	m.number++
	m.rows, m.ids = 0, parts.NewIdentities(m.way)
	for j, column := range m.columns {
		m.columns[j] = column[:0]
	}
	return err
}

// end writes what is left; a leaf without records has a part without rows.
func (m *matrix) end(ctx context.Context, leaf jobs.Leaf) (parts.List, error) {
	if m.rows > 0 || m.number == 0 {
		if err := m.flush(ctx, leaf); err != nil {
			return nil, err
		}
	}
	return m.written, nil
}

// table is what records are named by, unless the format has numbers only, and a column for each cluster.
func (m *matrix) table() parts.Table {
	var t parts.Table
	if m.params.Format != parts.NPY {
		t = m.ids.Columns()
	}
	for j, column := range m.columns {
		t = append(t, parts.Column{Name: "cluster:" + strconv.Itoa(j), Floats: column})
	}
	return t
}
