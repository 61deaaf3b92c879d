package schedule

import (
	"cmp"
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/console/page"
	"tocsin/internal/schedulefeed"
)

// feedView is the addresses of calendar feeds, and a form for a new one.
type feedView struct {
	page.Titled
	Kind, Name string
	Target     int64
	URL        string // of the feed that was just made; shown only once
	Feeds      []schedulefeed.Feed
}

func showFeeds(v *page.Visit) (page.View, error) {
	d := feedView{Titled: page.Titled(v.T("Calendar feeds")), Kind: cmp.Or(v.Field("kind"), v.Query("kind")), URL: outcomeOf(v).feedURL}
	d.Target = page.Number(cmp.Or(v.Field("id"), v.Query("id")))
	if d.Kind == "schedule" {
		s, err := readSchedule(v, d.Target, v.Now.Unix(), v.Now.Unix()+60)
		if err != nil {
			return nil, err
		}
		d.Name = s.Name()
	} else {
		d.Kind = "person"
		if d.Target == 0 {
			d.Target = v.Who.PersonID
		}
		people, err := v.People([]int64{d.Target})
		if err != nil {
			return nil, err
		}
		d.Name = cmp.Or(people[d.Target].Name, v.T("person %d", d.Target))
	}
	reply, err := page.Call[schedulefeed.Listed](v, "/schedule/calendar/list", schedulefeed.ListRequest{})
	d.Feeds = reply.Items
	return d, err
}

// makeFeed makes an address. Its secret is in the page that answers and nowhere else.
func makeFeed(v *page.Visit) (string, error) {
	request := schedulefeed.URLRequest{Kind: v.Field("kind"), ID: v.Number("id")}
	reply, err := page.Call[schedulefeed.Created](v, "/schedule/calendar/url", request)
	outcomeOf(v).feedURL = reply.URL
	return "", err
}

func revokeFeed(v *page.Visit) (string, error) {
	err := page.Do[api.Empty](v, "/schedule/calendar/revoke", schedulefeed.RevokeRequest{FeedID: v.Field("feed")})
	return "/calendar-feeds?kind=" + kindOf(v.Field("kind")) + "&id=" + strconv.FormatInt(v.Number("id"), 10), err
}

func kindOf(kind string) string {
	if kind == "schedule" {
		return kind
	}
	return "person"
}
