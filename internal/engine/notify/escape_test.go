package notify_test

import (
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/engine/notify"
	"tocsin/internal/platform/db"
)

// The texts about shifts and silences use no template. The names in them are escaped all the same, for every method.
func TestTextsWithoutTemplateAreEscaped(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	const text = "The silence <!channel> [x](https://evil.example) **b** @all ends.\nAll is well"
	want := map[string]string{
		"email":        "The silence <!channel> [x](https://evil.example) **b** @all ends.\n│ All is well",
		"sms":          "The silence <!channel> [x](https://evil.example) **b** @all ends. All is well",
		"slack":        "The silence &lt;!channel&gt; [x](<https://evil.example>) ∗∗b∗∗ @all ends.\n│ All is well",
		"discord":      `The silence \<!channel\> \[x\](https://evil.example) \*\*b\*\* ＠all ends.` + "\n│ All is well",
		"teams":        `The silence <!channel> \[x\](https://evil.example) \*\*b\*\* @all ends.` + "\n│ All is well",
		"dingtalk":     "The silence ＜!channel> ［x］(https://evil.example) ∗∗b∗∗ ＠all ends.\n│ All is well",
		"telegram":     "The silence <!channel> [x](https://evil.example) **b** ＠all ends.\n│ All is well",
		"unknown":      "The silence <!channel> [x](https://evil.example) **b** @all ends. All is well",
		"ntfy":         "The silence <!channel> [x](https://evil.example) **b** @all ends.\n│ All is well",
		"zoom":         "The silence <!channel> [x](https://evil.example) **b** @all ends.\n│ All is well",
		"wecom_app:5":  "The silence ＜!channel> ［x］(https://evil.example) ∗∗b∗∗ ＠all ends.\n│ All is well",
		"feishu_app:5": `The silence <!channel> \[x\](https://evil.example) \*\*b\*\* @all ends.` + "\n│ All is well",
		"slack_app:5":  "The silence &lt;!channel&gt; [x](<https://evil.example>) ∗∗b∗∗ @all ends.\n│ All is well",
	}
	for method := range want {
		r.write(func(tx *db.Tx) error {
			return r.Put(tx, notify.Notification{Account: apitest.AccountA, Key: method, Cause: notify.Shift, Method: method, Address: notify.Address{To: strings.ReplaceAll(method, " ", "")}, Detail: notify.Detail{Subject: "s", Text: text}}, r.clock.Now())
		})
	}
	r.settle()
	for method, wanted := range want {
		if r.texts[method] != wanted {
			t.Errorf("%s: %q, want %q", method, r.texts[method], wanted)
		}
	}
}

// A call and a text message have no line for a subject, so an alert of Tocsin's own begins with what happened.
func TestOwnAlertsAreSpokenWithTheirSubject(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	for _, method := range []string{"voice", "sms", "email"} {
		r.write(func(tx *db.Tx) error {
			return r.Put(tx, notify.Notification{Account: apitest.AccountA, Key: method, Cause: notify.Own, Method: method, Address: notify.Address{To: "+491"},
				Detail: notify.Detail{Subject: "Integration Probe: 1 event refused", Text: "The key is not known."}}, r.clock.Now())
		})
	}
	r.settle()
	spoken := "Integration Probe: 1 event refused. The key is not known."
	for method, want := range map[string]string{"voice": spoken, "sms": spoken, "email": "The key is not known."} {
		if got := r.texts[method]; got != want {
			t.Errorf("%s: %q, want %q", method, got, want)
		}
	}
}
