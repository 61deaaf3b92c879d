package stack_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"tocsin/internal/core/stack"
)

const app = "https://shop.example.com/assets/app.min.js"

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []stack.Frame
	}{
		{"Datadog", "TypeError: x\n  at i @ " + app + ":1:273\n  at <anonymous> @ " + app + "?exit:15:78\n  at undefined @ " + app + ":1:1152", []stack.Frame{
			{"i", app, 1, 273}, {"", app + "?exit", 15, 78}, {"", app, 1, 1152},
		}},
		{"Datadog, with arguments", "Error: x\n  at pay(1, 'a @ b') @ " + app + ":1:2", []stack.Frame{{"pay", app, 1, 2}}},
		{
			"Chrome", "ValidationError: bad\n    at Object.handled [as run] (" + app + ":1:840)\n    at " + app + ":15:91\n    at async Promise.all (index 0)\n" +
				"    at async " + app + ":3:4\n    at new <anonymous> (" + app + ":2:1)\n    at Array.map (<anonymous>)\n    at sort (native)",
			[]stack.Frame{
				{"Object.handled [as run]", app, 1, 840}, {"", app, 15, 91}, {"async Promise.all", "index 0", 0, 0},
				{"", app, 3, 4}, {"new <anonymous>", app, 2, 1}, {"Array.map", "<anonymous>", 0, 0}, {"sort", "native", 0, 0},
			},
		},
		{"Chrome, evaluated", "Error\n    at eval (eval at f (" + app + ":1:2), <anonymous>:3:4)", []stack.Frame{
			{"eval", "eval at f (" + app + ":1:2), <anonymous>", 3, 4},
		}},
		{"Chrome, an address with brackets", "Error\n    at f (https://h/a (1).js:5:6)", []stack.Frame{{"f", "https://h/a (1).js", 5, 6}}},
		{"Chrome, a message of many lines", "Error: three:\n  at least one of 10:30:15\n  at home (now)\nmail me@example.com:80\n    at f (" + app + ":1:2)", []stack.Frame{
			{"f", app, 1, 2},
		}},
		{"Chrome, an extension and webpack", "E\n at a (chrome-extension://abc/x.js:1:2)\n at b (webpack-internal:///./src/b.ts:3:4)", []stack.Frame{
			{"a", "chrome-extension://abc/x.js", 1, 2}, {"b", "webpack-internal:///./src/b.ts", 3, 4},
		}},
		{"Firefox", "i@" + app + ":1:270\nm/<@" + app + ":1:480\n@" + app + ":2:1\nasync*run@" + app + ":3:1\n" +
			"evil@" + app + " line 5 > eval:1:2\n@debugger eval code:1:1", []stack.Frame{
			{"i", app, 1, 270}, {"m/<", app, 1, 480}, {"", app, 2, 1}, {"async*run", app, 3, 1},
			{"evil", app + " line 5 > eval", 1, 2}, {"", "debugger eval code", 1, 1},
		}},
		{"Safari", "i@" + app + ":1:270\nforEach@[native code]\n[native code]\nglobal code@" + app + ":9:1\n" + app + ":4:5", []stack.Frame{
			{"i", app, 1, 270}, {"forEach", "[native code]", 0, 0}, {"", "[native code]", 0, 0}, {"global code", app, 9, 1}, {"", app, 4, 5},
		}},
		{"a scope in the address", "f@https://h/node_modules/@scope/x.js:1:2\nhttps://h/@scope/y.js:3:4", []stack.Frame{
			{"f", "https://h/node_modules/@scope/x.js", 1, 2}, {"", "https://h/@scope/y.js", 3, 4},
		}},
		{"a line without column", "f@" + app + ":7", []stack.Frame{{"f", app, 7, 0}}},
		{"line ends of Windows", "E\r\n    at f (" + app + ":1:2)\r\n", []stack.Frame{{"f", app, 1, 2}}},
		{"a message alone", "Script error.", nil},
		{"an address of mail", "write to jane@example.com by 10:30", nil},
		{"no stack", "No stack, consider using an instance of Error", nil},
		{"a number that no file has", "    at f (" + app + ":1:99999999999)", nil},
		{"a hostile name", "    at <img src=x onerror=alert(1)> (" + app + ":1:2)", []stack.Frame{{"<img src=x onerror=alert(1)>", app, 1, 2}}},
		{"nothing", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := stack.Parse(c.text); !slices.Equal(got, c.want) {
				t.Errorf("got\n%+v, want\n%+v", got, c.want)
			}
		})
	}
}

