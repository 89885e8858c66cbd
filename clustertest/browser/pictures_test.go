package browser

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

var pictures = flag.String("pictures", "", "write a picture of every view to this `folder`")

// TestPictures writes a picture of every view, on a desk and on a phone, light and dark: `make screenshots`.
func TestPictures(t *testing.T) {
	if *pictures == "" {
		t.Skip("writes files: make screenshots")
	}
	// Pages show where the cluster keeps its objects: not in a folder of this run.
	dir := filepath.Join(os.TempDir(), "gram-pages")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	w := start(t, dir)
	w.demonstrate(t)
	if err := os.MkdirAll(*pictures, 0o755); err != nil {
		t.Fatal(err)
	}
	views := w.views(t)
	in, out := w.tabs(t)
	for _, v := range views {
		b := v.open(in, out)
		for _, width := range []int64{1280, 390} {
			for _, scheme := range []string{"light", "dark"} {
				b.look(width, scheme)
				height := min(ask[int64](b, `document.documentElement.scrollHeight`), 1500)
				b.do(chromedp.EmulateViewport(width, max(height, 200)))
				picture := run(b, "take a picture", chromedp.CaptureScreenshot())
				name := fmt.Sprintf("%s-%d-%s.png", v.name, width, scheme)
				if err := os.WriteFile(filepath.Join(*pictures, name), picture, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}
