package shuffle

// storePart is how many elements a Store asks for at a time.
const storePart = 1 << 18

// Store holds copies of slices, which stay where they are until it is emptied. Its memory is used again. The zero
// Store is empty.
type Store[T any] struct {
	parts [][]T
	now   int // parts before it are full
}

// Copy returns a copy of x.
func (s *Store[T]) Copy(x []T) []T {
	for s.now < len(s.parts) && cap(s.parts[s.now])-len(s.parts[s.now]) < len(x) {
		s.now++
	}
	if s.now == len(s.parts) {
		s.parts = append(s.parts, make([]T, 0, max(storePart, len(x))))
	}
	part := s.parts[s.now]
	begin := len(part)
	part = append(part, x...)
	s.parts[s.now] = part
	return part[begin:len(part):len(part)]
}

// Empty forgets all copies.
func (s *Store[T]) Empty() {
	for i := range s.parts {
		s.parts[i] = s.parts[i][:0]
	}
	s.now = 0
}
