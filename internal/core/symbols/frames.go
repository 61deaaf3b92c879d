package symbols

import (
	"strings"

	"tocsin/internal/core/stack"
)

// Frame is a call of a stack in original code. If no map has its place, it is as it was in the stack.
type Frame struct {
	stack.Frame
	Converted bool         // a map has its place
	Library   bool         // it is not code of the application itself
	Code      []CodeLine   // around its line
	Minified  *stack.Frame // as it was in the stack; nil: not converted
}

// Options are what Frames needs besides the frames.
type Options struct {
	Map    func(file string) *Map // returns the map of a file in a stack; nil: there is none. Called once for each file
	Origin string                 // of the page; frames of other origins that have no map are of libraries; empty: not known
	Near   int                    // how many lines of code before and after each frame
}

// Frames returns the frames of a stack, the innermost first, in original code.
//
// The name that a map states for a place is that of what stands there, which is not the function around it. But the
// place of a call is where its function is named: so a frame's function has the name that stands at its caller's place.
func Frames(frames []stack.Frame, o Options) []Frame {
	places := make([]Place, len(frames))
	byFile := map[string][]int{}
	for i, f := range frames {
		if f.Line > 0 {
			byFile[f.File] = append(byFile[f.File], i)
		}
	}
	for file, list := range byFile {
		m := o.Map(file)
		if m == nil {
			continue
		}
		positions := make([]Position, len(list))
		for n, i := range list {
			positions[n] = Position{frames[i].Line, frames[i].Column}
		}
		for n, place := range m.Find(positions) {
			places[list[n]] = place
		}
	}
	all := make([]Frame, len(frames))
	for i, f := range frames {
		all[i] = Frame{Frame: f, Library: f.Library() || foreign(f.File, o.Origin)}
		if place := places[i]; place.Found() {
			all[i] = converted(f, place, o.Near)
			if i+1 < len(places) && places[i+1].Name != "" {
				all[i].Function = places[i+1].Name
			}
		}
	}
	return all
}

func converted(f stack.Frame, place Place, near int) Frame {
	c := Frame{Frame: f, Converted: true, Minified: &f, Code: place.Code(near)}
	c.File = place.File
	c.Line = place.Line
	c.Column = place.Column
	c.Library = place.Library || c.Frame.Library()
	return c
}

// foreign reports whether a file is of another origin than the page.
func foreign(file, origin string) bool {
	of := Origin(file)
	return of != "" && origin != "" && of != origin
}

// Origin returns the scheme and host of an address of the web; empty for others.
func Origin(address string) string {
	for _, scheme := range []string{"http://", "https://"} {
		if rest, ok := strings.CutPrefix(address, scheme); ok {
			host := rest
			if i := strings.IndexAny(rest, "/?#"); i >= 0 {
				host = rest[:i]
			}
			return scheme + strings.ToLower(host)
		}
	}
	return ""
}
