package jobs

// ArrayReader reads many arrays and keeps the first error; after it every read gives nothing. See ReadArray and ReadScalar.
type ArrayReader struct {
	Arrays Arrays
	Err    error
}

// ReadArray is Get.
func ReadArray[T Element](r *ArrayReader, name string, shape ...int) (list []T) {
	if r.Err == nil {
		list, r.Err = Get[T](r.Arrays, name, shape...)
	}
	return list
}

// ReadScalar is GetScalar.
func ReadScalar[T Element](r *ArrayReader, name string) (v T) {
	if r.Err == nil {
		v, r.Err = GetScalar[T](r.Arrays, name)
	}
	return v
}

// Text is Arrays.Text.
func (r *ArrayReader) Text(name string) (text string) {
	if r.Err == nil {
		text, r.Err = r.Arrays.Text(name)
	}
	return text
}
