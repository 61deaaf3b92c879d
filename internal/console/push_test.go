package console_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestPush adds, tests and removes a browser by forms alone, as a page without scripts does for the last two.
func TestPush(t *testing.T) {
	t.Parallel()
	w := begin(t)
	b := w.signIn(annKey)
	b.get("/me").shows("No browser receives push yet", `data-key="B`, "this page needs scripts")
	const p256dh, auth = "BNNL5ZaTfK81qhXOx23-wewhigUeFb632jN6LvRWCFH1ubQr77FE_9qV1FuojuRmHP42zmf34rXgW80OvUVDgTk", "zqbxT6JKstKSY9JKibZLSQ"
	b.post("/me/push", "endpoint", "http://push.example.com/x", "p256dh", p256dh, "auth", auth, "name", "Phone").showsWith(http.StatusBadRequest, "https")
	b.post("/me/push", "endpoint", "https://push.example.com/x", "p256dh", p256dh, "auth", auth, "name", `"><img src=x onerror=alert(1)>`).shows("receives push now", "push.example.com", "!<img src=x")
	page := b.get("/me")
	id := page.body[strings.Index(page.body, `name="subscription_id" value="`)+len(`name="subscription_id" value="`):]
	id = id[:strings.Index(id, `"`)]
	w.signIn(bobKey).post("/me/push/remove", "subscription_id", id).showsWith(http.StatusNotFound)
	b.post("/me/push/test", "subscription_id", id).shows("The test was sent")
	b.post("/me/push/remove", "subscription_id", id).shows("No browser receives push yet")
	b.lang = "zh"
	b.get("/me").shows("还没有浏览器接收推送", "!No browser")
}

// TestServiceWorkerAndManifest reads both as a browser does, without a session.
func TestServiceWorkerAndManifest(t *testing.T) {
	t.Parallel()
	w := begin(t)
	stranger := &browser{w: w, client: http.DefaultClient, lang: "en"}
	worker := stranger.get("/service-worker.js")
	for _, part := range []string{"/assets/console.css?v=", "/assets/icon-192.png?v=", "const version =", "认领", "notificationclick"} {
		if !strings.Contains(worker.body, part) {
			t.Errorf("the service worker lacks %s", part)
		}
	}
	manifest := stranger.get("/manifest.webmanifest")
	for _, part := range []string{`"name":"Tocsin"`, `"maskable"`, `"192x192"`, `"512x512"`, `"standalone"`} {
		if !strings.Contains(manifest.body, part) {
			t.Errorf("the manifest lacks %s: %s", part, manifest.body)
		}
	}
}
