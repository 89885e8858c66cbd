package nearestmean

import (
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/learn/onevsone"
)

// maxImages bounds the means that are shown as pictures.
const maxImages = 64

// Figures returns the class means as pictures, if the width is a square number, and the figures of the evaluation, with
// those of the pairs if they were judged.
func Figures(a jobs.Arrays, metrics []jobs.Metric) ([]jobs.Figure, error) {
	m, err := readModel(a)
	if err != nil {
		return nil, err
	}
	var figures []jobs.Figure
	if images := m.images(); images != nil {
		figures = append(figures, jobs.Figure{Title: "Class means", Images: images,
			Caption: "Each mean as a picture, between its own least and greatest value."})
	}
	judged, err := onevsone.Figures(metrics)
	return append(figures, judged...), err
}

// images returns the means as pictures, or nil if the width is not a square number.
func (m *model) images() []jobs.Image {
	side := jobs.ImageWidth(m.space.Width)
	if side == 0 {
		return nil
	}
	var images []jobs.Image
	for y := range min(len(m.weight), maxImages) {
		image := jobs.Image{Label: string(m.space.Labels.At(y)), Width: side}
		for _, v := range m.mean(y) {
			image.Values = append(image.Values, float32(v))
		}
		images = append(images, image)
	}
	return images
}
