// Command shots draws every kind of page of the console with the demo's account into a folder: wide, on a phone, in dark
// and in Chinese. Run it from the project's root:
//
//	make shots
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tocsin/test/browser/page"
	"tocsin/test/browser/world"
)

var end []func()

// reporter ends the program at the first problem.
type reporter struct{}

func (reporter) Helper()                      {}
func (reporter) Errorf(text string, a ...any) { log.Printf(text, a...) }
func (reporter) Fatalf(text string, a ...any) {
	for _, fn := range end {
		fn()
	}
	log.Fatalf(text, a...)
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: shots FOLDER")
	}
	dir, err := os.MkdirTemp("", "shots")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	var r reporter
	w := world.Begin(r, dir, nil)
	world.PushDemo(r, w)
	browser, err := page.Start(page.Find())
	if err != nil {
		r.Fatalf("%v", err)
	}
	end = append(end, browser.Close, func() { _ = os.RemoveAll(dir) })
	if err := draw(r, w, browser, os.Args[1]); err != nil {
		r.Fatalf("%v", err)
	}
	browser.Close()
	if err := w.Close(); err != nil {
		log.Print(err)
	}
}

// looks are the ways in which each page is drawn.
var looks = []struct {
	name, lang string
	width      int
	dark       bool
}{
	{"wide", "en", 1360, false}, {"phone", "en", 390, false}, {"dark", "en", 390, true}, {"zh", "zh", 1360, true},
}

// draw replaces the pictures in a folder.
func draw(r reporter, w *world.World, browser *page.Browser, folder string) error {
	old, err := filepath.Glob(filepath.Join(folder, "*.png"))
	if err != nil {
		return err
	}
	for _, file := range old {
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	c := w.Client(r)
	c.SignIn(w.Keys.All)
	paths := slices.DeleteFunc(c.Pages(), func(path string) bool { return strings.Contains(path, "?") })
	for _, look := range looks {
		signedIn, stranger := browser.New(r, w.URL), browser.New(r, w.URL)
		signedIn.SignIn(w.Keys.All)
		for _, path := range paths {
			p := signedIn
			if strings.HasPrefix(path, "/sign-in") {
				p = stranger
			}
			p.Language(look.lang)
			p.Dark(look.dark)
			p.Size(look.width, map[bool]int{true: 844, false: 900}[look.width < 600])
			p.Open(path)
			file := filepath.Join(folder, nameOf(path)+"-"+look.name+".png")
			p.Shot(file, true)
			p.Quiet()
			if err := shrink(file); err != nil {
				return err
			}
		}
		signedIn.Close()
		stranger.Close()
	}
	fmt.Printf("%d pages in %d looks\n", len(paths), len(looks))
	return nil
}

// nameOf returns the name of an address's pictures: its words.
func nameOf(path string) string {
	parts := strings.Split(strings.Trim(world.Shape(path), "/"), "/")
	for i, p := range parts {
		if p == "{id}" || strings.Contains(p, ".") {
			parts[i] = "one"
		}
	}
	shape := strings.Join(parts, "-")
	shape = strings.Trim(shape, "-")
	if shape == "" {
		return "now"
	}
	return shape
}
