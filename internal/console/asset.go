package console

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"mime"
	"net/http"
	"path"
	"regexp"
	"strings"

	"tocsin/internal/api"
)

//go:embed asset
var assetFiles embed.FS

// asset is a file that pages load.
type asset struct {
	*api.Document
	digest string // of its content; part of its address
}

// assetList holds the assets by name.
var assetList = func() map[string]asset {
	entries, err := assetFiles.ReadDir("asset")
	if err != nil {
		panic(err) // they are part of the program
	}
	all := map[string]asset{}
	for _, e := range entries {
		content, err := assetFiles.ReadFile("asset/" + e.Name())
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
}()

// urls finds the files that a style sheet refers to.
var urls = regexp.MustCompile(`url\([a-z0-9.-]+\)`)

func newAsset(name string, content []byte) asset {
	sum := sha256.Sum256(content)
	kind := mime.TypeByExtension(path.Ext(name))
	if kind == "" && strings.HasSuffix(name, ".woff2") {
		kind = "font/woff2"
	}
	digest := hex.EncodeToString(sum[:6])
	return asset{&api.Document{Kind: kind, Text: content, Tag: digest}, digest}
}

// assetPath returns the address of an asset. Browsers keep what they loaded from it, because other content has another
// address.
func assetPath(name string) string { return "/assets/" + name + "?v=" + assetList[name].digest }

// assets serves the assets.
func assets() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a, ok := assetList[r.PathValue("name")]
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