// Random frames that are written in each form are read as they were.
func TestEveryFormIsReadAsWritten(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	functions := []string{"", "f", "Object.handled", "async run", "new Cart", "$_1", "größe", "m/<"}
	files := []string{app, "http://127.0.0.1:8901/a.js", "webpack:///./src/a.ts", "/assets/x.js", "https://h/ä/ö.js?v=1:2#x", "file:///C:/a.js"}
	for range 2000 {
		var want []stack.Frame
		chrome := "TypeError: x"
		datadog := "TypeError: x"
		firefox := ""
		for range 1 + r.IntN(8) {
			f := stack.Frame{Function: functions[r.IntN(len(functions))], File: files[r.IntN(len(files))], Line: 1 + r.IntN(99999), Column: 1 + r.IntN(9999999)}
			want = append(want, f)
			place := fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)
			chrome += "\n    " + f.String()
			name := f.Function
			if name == "" {
				name = "?"
			}
			datadog += "\n  at " + name + " @ " + place
			firefox += f.Function + "@" + place + "\n"
		}
		for _, text := range []string{chrome, datadog, firefox} {
			if got := stack.Parse(text); !slices.Equal(got, want) {
				t.Fatalf("%s\ngot  %+v\nwant %+v", text, got, want)
			}
		}
	}
}

func TestBounds(t *testing.T) {
	line := "    at f (" + app + ":1:2)\n"
	if got := len(stack.Parse(strings.Repeat(line, 10_000))); got != stack.MaxFrames {
		t.Errorf("%d frames, want %d", got, stack.MaxFrames)
	}
	long := "    at " + strings.Repeat("x", stack.MaxLine) + " (" + app + ":1:2)\n"
	if got := stack.Parse(long + line); len(got) != 1 || got[0].Function != "f" {
		t.Errorf("a long line: got %+v", got)
	}
	if got := stack.Parse(strings.Repeat("x\n", stack.MaxText/2) + line); got != nil {
		t.Errorf("beyond the bound: got %+v", got)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("TypeError: x\n  at i @ " + app + ":1:273")
	f.Add("Error\n    at eval (eval at f (" + app + ":1:2), <anonymous>:3:4)")
	f.Add("m/<@" + app + ":1:480\n@:1:2\n[native code]")
	f.Fuzz(func(t *testing.T, text string) {
		frames := stack.Parse(text)
		if len(frames) > stack.MaxFrames {
			t.Fatalf("%d frames", len(frames))
		}
		for _, frame := range frames {
			if frame.Line < 0 || frame.Column < 0 || len(frame.Function)+len(frame.File) > stack.MaxLine ||
				!utf8.ValidString(frame.Function) || !utf8.ValidString(frame.File) {
				t.Fatalf("%+v", frame)
			}
			if !strings.Contains(text, frame.Function) || !strings.Contains(text, frame.File) {
				t.Fatalf("%+v is not in the text", frame)
			}
		}
	})
}

func TestLibrary(t *testing.T) {
	for file, want := range map[string]bool{
		app: false, "src/cart.ts": false, "webpack:///./src/a.ts": false, "https://h/": false, "https://h/assets/index-Bf3k.js?v=vendor/x": false,
		"chrome-extension://abc/x.js": true, "moz-extension://abc/x.js": true, "https://h/node_modules/@scope/x.js": true,
		"node_modules/react/index.js": true, "webpack/bootstrap": true, "https://h/vendors~main.3f2a.js": true,
		"https://h/assets/react-dom.production.min.js": true, "https://h/Polyfills.js": true, "<anonymous>": true,
		"eval at f (" + app + ":1:2), <anonymous>": true, app + " line 5 > eval": true,
	} {
		if got := (stack.Frame{File: file, Line: 1}).Library(); got != want {
			t.Errorf("%s: got %v", file, got)
		}
	}
	if !(stack.Frame{File: "[native code]"}).Library() {
		t.Error("native code is not the application's")
	}
}
