package main

import (
	"cmp"
	"image"
	"image/color"
	"image/png"
	"maps"
	"os"
	"slices"
)

const (
	colours = 256  // of a picture; pages have few
	areas   = 24   // the most frequent ones are those of areas, which differ little
	apart   = 40   // how far the others are from each other, at least: a rare red counts for more than another grey
	tallest = 1200 // in pixels: what is further down looks like what is above
)

// shrink makes the file of a picture small: its most frequent colours, and the upper part of what is very long.
func shrink(file string) error {
	whole, err := read(file)
	if err != nil {
		return err
	}
	size := image.Rect(0, 0, whole.Bounds().Dx(), min(whole.Bounds().Dy(), tallest))
	count := map[color.RGBA]int{}
	at := func(x, y int) color.RGBA { return color.RGBAModel.Convert(whole.At(x, y)).(color.RGBA) }
	for y := range size.Dy() {
		for x := range size.Dx() {
			count[at(x, y)]++
		}
	}
	byUse := slices.SortedFunc(maps.Keys(count), func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B))
	})
	var palette color.Palette
	for _, c := range byUse {
		if len(palette) < areas || len(palette) < colours && !slices.ContainsFunc(palette, func(other color.Color) bool { return near(c, other.(color.RGBA)) }) {
			palette = append(palette, c)
		}
	}
	nearest := map[color.RGBA]uint8{}
	for c := range count {
		nearest[c] = uint8(palette.Index(c))
	}
	small := image.NewPaletted(size, palette)
	for y := range size.Dy() {
		for x := range size.Dx() {
			small.SetColorIndex(x, y, nearest[at(x, y)])
		}
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	return (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(f, small)
}

// near reports whether two colours look the same.
func near(a, b color.RGBA) bool {
	far := 0
	for _, d := range [][2]uint8{{a.R, b.R}, {a.G, b.G}, {a.B, b.B}} {
		far += max(int(d[0])-int(d[1]), int(d[1])-int(d[0]))
	}
	return far < apart
}

func read(file string) (image.Image, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return png.Decode(f)
}
