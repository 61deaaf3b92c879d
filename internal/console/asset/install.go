package asset

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"net/http"
	"slices"
	"sync"

	"github.com/go-json-experiment/json"

	"tocsin/internal/console/locale"
)

//go:embed worker/worker.js
var workerScript []byte

// shellFiles are the assets that every page needs, and the pictures of notifications.
var shellFiles = []string{"console.css", "console.js", "favicon.svg", "icons.svg", "inter.woff2", "icon-192.png", "badge-96.png"}

// workerWords are the texts of the service worker.
var workerWords = []string{
	"Acknowledge", "Acknowledged", "It is over", "It was acknowledged before", "Incidents", "No connection", "Not acknowledged", "Now", "Open",
	"Something happened. Open Tocsin.", "Still on it",
	"There is no connection.", "This page cannot be loaded, and it was not kept.", "Try again",
}

// worker returns the service worker with the lines that the server writes before it. Its version changes with any of its files.
func worker() []byte {
	shell, words := []string{}, map[string]string{}
	for _, name := range shellFiles {
		shell = append(shell, Path(name))
	}
	for _, text := range workerWords {
		words[text] = locale.Text("zh", text)
	}
	var lines bytes.Buffer
	line := func(name string, value any) {
		text, err := json.Marshal(value, json.Deterministic(true))
		if err != nil {
			panic(err) // it is a part of the program
		}
		lines.WriteString("const " + name + " = " + string(text) + ";\n")
	}
	line("shell", shell)
	line("words", words)
	sum := sha256.Sum256(slices.Concat(lines.Bytes(), workerScript))
	line("version", hex.EncodeToString(sum[:6]))
	return append(lines.Bytes(), workerScript...)
}

// ServiceWorker serves the script that shows pushed messages and keeps the last pages. It may reach this server alone.
func ServiceWorker() http.Handler {
	return Served("text/javascript; charset=utf-8", worker)
}

// Manifest returns the description of the console as an application that can be put on the first screen of a phone.
func Manifest() []byte {
	icon := func(name, sizes, purpose string) map[string]string {
		return map[string]string{"src": Path(name), "sizes": sizes, "type": assetList()[name].Kind, "purpose": purpose}
	}
	text, err := json.Marshal(map[string]any{
		"id": "/", "start_url": "/", "scope": "/", "name": "Tocsin", "short_name": "Tocsin", "lang": "en",
		"description": "Who is on call, what burns, and why.", "display": "standalone",
		"background_color": "#0c0f14", "theme_color": "#14181f",
		"icons": []any{
			icon("icon-192.png", "192x192", "any"), icon("icon-512.png", "512x512", "any"),
			icon("icon-maskable-512.png", "512x512", "maskable"), icon("favicon.svg", "any", "any"),
		},
	}, json.Deterministic(true))
	if err != nil {
		panic(err) // it is a part of the program
	}
	return text
}

// Served serves a file whose address never changes. It is made when it is first asked for.
func Served(kind string, content func() []byte) http.Handler {
	file := sync.OnceValue(func() asset {
		made := newAsset("", content())
		made.Kind = kind
		return made
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; connect-src 'self'")
		file().Serve(w, r)
	})
}
