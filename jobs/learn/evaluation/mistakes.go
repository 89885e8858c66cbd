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
	draws   *dataset.Draws
	ordered []drawnMistake // by number, then identity
}

type drawnMistake struct {
	number uint64
	Mistake
}

func (d drawnMistake) compare(e drawnMistake) int {
	return cmp.Or(cmp.Compare(d.number, e.number), d.ID.Compare(e.ID))
}

// MistakeDraws are the numbers by which mistakes are chosen.
func MistakeDraws() *dataset.Draws { return dataset.NewDraws(philox.New(0, "evaluation/mistakes")) }

// NewMistakes returns an empty sample of up to size mistakes, size from 1 to 2^31-1.
func NewMistakes(size int) *Mistakes {
	return &Mistakes{size: size, draws: MistakeDraws()}
}

// Offer takes a mistake if its number is among the lowest so far; the picture is copied. Each record
// is offered once. O(size) where it is kept, O(log size) where not.
func (s *Mistakes) Offer(m Mistake) { s.offer(m, true) }

func (s *Mistakes) offer(m Mistake, copyPicture bool) bool {
	return s.take(drawnMistake{s.draws.Uint64(m.ID), m}, copyPicture)
}

// take is offer of a mistake with its number.
func (s *Mistakes) take(d drawnMistake, copyPicture bool) bool {
	at, found := slices.BinarySearchFunc(s.ordered, d, drawnMistake.compare)
	if found || at == s.size {
		return false
	}
	if copyPicture {
		d.Picture = slices.Clone(d.Picture)
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

// MistakesFields lists a sample as arrays whose names begin with name: the columns of its mistakes, ".size" (I64
// scalar) and ".pictures" (F32, a row a mistake; of width 0 without pictures).
func MistakesFields(f *jobs.Fields, name string, sample **Mistakes) {
	var c mistakeColumns
	size := 0
	if !f.Reading() {
		c, size = (*sample).columns(), (*sample).size
	}
	f.Int(name+".size", &size, 1, math.MaxInt32)
	f.Strings(name+".objects", &c.objects)
	f.Strings(name+".truth", &c.truth)
	f.Strings(name+".decided", &c.decided)
	jobs.List(f, name+".offsets", &c.offsets)
	n := len(c.offsets)
	f.Require(n <= size && c.objects.Len() == n && c.truth.Len() == n && c.decided.Len() == n,
		"a sample of %d mistakes out of at most %d has %d, %d and %d strings", n, size, c.objects.Len(), c.truth.Len(),
		c.decided.Len())
	jobs.List(f, name+".rejected", &c.rejected, n)
	f.Dim(name+".pictures", 1, &c.width)
	jobs.List(f, name+".pictures", &c.pictures, n, c.width)
	if f.Reading() {
		*sample = NewMistakes(size)
		f.Check(func() error { return (*sample).read(c) })
	}
}

// mistakeColumns are mistakes as arrays.
type mistakeColumns struct {
	objects, truth, decided jobs.Strings
	offsets                 []int64
	rejected                []uint8
	width                   int // of each picture
	pictures                []float32
}

func (s *Mistakes) columns() mistakeColumns {
	c := mistakeColumns{offsets: []int64{}, rejected: []uint8{}, width: s.pictureWidth()}
	for _, m := range s.ordered {
		c.objects.Append([]byte(m.ID.Object))
		c.truth.Append([]byte(m.Truth))
		c.decided.Append([]byte(m.Decided))
		c.offsets = append(c.offsets, m.ID.Offset)
		rejected := uint8(0)
		if m.Rejected {
			rejected = 1
		}
		c.rejected = append(c.rejected, rejected)
		c.pictures = append(c.pictures, m.Picture[:c.width]...)
	}
	return c
}

func (s *Mistakes) read(c mistakeColumns) error {
	for i, offset := range c.offsets {
		m := Mistake{ID: dataset.Identity{Object: string(c.objects.At(i)), Offset: offset},
			Truth:   string(c.truth.At(i)),
			Decided: string(c.decided.At(i)), Rejected: c.rejected[i] != 0}
		if c.width > 0 {
			m.Picture = c.pictures[i*c.width : (i+1)*c.width]
		}
		if !s.offer(m, false) {
			return jobs.Malformed("a sample of mistakes holds one record twice")
		}
	}
	return nil
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
