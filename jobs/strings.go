package jobs

import "bytes"

// Strings is a list of byte strings kept as two arrays, "<name>.bytes" (U8) and
// "<name>.offsets" (I64): string i is bytes[offsets[i]:offsets[i+1]].
type Strings struct {
	Bytes   []byte
	Offsets []int64 // Len()+1 of them; nil when empty
}

// StringsOf returns the list of the given strings.
func StringsOf[S string | []byte](list ...S) Strings {
	var s Strings
	for _, text := range list {
		s.Append([]byte(text))
	}
	return s
}

// Len is the number of strings.
func (s Strings) Len() int { return max(0, len(s.Offsets)-1) }

// At returns string i; it shares the list's memory.
func (s Strings) At(i int) []byte { return s.Bytes[s.Offsets[i]:s.Offsets[i+1]] }

// Append adds one string.
func (s *Strings) Append(text []byte) {
	if len(s.Offsets) == 0 {
		s.Offsets = append(s.Offsets, 0)
	}
	s.Bytes = append(s.Bytes, text...)
	s.Offsets = append(s.Offsets, int64(len(s.Bytes)))
}

// List copies the strings out.
func (s Strings) List() []string {
	list := make([]string, s.Len())
	for i := range list {
		list[i] = string(s.At(i))
	}
	return list
}

// StrictlyAscending reports whether the strings are distinct and in byte order.
func (s Strings) StrictlyAscending() bool {
	for i := 1; i < s.Len(); i++ {
		if bytes.Compare(s.At(i-1), s.At(i)) >= 0 {
			return false
		}
	}
	return true
}

// PutStrings stores a list under name.
func (a Arrays) PutStrings(name string, s Strings) {
	if len(s.Offsets) == 0 {
		s.Offsets = []int64{0}
	}
	Put(a, name+".bytes", s.Bytes)
	Put(a, name+".offsets", s.Offsets)
}

// Strings returns a list stored by PutStrings; errors are those of Get.
func (a Arrays) Strings(name string) (Strings, error) {
	text, err := Get[uint8](a, name+".bytes")
	if err != nil {
		return Strings{}, err
	}
	offsets, err := Get[int64](a, name+".offsets")
	if err != nil {
		return Strings{}, err
	}
	if len(offsets) == 0 || offsets[0] != 0 || offsets[len(offsets)-1] != int64(len(text)) {
		return Strings{}, Malformed("array %q does not span %q", name+".offsets", name+".bytes")
	}
	for i := 1; i < len(offsets); i++ {
		if offsets[i] < offsets[i-1] {
			return Strings{}, Malformed("array %q falls at %d", name+".offsets", i)
		}
	}
	return Strings{Bytes: text, Offsets: offsets}, nil
}
