package report

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"strings"

	"github.com/gram-compute/gram/jobs"
)

// maxImages bounds the pictures of a figure.
const maxImages = 200

// imageGrid draws small pictures with their labels below, several in a row, and one alone four times as wide.
func imageGrid(title string, images []jobs.Image) ([]byte, error) {
	const label = 20
	cell, perRow := 68, 6
	if len(images) == 1 {
		cell, perRow = 256, 1
	}
	all := len(images)
	images = images[:min(all, maxImages)]
	rows := (len(images) + perRow - 1) / perRow
	s := newPicture(chartClass, chartWidth, float64(rows*(cell+label+8)), title, describeImages(images, all))
	for i, im := range images {
		x, y := float64(i%perRow*(cell+8)), float64(i/perRow*(cell+label+8))
		data, err := grayPNG(im)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(s, `<image x="%s" y="%s" width="%d" height="%d" href="data:image/png;base64,%s">`, px(x), px(y),
			cell, cell, base64.StdEncoding.EncodeToString(data))
		fmt.Fprintf(s, "<title>%s</title></image>\n", escape(im.Label))
		s.text(x+float64(cell)/2, y+float64(cell)+14, "middle", "ink", shorten(im.Label, fitting(float64(cell))+1))
	}
	return s.end(), nil
}

// describeImages tells what the pictures are, for those who do not see them.
func describeImages(images []jobs.Image, all int) string {
	const most = 12 // labels
	text := fmt.Sprintf("%d of %d pictures", len(images), all)
	var labels []string
	for _, im := range images[:min(most, len(images))] {
		labels = append(labels, im.Label)
	}
	return text + ": " + strings.Join(labels, ", ") + "."
}

// grayPNG is a picture with its greatest value black, as ink on paper.
func grayPNG(im jobs.Image) ([]byte, error) {
	if im.Width < 1 || len(im.Values)%im.Width != 0 {
		return nil, fmt.Errorf("a picture of %d values cannot be %d wide", len(im.Values), im.Width)
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range im.Values {
		low, high = math.Min(low, float64(v)), math.Max(high, float64(v))
	}
	gray := image.NewGray(image.Rect(0, 0, im.Width, len(im.Values)/im.Width))
	for i, v := range im.Values {
		ink := 0.0
		if high > low {
			ink = (float64(v) - low) / (high - low)
		}
		gray.SetGray(i%im.Width, i/im.Width, color.Gray{Y: uint8(255 - 255*ink)})
	}
	var out bytes.Buffer
	err := png.Encode(&out, gray)
	return out.Bytes(), err
}
