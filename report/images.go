package report

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"

	"github.com/gram-compute/gram/jobs"
)

// maxImages bounds the pictures of a figure.
const maxImages = 200

// imageGrid draws small pictures with their labels below, several in a row, and one alone four times as wide.
func imageGrid(images []jobs.Image) ([]byte, error) {
	cell, label, perRow := 64, 18, 10
	if len(images) == 1 {
		cell, perRow = 256, 1
	}
	images = images[:min(len(images), maxImages)]
	rows := (len(images) + perRow - 1) / perRow
	s := newSVG(float64(perRow*(cell+8)), float64(rows*(cell+label+8)))
	for i, im := range images {
		x, y := float64(i%perRow*(cell+8)), float64(i/perRow*(cell+label+8))
		data, err := grayPNG(im)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(s, `<image x="%s" y="%s" width="%d" height="%d" style="image-rendering:pixelated" href="data:image/png;base64,%s"/>`+"\n",
			px(x), px(y), cell, cell, base64.StdEncoding.EncodeToString(data))
		s.text(x+float64(cell)/2, y+float64(cell)+14, "middle", "ink small", shorten(im.Label, 11))
	}
	return s.end(), nil
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
