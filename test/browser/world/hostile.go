package world

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"tocsin/internal/accountfile"
)

// hostile is what someone would write who wants a page to run it. In a page that does not escape it, the browser reports
// the handler, which the policy refuses.
const hostile = `"'><img src=x onerror=hit()>`

// texts are the members of the account file that people write and that refer to nothing.
var texts = map[string]bool{
	"account_name": true, "person_name": true, "team_name": true, "role_name": true, "schedule_name": true, "layer_name": true,
	"group_name": true, "channel_name": true, "rule_name": true, "template_name": true, "name": true, "title": true,
	"description": true, "application_name": true, "cal_name": true, "summary": true, "integration_name": true, "display_name": true,
}

// MakeHostile replaces every name, title and description of an account by markup.
func MakeHostile(t Reporter, f *accountfile.File) {
	t.Helper()
	var text bytes.Buffer
	var all any
	err := accountfile.Write(&text, f)
	if err == nil {
		err = json.Unmarshal(text.Bytes(), &all)
	}
	if err != nil {
		t.Fatalf("%v", err)
	}
	n := 0
	infect(all, &n)
	infected, err := json.Marshal(all)
	if err != nil {
		t.Fatalf("%v", err)
	}
	changed, err := accountfile.Read(bytes.NewReader(infected))
	if err != nil {
		t.Fatalf("the hostile account: %v", err)
	}
	*f = *changed
}

func infect(v any, n *int) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			infect(e, n)
		}
	case map[string]any:
		for name, e := range v {
			if name == "queries" || name == "relate_queries" { // expressions refer to their names
				continue
			}
			if _, isText := e.(string); isText && texts[name] {
				*n++
				v[name] = fmt.Sprintf("%s%d", hostile, *n) // names are unique
			} else {
				infect(e, n)
			}
		}
	}
}

// PushHostile sends events whose every field is hostile: markup, addresses that run scripts, very long words, and text
// from right to left.
func PushHostile(t Reporter, w *World) {
	t.Helper()
	for i, title := range []string{hostile, strings.Repeat("W", 500), "\u202eright to left\u202c שלום", "</title></script><script>hit()</script>"} {
		w.Push(t, fmt.Sprintf("hostile-%d", i), title, "Critical", map[string]string{
			"service": "payment-api", "link": "javascript:hit()", "markup": hostile, "long": strings.Repeat("x", 2000),
			"url": "https://example.com/" + strings.Repeat("y", 300), "rtl": "\u202eabc",
		})
	}
}
