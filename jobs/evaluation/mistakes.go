package evaluation

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/gram-compute/gram/dataset"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/kernelops/philox"
)

// Mistake is a record that was given another label than its own, or none.
type Mistake struct {
	ID       dataset.Identity `json:"id"`
	Truth    string           `json:"truth"`
	Decided  string           `json:"decided"` // empty when rejected
	Rejected bool             `json:"rejected,omitempty"`
	Picture  []float32        `json:"picture,omitempty"` // the record as it was read, where that is a picture
}

// PictureOf returns record i of a block if it is a picture, which jobs.ImageWidth decides; else nil.
func PictureOf(block *dataset.Block, i int) []float32 {
	if jobs.ImageWidth(block.Dense.Width) == 0 {
		return nil
	}
	return block.Dense.Row(i)
}

// Mistakes is a sample of mistakes of bounded size: those whose identities draw the lowest
// numbers, so that it depends neither on shards, blocks and workers nor on the order of records.
// One goroutine at a time.
type Mistakes struct {
	size    int
	key     philox.Key
	object  philox.Object // of the name
	name    string
	ordered []drawnMistake // by number, then identity
}

type drawnMistake struct {
	number uint64
	Mistake
}

func (d drawnMistake) compare(e drawnMistake) int {
	return cmp.Or(cmp.Compare(d.number, e.number), cmp.Compare(d.ID.Object, e.ID.Object), cmp.Compare(d.ID.Offset, e.ID.Offset))
}

// NewMistakes returns an empty sample of up to size mistakes, size from 1 to 2^31-1.
func NewMistakes(size int) *Mistakes {
	key := philox.New(0, "evaluation/mistakes")
	return &Mistakes{size: size, key: key, object: key.Object("")}
}

// Offer takes a mistake if its number is among the lowest so far; the picture is copied. Each record
// is offered once. O(size) where it is kept, O(log size) where not.
func (s *Mistakes) Offer(m Mistake) { s.offer(m, true) }

func (s *Mistakes) offer(m Mistake, copyPicture bool) bool {
	if m.ID.Object != s.name {
		s.name, s.object = m.ID.Object, s.key.Object(m.ID.Object)
	}
	d := drawnMistake{s.object.Uint64(m.ID.Offset), m}
	at, found := slices.BinarySearchFunc(s.ordered, d, drawnMistake.compare)
	if found || at == s.size {
		return false
	}
	if copyPicture {
		d.Picture = slices.Clone(m.Picture)
	}
	if len(s.ordered) == s.size {
		s.ordered = s.ordered[:s.size-1]
	}
	s.ordered = slices.Insert(s.ordered, at, d)
	return true
}

// Merge takes what is lowest of another sample, which must not be used afterwards.
func (s *Mistakes) Merge(other *Mistakes) {
	for _, d := range other.ordered {
		s.offer(d.Mistake, false)
	}
}

// List returns the mistakes in the order of their numbers.
func (s *Mistakes) List() []Mistake {
	list := make([]Mistake, len(s.ordered))
	for i, d := range s.ordered {
		list[i] = d.Mistake
	}
	return list
}

// Put stores the sample as arrays whose names begin with name: the columns of its mistakes, ".size"
// (I64 scalar) and ".pictures" (F32, a row a mistake; of width 0 without pictures).
func (s *Mistakes) Put(a jobs.Arrays, name string) {
	var objects, truth, decided jobs.Strings
	offsets, rejected := make([]int64, len(s.ordered)), make([]uint8, len(s.ordered))
	width := s.pictureWidth()
	pictures := make([]float32, 0, len(s.ordered)*width)
	for i, m := range s.ordered {
		objects.Append([]byte(m.ID.Object))
		truth.Append([]byte(m.Truth))
		decided.Append([]byte(m.Decided))
		offsets[i] = m.ID.Offset
		if m.Rejected {
			rejected[i] = 1
		}
		pictures = append(pictures, m.Picture[:width]...)
	}
	a.PutStrings(name+".objects", objects)
	a.PutStrings(name+".truth", truth)
	a.PutStrings(name+".decided", decided)
	jobs.PutScalar(a, name+".size", int64(s.size))
	jobs.Put(a, name+".offsets", offsets)
	jobs.Put(a, name+".rejected", rejected)
	jobs.Put(a, name+".pictures", pictures, len(s.ordered), width)
}

// pictureWidth is the number of values of the pictures, 0 unless all have the same.
func (s *Mistakes) pictureWidth() int {
	width := 0
	for i, m := range s.ordered {
		if i > 0 && len(m.Picture) != width {
			return 0
		}
		width = len(m.Picture)
	}
	return width
}

// ReadMistakes reads what Put stored; errors are those of jobs.Get.
func ReadMistakes(a jobs.Arrays, name string) (*Mistakes, error) {
	size, err := jobs.GetScalar[int64](a, name+".size")
	if err != nil {
		return nil, err
	}
	offsets, err := jobs.Get[int64](a, name+".offsets")
	if err != nil {
		return nil, err
	}
	rejected, err := jobs.Get[uint8](a, name+".rejected", len(offsets))
	if err != nil {
		return nil, err
	}
	pictures, err := jobs.Get[float32](a, name+".pictures", len(offsets), -1)
	if err != nil {
		return nil, err
	}
	if size < 1 || size > math.MaxInt32 || int64(len(offsets)) > size {
		return nil, jobs.Malformed("a sample of %d mistakes out of at most %d", len(offsets), size)
	}
	texts, err := mistakeTexts(a, name, len(offsets))
	if err != nil {
		return nil, err
	}
	s := NewMistakes(int(size))
	width := len(pictures) / max(1, len(offsets))
	for i, offset := range offsets {
		m := Mistake{ID: dataset.Identity{Object: string(texts[0].At(i)), Offset: offset}, Truth: string(texts[1].At(i)),
			Decided: string(texts[2].At(i)), Rejected: rejected[i] != 0}
		if width > 0 {
			m.Picture = pictures[i*width : (i+1)*width]
		}
		if !s.offer(m, false) {
			return nil, jobs.Malformed("a sample of mistakes holds one record twice")
		}
	}
	return s, nil
}

func mistakeTexts(a jobs.Arrays, name string, mistakes int) (texts [3]jobs.Strings, err error) {
	for i, column := range []string{".objects", ".truth", ".decided"} {
		if texts[i], err = a.Strings(name + column); err != nil {
			return texts, err
		}
		if texts[i].Len() != mistakes {
			return texts, jobs.Malformed("%d mistakes have %d strings %q", mistakes, texts[i].Len(), name+column)
		}
	}
	return texts, nil
}

// MistakeImages are the pictures of mistakes, for a Figure; nil where there are none.
func MistakeImages(list []Mistake) []jobs.Image {
	var images []jobs.Image
	for _, m := range list {
		if width := jobs.ImageWidth(len(m.Picture)); width > 0 {
			images = append(images, jobs.Image{Label: m.verdict(), Width: width, Values: m.Picture})
		}
	}
	return images
}

// verdict is "truth → decision" in a few characters.
func (m Mistake) verdict() string {
	if m.Rejected {
		return fmt.Sprintf("%s → none", m.Truth)
	}
	return fmt.Sprintf("%s → %s", m.Truth, m.Decided)
}
