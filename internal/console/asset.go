package console

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"mime"
	"net/http"
	"path"
	"regexp"
	"strings"
	"time"

	"github.com/klauspost/compress/gzhttp"
)

//go:embed asset
var assetFiles embed.FS

// asset is a file that pages load.
type asset struct {
	name, kind string
	content    []byte
	digest     string // of its content; part of its address
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
			all[name] = newAsset(name, urls.ReplaceAllFunc(a.content, func(url []byte) []byte {
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
	return asset{name, kind, content, hex.EncodeToString(sum[:6])}
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
		h := w.Header()
		h.Set("Content-Type", a.kind)
		h.Set("X-Content-Type-Options", "nosniff")
		if strings.HasPrefix(a.kind, "font/") { // it is compressed already
			h.Set(gzhttp.HeaderNoCompression, "1")
		}
		h.Set("ETag", `"`+a.digest+`"`)
		h.Set("Cache-Control", "no-cache")
		if r.URL.Query().Get("v") == a.digest {
			h.Set("Cache-Control", "public, max-age=31536000, immutable")
		}
		http.ServeContent(w, r, a.name, time.Time{}, bytes.NewReader(a.content))
	})
}
