package console

import (
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/push"
)

var pushActions = []action{
	{path: "/me/push", do: addBrowser, show: showMe, page: "me"},
	{path: "/me/push/remove", do: removeBrowser, show: showMe, page: "me"},
	{path: "/me/push/test", do: testBrowser, show: showMe, page: "me"},
}

// browsers are those in which the visitor receives push.
type browsers struct {
	Known push.Items
	Agent string // what this browser is called
}

func (v *visit) browsers() (browsers, error) {
	items, err := call[push.Items](v, "/person/push/list", struct{}{})
	return browsers{items, browserOf(v.r.UserAgent())}, err
}

func addBrowser(v *visit) (string, error) {
	name := v.field("name")
	if name == "" { // the browser itself has replaced its subscription
		name = browserOf(v.r.UserAgent())
	}
	request := push.SubscribeRequest{Endpoint: v.field("endpoint"), Name: string([]rune(name)[:min(100, len([]rune(name)))])}
	request.Keys.P256dh, request.Keys.Auth = v.field("p256dh"), v.field("auth")
	return "/me?done=push#push", do[push.Subscribed](v, "/person/push/subscribe", request)
}

// subscription returns the request about the browser that a form names.
func (v *visit) subscription() push.OneRequest {
	id, _ := strconv.ParseInt(v.field("subscription_id"), 10, 64)
	return push.OneRequest{SubscriptionID: id}
}

func removeBrowser(v *visit) (string, error) {
	return "/me?done=deleted#push", do[api.Empty](v, "/person/push/remove", v.subscription())
}

func testBrowser(v *visit) (string, error) {
	return "/me?done=push-test#push", do[api.Empty](v, "/person/push/test", v.subscription())
}
