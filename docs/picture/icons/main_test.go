package main

import (
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"
)

// TestPicturesAreDrawnByThis compares the pictures of the console with what this draws, colour by colour.
func TestPicturesAreDrawnByThis(t *testing.T) {
	for _, p := range pictures {
		f, err := os.Open(filepath.Join("..", "..", "..", "internal", "console", "asset", p.name))
		if err != nil {
			t.Fatal(err)
		}
		stored, err := png.Decode(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		drawn := draw(p)
		if stored.Bounds() != drawn.Bounds() {
			t.Fatalf("%s is %v", p.name, stored.Bounds())
		}
		for i := range p.size * p.size {
			x, y := i%p.size, i/p.size
			if color.NRGBAModel.Convert(stored.At(x, y)) != color.NRGBAModel.Convert(drawn.At(x, y)) {
				t.Fatalf("%s differs at %d, %d: make icons", p.name, x, y)
			}
		}
	}
}
