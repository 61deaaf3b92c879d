package console

import (
	"strconv"
)

var pushActions = []action{
	{path: "/me/push", do: addBrowser, show: showMe, page: "me"},
	{path: "/me/push/remove", do: removeBrowser, show: showMe, page: "me"},
	{path: "/me/push/test", do: testBrowser, show: showMe, page: "me"},
}

// browser is one in which the visitor receives push.
type browser struct {
	ID      int64  `json:"subscription_id"`
	Name    string `json:"name"`
	Host    string `json:"host"`
	Digest  string `json:"digest"`
	Created int64  `json:"created_at"`
	Tried   int64  `json:"tried_at"`
	Problem string `json:"problem"`
}

// browsers are those in which the visitor receives push.
type browsers struct {
	Items []browser `json:"items"`
	Key   string    `json:"application_server_key"`
	Agent string    `json:"-"` // what this browser is called
}

func (v *visit) browsers() (b browsers, err error) {
	b.Agent = sessionRow{Agent: v.r.UserAgent()}.Browser()
	return b, v.call("/person/push/list", struct{}{}, &b)
}

func addBrowser(v *visit) (string, error) {
	name := v.field("name")
	if name == "" { // the browser itself has replaced its subscription
		name = sessionRow{Agent: v.r.UserAgent()}.Browser()
	}
	request := map[string]any{
		"endpoint": v.field("endpoint"), "keys": map[string]string{"p256dh": v.field("p256dh"), "auth": v.field("auth")},
		"name": string([]rune(name)[:min(100, len([]rune(name)))]),
	}
	return "/me?done=push#push", v.call("/person/push/subscribe", request, nil)
}

// subscription returns the request about the browser that a form names.
func (v *visit) subscription() map[string]any {
	id, _ := strconv.ParseInt(v.field("subscription_id"), 10, 64)
	return map[string]any{"subscription_id": id}
}

func removeBrowser(v *visit) (string, error) {
	return "/me?done=deleted#push", v.call("/person/push/remove", v.subscription(), nil)
}

func testBrowser(v *visit) (string, error) {
	return "/me?done=push-test#push", v.call("/person/push/test", v.subscription(), nil)
}
