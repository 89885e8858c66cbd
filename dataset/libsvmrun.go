package dataset

// run appends the entries at the front of text that have the usual form: an ascending index, a short decimal number,
// and one blank or the end of the line. It stops at the first entry of any other form, or with a fault, which the
// general loop reads. It returns the rest of text, the last index, counted from 0, and the column of the line that
// follows.
func (p *libsvmParser) run(s *Sparse, w *watch, text []byte) (rest []byte, last int64, column int) {
	indices, values := s.Indices, s.Values
	at, last, column := 0, int64(-1), 2
	for at < len(text) {
		index, i := shortIndex(text, at)
		if index -= p.base; i == 0 || index <= last || index >= p.width {
			break
		}
		x, i := shortValue(text, i)
		if i == 0 {
			break
		}
		v := x.float32()
		if !w.quiet || w.shifts != nil {
			v = w.short(int(index), x)
		}
		indices, values = append(indices, int32(index)), append(values, v)
		at, last = i, index
		column++
	}
	s.Indices, s.Values = indices, values
	return text[at:], last, column
}

// shortIndex reads up to nine digits and a colon from a byte of text on. next is the byte after them, 0 if text has
// something else there.
func shortIndex(text []byte, from int) (index int64, next int) {
	i := from
	for ; i < len(text); i++ {
		d := text[i] - '0'
		if d > 9 {
			break
		}
		index = index*10 + int64(d)
	}
	if n := i - from; n == 0 || n > 9 || i == len(text) || text[i] != ':' {
		return 0, 0
	}
	return index, i + 1
}

// shortValue reads a number as scanNumber does, and the blank after it. next is the byte after them, 0 if text has
// something else there.
func shortValue(text []byte, from int) (x short, next int) {
	x, n := scanNumber(text[from:])
	i := from + n
	switch {
	case n == 0:
		return x, 0
	case i == len(text):
		return x, i
	case text[i] == ' ' && i+1 < len(text) && text[i+1] != ' ' && text[i+1] != '\t':
		return x, i + 1
	}
	return x, 0
}
