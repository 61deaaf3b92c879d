package browser

import (
	"strings"
	"testing"
	"time"

	"tocsin/test/browser/page"
	"tocsin/test/browser/world"
)

// subscribes stands for the push service of the browser: a browser without a screen has none.
const subscribes = `(() => {
	Notification.requestPermission = async () => 'granted';
	PushManager.prototype.getSubscription = async () => null;
	PushManager.prototype.subscribe = async options => {
		window.options = options.applicationServerKey.length + '|' + options.userVisibleOnly;
		return { toJSON: () => ({ endpoint: 'https://push.example.com/send/8f1c0a', keys: {
			p256dh: 'BNNL5ZaTfK81qhXOx23-wewhigUeFb632jN6LvRWCFH1ubQr77FE_9qV1FuojuRmHP42zmf34rXgW80OvUVDgTk', auth: 'zqbxT6JKstKSY9JKibZLSQ' } }) };
	};
	return true;
})()`

// The console can be installed: Chromium finds nothing wrong with its manifest, and its service worker runs under the
// policy of the pages without a word.
func TestInstallable(t *testing.T) {
	w := begin(t)
	p := signIn(t, w, openIn(t, w, page.FindWhole()))
	p.Controlled()
	for _, wrong := range p.Manifest() {
		t.Errorf("the manifest: %s", wrong)
	}
	p.Quiet()
}

// A person turns push on in a browser, tests it and removes it.
func TestTurnPushOn(t *testing.T) {
	w := begin(t)
	p := signedIn(t, w)
	p.Open("/me")
	p.Has("#push-on:not([hidden])")
	page.Eval[bool](p, subscribes)
	p.Click("Turn on in this browser")
	p.See("This browser receives push now")
	p.See("push.example.com")
	o := once(t)
	o.note(p.Axe(), "push")
	p.Follow("Send a test")
	p.See("The test was sent")
	w.Sent()
	w.Pass(t, time.Second)
	if sent := strings.Join(w.Sent(), "\n"); !strings.Contains(sent, "push:") || !strings.Contains(sent, "This is a test") {
		t.Errorf("sent were %q", sent)
	}
	p.Open("/me")
	page.Eval[bool](p, `(() => { const d = document.querySelector('[data-browser] details'); d.open = true; d.querySelector('form').requestSubmit(); return true; })()`)
	p.See("No browser receives push yet")
}

// A person who does not allow notifications is shown what to do.
func TestPushNotAllowed(t *testing.T) {
	w := begin(t)
	p := signedIn(t, w)
	p.Open("/me")
	p.Has("#push-on:not([hidden])")
	p.Unseen("The browser does not allow")
	page.Eval[bool](p, `(() => { Notification.requestPermission = async () => 'denied'; return true; })()`)
	p.Click("Turn on in this browser")
	p.See("The browser does not allow notifications of this site")
}

// A pushed message is shown, and its button acknowledges by the signed link and shows what came of it, without a session.
func TestPushedMessageAcknowledges(t *testing.T) {
	w := begin(t)
	incident := anIncident(t, w)
	p := signIn(t, w, openIn(t, w, page.FindWhole()))
	p.Notify()
	p.Controlled()
	p.Push(`{"title": "[Critical] Payments are slow", "severity": "Critical", "channel": "Payments", "why": "on call in Payments", "tag": "x", "ack": "https://elsewhere.example/ack/AAAA", "link": "/incidents/` + incident + `"}`)
	const shown = `self.registration.getNotifications().then(all => all.map(n => [n.title, n.body, n.tag, n.actions.map(a => a.title).join(' ')].join('|')).join('\n'))`
	want := "[Critical] Payments are slow|Payments\non call in Payments|x|Acknowledge Open"
	if got := p.InWorker(shown); got != want {
		t.Errorf("shown is %q, want %q", got, want)
	}
	// A link that this server did not make does nothing, is answered with a reason, and its address leads nowhere else.
	p.InWorker(`acknowledge({title: 'Payments are slow', tag: 'x', ack: 'https://elsewhere.example/ack/AAAA'}).then(() => '')`)
	if got := p.InWorker(shown); !strings.HasPrefix(got, "Not acknowledged|this link was not made by this server") || !strings.HasSuffix(got, "|Acknowledge Open") {
		t.Errorf("after a forged link: %q", got)
	}
	p.Open("/sign-in")
	ack := w.AckLink(t, incident, "Anna Schäfer")
	p.InWorker(`acknowledge({title: 'Payments are slow', tag: 'x', ack: '` + ack + `'}).then(() => '')`)
	if got := p.InWorker(shown); !strings.HasPrefix(got, "Acknowledged|") {
		t.Errorf("after the acknowledgement: %q", got)
	}
	if got := progress(t, w, incident); got != "Processing" {
		t.Errorf("the incident is %s", got)
	}
	p.Messages() // the forged link was answered with an error
}

// cut stops the server's answers, and lets it answer again, for pages and their service worker alike.
func cut(t *testing.T, w *world.World, away bool) {
	t.Helper()
	w.Away(away)
	w.Cut()
}
