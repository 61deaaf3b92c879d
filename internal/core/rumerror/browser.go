package rumerror

import "regexp"

// Browser is the program that a page ran in.
type Browser struct {
	Name    string `json:"name" doc:"Such as Firefox; empty if it is not known."`
	Version string `json:"version" doc:"Its major version; may be empty."`
}

// browsers are the patterns by which browsers name themselves. Those that pass for another one are before it.
var browsers = []struct {
	name    string
	pattern func() *regexp.Regexp
}{
	{"Edge", compiled(`\bEdg(?:e|A|iOS)?/(\d+)`)},
	{"Opera", compiled(`\bOPR/(\d+)`)},
	{"Samsung Internet", compiled(`\bSamsungBrowser/(\d+)`)},
	{"Firefox", compiled(`\b(?:Firefox|FxiOS)/(\d+)`)},
	{"Chrome", compiled(`\b(?:HeadlessChrome|Chrome|CriOS)/(\d+)`)},
	{"Safari", compiled(`\bVersion/(\d+)[^ ]* (?:Mobile/\S+ )?Safari/`)},
}

// BrowserOf returns the browser that a User-Agent header names.
func BrowserOf(agent string) Browser {
	if len(agent) > 1000 {
		agent = agent[:1000]
	}
	for _, b := range browsers {
		if m := b.pattern().FindStringSubmatch(agent); m != nil {
			return Browser{b.name, m[1]}
		}
	}
	return Browser{}
}
