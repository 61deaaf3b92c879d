// Package asset holds the files that pages load, each with an address that changes with its content, and the service worker. It must
// never know of a page or a person.
package asset

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"regexp"
	"sync"

	"tocsin/internal/api"
)

//go:embed *.css *.js *.png *.svg *.txt *.woff2
var assetFiles embed.FS

// asset is a file that pages load.
type asset struct {
	*api.Document
	digest string // of its content; part of its address
}

// assetList returns the assets by name.
var assetList = sync.OnceValue(func() map[string]asset {
	entries, err := assetFiles.ReadDir(".")
	if err != nil {
		panic(err) // they are part of the program
	}
	all := map[string]asset{}
	for _, e := range entries {
		content, err := assetFiles.ReadFile(e.Name())
		if err != nil {
			panic(err)
		}
		all[e.Name()] = newAsset(e.Name(), content)
	}
	for name, a := range all { // a style sheet refers to files by the addresses of the pages: else each is loaded twice
		if path.Ext(name) == ".css" {
			all[name] = newAsset(name, urls.ReplaceAllFunc(a.Text, func(url []byte) []byte {
				file := string(url[len("url(") : len(url)-1])
				return []byte("url(" + file + "?v=" + all[file].digest + ")")
			}))
		}
	}
	return all
})

// urls finds the files that a style sheet refers to.
var urls = regexp.MustCompile(`url\([a-z0-9.-]+\)`)

// assetKinds are the types of assets by their extensions. The machine's own list of types is not asked: it may be another one.
var assetKinds = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".png": "image/png", ".svg": "image/svg+xml",
	".txt": "text/plain; charset=utf-8", ".woff2": "font/woff2",
}

func newAsset(name string, content []byte) asset {
	sum := sha256.Sum256(content)
	digest := hex.EncodeToString(sum[:6])
	return asset{&api.Document{Kind: assetKinds[path.Ext(name)], Text: content, Tag: digest}, digest}
}

// Path returns the address of an asset. Browsers keep what they loaded from it, because other content has another
// address.
func Path(name string) string { return "/assets/" + name + "?v=" + assetList()[name].digest }

// Handler serves the assets.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, ok := assetList()[r.PathValue("name")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Cache-Control", "no-cache")
		if r.URL.Query().Get("v") == a.digest {
			w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
		}
		a.Serve(w, r)
	})
}
