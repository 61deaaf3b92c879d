package console

import (
	"cmp"
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/schedulefeed"
)

// feedView is the addresses of calendar feeds, and a form for a new one.
type feedView struct {
	titled
	Kind, Name string
	Target     int64
	URL        string // of the feed that was just made; shown only once
	Feeds      []schedulefeed.Feed
}

func showFeeds(v *visit) (view, error) {
	d := feedView{titled: titled(v.T("Calendar feeds")), Kind: cmp.Or(v.field("kind"), v.query("kind")), URL: v.feedURL}
	d.Target = number(cmp.Or(v.field("id"), v.query("id")))
	if d.Kind == "schedule" {
		s, err := v.schedule(d.Target, v.Now.Unix(), v.Now.Unix()+60)
		if err != nil {
			return nil, err
		}
		d.Name = s.Name()
	} else {
		d.Kind = "person"
		if d.Target == 0 {
			d.Target = v.who.PersonID
		}
		people, err := v.people([]int64{d.Target})
		if err != nil {
			return nil, err
		}
		d.Name = cmp.Or(people[d.Target].Name, v.T("person %d", d.Target))
	}
	reply, err := call[schedulefeed.Listed](v, "/schedule/calendar/list", schedulefeed.ListRequest{})
	d.Feeds = reply.Items
	return d, err
}

// makeFeed makes an address. Its secret is in the page that answers and nowhere else.
func makeFeed(v *visit) (string, error) {
	request := schedulefeed.URLRequest{Kind: v.field("kind"), ID: number(v.field("id"))}
	reply, err := call[schedulefeed.Created](v, "/schedule/calendar/url", request)
	v.feedURL = reply.URL
	return "", err
}

func revokeFeed(v *visit) (string, error) {
	err := do[api.Empty](v, "/schedule/calendar/revoke", schedulefeed.RevokeRequest{FeedID: v.field("feed")})
	return "/calendar-feeds?kind=" + kindOf(v.field("kind")) + "&id=" + strconv.FormatInt(number(v.field("id")), 10), err
}

func kindOf(kind string) string {
	if kind == "schedule" {
		return kind
	}
	return "person"
}
