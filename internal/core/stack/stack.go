// Package stack reads the stacks of errors as browsers and their monitoring libraries write them.
//
// It must never read more of a text than its bounds, nor return a frame whose position is not in the text.
package stack

import (
	"cmp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The bounds of what is read of a text. Lines that are longer are not frames; frames beyond MaxFrames are left out. A text is
// read twice at most, in time linear in its bytes. Frames are parts of the text: they take 48 bytes each besides.
const (
	MaxText   = 256 << 10 // bytes
	MaxFrames = 100
	MaxLine   = 4 << 10 // bytes
)

// Frame is one call of a stack. Line and Column start at 1; 0 means that the text does not state it.
type Frame struct {
	Function string `json:"function" maxLength:"4096" doc:"The function; empty if it has no name."`
	File     string `json:"file" maxLength:"4096" doc:"The address of the file, as the browser states it."`
	Line     int    `json:"line" doc:"The line, from 1; 0: not known."`
	Column   int    `json:"column" doc:"The column, from 1; 0: not known."`
}

// Parse returns the frames of a stack, the innermost call first, as stacks are written. It reads the forms of Chrome
// ("at f (file:1:2)"), of Firefox and Safari ("f@file:1:2"), and of the Datadog library ("at f @ file:1:2"). Lines
// that are no frame, such as those of the message, are left out.
func Parse(text string) []Frame {
	text = text[:min(len(text), MaxText)]
	frames := lines(text, called)
	if len(frames) == 0 {
		frames = lines(text, located)
	}
	return frames
}

// lines returns the frames that read finds, one on a line.
func lines(text string, read func(line string) (Frame, bool)) []Frame {
	var frames []Frame
	for line := range strings.Lines(text) {
		if len(frames) == MaxFrames {
			break
		}
		line = strings.TrimSpace(line)
		if len(line) > MaxLine || !utf8.ValidString(line) {
			continue
		}
		if f, ok := read(line); ok {
			frames = append(frames, f)
		}
	}
	return frames
}

// called reads a line that begins with "at": those of Chrome and of the Datadog library.
func called(line string) (Frame, bool) {
	rest, ok := strings.CutPrefix(line, "at ")
	if !ok {
		return Frame{}, false
	}
	rest = strings.TrimSpace(rest)
	if i := strings.LastIndex(rest, " @ "); i >= 0 {
		function := rest[:i]
		if n := strings.IndexByte(function, '('); n > 0 && strings.HasSuffix(function, ")") {
			function = function[:n] // the library states the arguments
		}
		f, _ := position(rest[i+len(" @ "):])
		f.Function = named(function)
		return f, f.File != ""
	}
	if function, place, ok := strings.Cut(rest, " ("); ok && strings.HasSuffix(place, ")") {
		f, stated := position(strings.TrimSuffix(place, ")"))
		f.Function = named(function)
		return f, stated || f.File == "<anonymous>" || f.File == "native" || strings.HasPrefix(f.File, "index ")
	}
	f, stated := position(strings.TrimPrefix(rest, "async "))
	return f, f.File == "<anonymous>" || stated && isFile(f.File)
}

// located reads a line of Firefox or Safari. The function may contain a space ("global code"), the file usually not;
// without such limits a message with an address of mail would be a frame.
func located(line string) (Frame, bool) {
	if line == "[native code]" {
		return Frame{File: line}, true
	}
	function, place, ok := strings.Cut(line, "@")
	if !ok || strings.Contains(function, "://") { // the @ is one of the address
		function, place = "", line
	}
	f, stated := position(place)
	f.Function = named(function)
	if f.File == "[native code]" {
		return f, true
	}
	evaluated := strings.Contains(f.File, " > ") || strings.Contains(f.File, "debugger eval code")
	plain := !strings.ContainsAny(f.File, " \t") && isFile(f.File)
	return f, stated && (evaluated || plain) && strings.Count(function, " ") <= 2
}

// position splits "file:line:column" or "file:line". It reports whether a line is stated.
func position(place string) (Frame, bool) {
	file, last, ok := cutNumber(place)
	if !ok {
		return Frame{File: place}, false
	}
	if before, line, ok := cutNumber(file); ok {
		return Frame{File: before, Line: line, Column: last}, true
	}
	return Frame{File: file, Line: last}, true
}

// cutNumber cuts ":number" off the end of a text. Larger numbers than a file can have are part of the text.
func cutNumber(text string) (before string, n int, ok bool) {
	i := strings.LastIndexByte(text, ':')
	if i < 1 || len(text)-i > 9 {
		return text, 0, false
	}
	digits := text[i+1:]
	if strings.Trim(digits, "0123456789") != "" {
		return text, 0, false
	}
	n, err := strconv.Atoi(digits)
	return text[:i], n, err == nil
}

// isFile reports whether a text can name a file: it has a path, an extension or a scheme.
func isFile(text string) bool {
	return strings.ContainsAny(text, "/.") && strings.IndexFunc(text, isLetter) >= 0 || strings.HasPrefix(text, "node:")
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 127 }

// named returns the name of a function, or "" for the words that stand for none.
func named(function string) string {
	switch function = strings.TrimSpace(function); function {
	case "?", "<anonymous>", "(anonymous)", "anonymous", "undefined", "[anonymous]":
		return ""
	}
	return function
}

// String returns the frame as Chrome writes it.
func (f Frame) String() string {
	place := f.File
	if f.Line > 0 {
		place += ":" + strconv.Itoa(f.Line)
		if f.Column > 0 {
			place += ":" + strconv.Itoa(f.Column)
		}
	}
	return "at " + cmp.Or(f.Function, "<anonymous>") + " (" + place + ")"
}
