// Command shot draws one page of a running console into a PNG file, as the person of an app key sees it:
//
//	go run ./shot --key APP_KEY [--base http://127.0.0.1:8080] [--width 390] [--dark] [--zh] /incidents out.png
package main

import (
	"flag"
	"log"
	"os"

	"tocsin/test/browser/page"
)

// reporter ends the program at the first problem.
type reporter struct{}

func (reporter) Helper()                        {}
func (reporter) Errorf(text string, a ...any)   { log.Printf(text, a...) }
func (r reporter) Fatalf(text string, a ...any) { browser.Close(); log.Fatalf(text, a...) }

var browser *page.Browser

func main() {
	log.SetFlags(0)
	base := flag.String("base", "http://127.0.0.1:8080", "where the server listens")
	key := flag.String("key", os.Getenv("TOCSIN_KEY"), "app key; empty: not signed in")
	width := flag.Int("width", 1360, "of the window; 390 is a phone")
	height := flag.Int("height", 900, "of the window")
	dark := flag.Bool("dark", false, "dark colours")
	chinese := flag.Bool("zh", false, "in Chinese")
	window := flag.Bool("window", false, "only what the window shows, not the whole page")
	open := flag.String("click", "", "selector or text of what to click first")
	axe := flag.Bool("axe", false, "also print what axe-core finds, and any sideways scroll")
	flag.Parse()
	if flag.NArg() != 2 {
		log.Fatal("usage: shot [flags] /path out.png; shot --help lists the flags")
	}
	var err error
	browser, err = page.Start(page.Find())
	if err != nil {
		log.Fatal(err)
	}
	defer browser.Close()
	p := browser.New(reporter{}, *base)
	if *width < 600 && *height == 900 {
		*height = 844
	}
	p.Size(*width, *height)
	p.Dark(*dark)
	if *key != "" {
		p.SignIn(*key)
	}
	if *chinese {
		p.Language("zh")
	}
	p.Open(flag.Arg(0))
	if *open != "" {
		p.Click(*open)
	}
	p.Quiet()
	if *axe {
		over, who := p.Sideways()
		log.Printf("sideways: %d px\n    %s", over, who)
		for _, line := range p.Axe() {
			log.Print(line)
		}
	}
	p.Shot(flag.Arg(1), !*window)
}
