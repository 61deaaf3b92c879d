// Command icons draws the pictures of the console for the first screens of phones, from the bell of favicon.svg:
//
//	go run ./docs/picture/icons internal/console/asset
package main

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
)

// picture is one file. The bell is drawn in a square of 24 units, of which margin is left free on each side.
type picture struct {
	name       string
	size       int
	margin     float64
	background color.NRGBA
	round      bool // the corners are round; a maskable picture is cut by the phone
}

var dark = color.NRGBA{0x14, 0x18, 0x1f, 0xff}

var pictures = []picture{
	{"icon-192.png", 192, 4, dark, true},
	{"icon-512.png", 512, 4, dark, true},
	{"icon-maskable-512.png", 512, 6, dark, false}, // phones keep a circle of 80 %
	{"apple-touch-icon.png", 180, 4, dark, false},
	{"badge-96.png", 96, 1, color.NRGBA{}, false}, // Android shows its shape alone
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: icons FOLDER")
		os.Exit(2)
	}
	for _, p := range pictures {
		if err := write(filepath.Join(os.Args[1], p.name), draw(p)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func write(path string, m image.Image) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(f, m); err != nil {
		return err
	}
	return f.Close()
}

// fine is how many points on each side a pixel is measured at.
const fine = 5

// draw draws the white bell on its background.
func draw(p picture) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, p.size, p.size))
	scale := (24 + 2*p.margin) / float64(p.size) // units in a pixel
	shapes := bell()
	for y := range p.size {
		bells, grounds := make([]int, p.size), make([]int, p.size)
		for row := range fine {
			at := float64(y) + (float64(row)+.5)/fine
			var edges [2][]float64 // of the shapes on this row
			for i, shape := range shapes {
				edges[i] = crossings(shape, at*scale-p.margin)
			}
			for i := range p.size * fine {
				x := (float64(i) + .5) / fine
				if !p.round || inCorners(point{x, at}, float64(p.size)) {
					grounds[i/fine]++
				}
				if u := x*scale - p.margin; inside(edges[0], u) || inside(edges[1], u) {
					bells[i/fine]++
				}
			}
		}
		for x := range p.size {
			m.SetNRGBA(x, y, mix(p.background, grounds[x], bells[x]))
		}
	}
	return m
}

// mix returns the colour of a pixel of which some points of fine*fine are in the background and some in the bell.
func mix(background color.NRGBA, grounds, bells int) color.NRGBA {
	const all = fine * fine
	if background.A == 0 {
		return color.NRGBA{0xff, 0xff, 0xff, uint8(255 * bells / all)}
	}
	part := func(c uint8) uint8 { return uint8((int(c)*(all-bells) + 255*bells) / all) }
	return color.NRGBA{part(background.R), part(background.G), part(background.B), uint8(255 * grounds / all)}
}

// inCorners reports whether a point is in a square with round corners.
func inCorners(p point, size float64) bool {
	r := size * .2
	dx, dy := max(r-p.x, p.x-(size-r), 0), max(r-p.y, p.y-(size-r), 0)
	return dx*dx+dy*dy <= r*r
}

type point struct{ x, y float64 }

// bell returns the two outlines of the bell as polygons, in 24 units.
func bell() [2][]point {
	body := []point{{12, 2.5}}
	for _, c := range [][3]point{
		{{8, 2.5}, {5.4, 5.4}, {5.1, 9.7}}, {{4.9, 12.7}, {4.3, 14.6}, {2.8, 16.2}}, {{2.3, 16.7}, {2.7, 17.5}, {3.4, 17.5}},
		{{9.1, 17.5}, {14.9, 17.5}, {20.6, 17.5}}, {{21.3, 17.5}, {21.7, 16.7}, {21.2, 16.2}}, {{19.7, 14.6}, {19.1, 12.7}, {18.9, 9.7}},
		{{18.6, 5.4}, {16, 2.5}, {12, 2.5}},
	} {
		body = append(body, curve(body[len(body)-1], c)...)
	}
	const deep = 3.2 // of the control points of a half circle of 2.4
	clapper := append([]point{{9.6, 19.5}}, curve(point{9.6, 19.5}, [3]point{{9.6, 19.5 + deep}, {14.4, 19.5 + deep}, {14.4, 19.5}})...)
	return [2][]point{body, clapper}
}

// curve returns points of a cubic Bézier curve.
func curve(from point, c [3]point) (all []point) {
	const steps = 24
	for i := 1; i <= steps; i++ {
		t := float64(i) / steps
		u := 1 - t
		a := u * u * u
		b := 3 * u * u * t
		d := 3 * u * t * t
		e := t * t * t
		all = append(all, point{a*from.x + b*c[0].x + d*c[1].x + e*c[2].x, a*from.y + b*c[0].y + d*c[1].y + e*c[2].y})
	}
	return all
}

// crossings returns where the outline of a polygon crosses a row.
func crossings(shape []point, y float64) (at []float64) {
	for i, a := range shape {
		b := shape[(i+1)%len(shape)]
		if (a.y > y) != (b.y > y) {
			at = append(at, (b.x-a.x)*(y-a.y)/(b.y-a.y)+a.x)
		}
	}
	return at
}

// inside reports whether a point of a row is in the polygon that crosses it there.
func inside(crossings []float64, x float64) (in bool) {
	for _, c := range crossings {
		in = in != (c < x)
	}
	return in
}
