package main

import (
	"bytes"
	"os"
	"testing"
)

func TestPictureIsWhatEngineComputes(t *testing.T) {
	var b bytes.Buffer
	draw(&b)
	file, err := os.ReadFile("../timeline.svg")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(file, b.Bytes()) {
		t.Error("docs/timeline.svg is out of date: go run ./docs/picture > docs/timeline.svg")
	}
}
