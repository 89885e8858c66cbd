package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gram-compute/gram/cmd/gram/internal/exit"
	"github.com/gram-compute/gram/jobs"
	"github.com/gram-compute/gram/jobs/kinds/kernelmatrix"
	"github.com/gram-compute/gram/jobs/learn/parts"
)

// writeTiles writes the matrix {{1, 2, 3}, {2, 4, 5}, {3, 5, 6}} in tiles of 2 x 2 as a job does, and returns the
// folder
// of its model.
func writeTiles(t *testing.T, c *session) string {
	t.Helper()
	folder := filepath.Join(c.app.dir, "models", "irises-1")
	if err := os.MkdirAll(filepath.Join(folder, "tiles"), 0o755); err != nil {
		t.Fatal(err)
	}
	x := kernelmatrix.Index{SchemaVersion: 1, Format: "npy", DType: "float32", Symmetric: true, Rows: 3, Columns: 3,
		Kernel: "linear"}
	for _, tile := range []struct {
		kernelmatrix.Tile
		elements string
	}{
		{kernelmatrix.Tile{Rows: 2, Columns: 2}, one + two + two + four},
		{kernelmatrix.Tile{Column: 2, Rows: 2, Columns: 1}, three + five},
		{kernelmatrix.Tile{Row: 2, Column: 2, Rows: 1, Columns: 1}, six},
	} {
		data := append(parts.NPYHeader("<f4", int64(tile.Rows), tile.Columns), tile.elements...)
		sum := sha256.Sum256(data)
		tile.File = jobs.File{Name: "tiles/" + hex.EncodeToString(sum[:4]) + ".npy", SHA256: hex.EncodeToString(sum[:]),
			Size: int64(len(data))}
		if err := os.WriteFile(filepath.Join(folder, tile.Name), data, 0o600); err != nil {
			t.Fatal(err)
		}
		x.Tiles = append(x.Tiles, tile.Tile)
	}
	data, err := json.Marshal(x)
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "tiles", "index.json"), data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// float32 numbers in little-endian bytes.
const (
	one, two, three = "\x00\x00\x80\x3f", "\x00\x00\x00\x40", "\x00\x00\x40\x40"
	four, five, six = "\x00\x00\x80\x40", "\x00\x00\xa0\x40", "\x00\x00\xc0\x40"
)

func TestGetPutsAMatrixTogether(t *testing.T) {
	c := newClient(t)
	folder := writeTiles(t, c)
	c.want(exit.Usage, c.run("get", "./models/irises-1", "tiles"))
	c.want(0, c.run("get", "./models/irises-1", "tiles", "--out", "K.npy"))
	data, err := os.ReadFile(filepath.Join(c.app.dir, "K.npy"))
	want := string(parts.NPYHeader("<f4", 3, 3)) + one + two + three + two + four + five + three + five + six
	if err != nil || string(data) != want {
		t.Errorf("%q, want %q, %v", data, want, err)
	}
	tiles, err := filepath.Glob(filepath.Join(folder, "tiles", "*.npy"))
	if err != nil || len(tiles) != 3 {
		t.Fatal(tiles, err)
	}
	if err := os.WriteFile(tiles[0], []byte(strings.Repeat("x", 144)), 0o600); err != nil {
		t.Fatal(err)
	}
	if c.run("get", "./models/irises-1", "tiles", "--out", "L.npy") == 0 {
		t.Error("a damaged tile was taken")
	}
	if _, err := os.Stat(filepath.Join(c.app.dir, "L.npy")); err == nil {
		t.Error("a damaged matrix was left behind")
	}
}
