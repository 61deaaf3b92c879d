package people

import (
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/console/page"
	"tocsin/internal/push"
)

var pushActions = []page.Action{
	{Path: "/me/push", Do: addBrowser, Show: showMe, Template: "me"},
	{Path: "/me/push/remove", Do: removeBrowser, Show: showMe, Template: "me"},
	{Path: "/me/push/test", Do: testBrowser, Show: showMe, Template: "me"},
}

// browsers are those in which the visitor receives push.
type browsers struct {
	Known push.Items
	Agent string // what this browser is called
}

func readBrowsers(v *page.Visit) (browsers, error) {
	items, err := page.Call[push.Items](v, "/person/push/list", struct{}{})
	return browsers{items, page.BrowserOf(v.Request.UserAgent())}, err
}

func addBrowser(v *page.Visit) (string, error) {
	name := v.Field("name")
	if name == "" { // the browser itself has replaced its subscription
		name = page.BrowserOf(v.Request.UserAgent())
	}
	request := push.SubscribeRequest{
		Endpoint: v.Field("endpoint"), Name: string([]rune(name)[:min(100, len([]rune(name)))]),
		Keys: push.Keys{P256dh: v.Field("p256dh"), Auth: v.Field("auth")},
	}
	return "/me?done=push#push", page.Do[push.Subscribed](v, "/person/push/subscribe", request)
}

// subscription returns the request about the browser that a form names.
func subscription(v *page.Visit) push.OneRequest {
	id, _ := strconv.ParseInt(v.Field("subscription_id"), 10, 64)
	return push.OneRequest{SubscriptionID: id}
}

func removeBrowser(v *page.Visit) (string, error) {
	return "/me?done=deleted#push", page.Do[api.Empty](v, "/person/push/remove", subscription(v))
}

func testBrowser(v *page.Visit) (string, error) {
	return "/me?done=push-test#push", page.Do[api.Empty](v, "/person/push/test", subscription(v))
}
