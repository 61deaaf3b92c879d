package console

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"
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
		sum := sha256.Sum256(content)
		kind := mime.TypeByExtension(path.Ext(e.Name()))
		if kind == "" && strings.HasSuffix(e.Name(), ".woff2") {
			kind = "font/woff2"
		}
		all[e.Name()] = asset{e.Name(), kind, content, hex.EncodeToString(sum[:6])}
	}
	return all
}()

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
		h.Set("ETag", `"`+a.digest+`"`)
		h.Set("Cache-Control", "no-cache")
		if r.URL.Query().Get("v") == a.digest {
			h.Set("Cache-Control", "public, max-age=31536000, immutable")
		}
		http.ServeContent(w, r, a.name, time.Time{}, bytes.NewReader(a.content))
	})
}
