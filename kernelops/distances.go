package kernelops

// GroupDistances is the squared Euclidean distance in float64 of each row of x to the center of its group,
// as the cost of k-means needs it:
//
//	for i, g := range groups {
//		var lane [4]float64
//		for j, v := range x.Row(i) {
//			t := float64(v) - centers[int(g)*x.Cols+j]
//			lane[j%4] += float64(t * t)
//		}
//		dst[i] = (lane[0] + lane[1]) + (lane[2] + lane[3])
//	}
//
// dst and groups have an element for every row; centers has x.Cols elements for every group.
func (s *Set) GroupDistances(dst []float64, x Matrix, centers []float64, groups []int32) {
	x.check()
	if len(groups) != x.Rows || len(dst) != x.Rows {
		panic("kernelops: not one group for every row")
	}
	if x.empty() {
		clear(dst)
		return
	}
	checkGroups(groups, len(centers)/x.Cols)
	if x.Cols > callElements {
		// a row alone is longer than a call may be
		groupDistancesGeneric(dst, x.Cols, x.Data, x.Stride, centers, groups)
		return
	}
	height := rowsPerCall(x.Cols)
	for i := 0; i < x.Rows; i += height {
		end := min(i+height, x.Rows)
		s.groupDistances(dst[i:end], x.Cols, x.RowRange(i, end).Data, x.Stride, centers, groups[i:end])
	}
}

func groupDistancesGeneric(dst []float64, cols int, x []float32, stride int, centers []float64, groups []int32) {
	for i, g := range groups {
		row, center := x[i*stride:][:cols], centers[int(g)*cols:][:cols]
		var lane [4]float64
		for len(row) >= 4 {
			for j := range lane {
				t := float64(row[j]) - center[j]
				lane[j] += float64(t * t)
			}
			row, center = row[4:], center[4:]
		}
		for j, v := range row {
			t := float64(v) - center[j]
			lane[j] += float64(t * t)
		}
		dst[i] = (lane[0] + lane[1]) + (lane[2] + lane[3])
	}
}
