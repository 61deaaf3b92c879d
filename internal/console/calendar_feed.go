package console

import (
	"cmp"
	"strconv"
)

// feedView is the addresses of calendar feeds, and a form for a new one.
type feedView struct {
	titled
	Kind, Name string
	Target     int64
	URL        string // of the feed that was just made; shown only once
	Feeds      []calendarFeed
}

type calendarFeed struct {
	ID        string `json:"feed_id"`
	Kind      string `json:"kind"`
	Target    int64  `json:"id"`
	Name      string `json:"name"`
	CreatedAt int64  `json:"created_at"`
}

func showFeeds(v *visit) (view, error) {
	d := feedView{titled: titled(v.T("Calendar feeds")), Kind: cmp.Or(v.field("kind"), v.query("kind")), URL: v.feedURL}
	d.Target = number(cmp.Or(v.field("id"), v.query("id")))
	if d.Kind == "schedule" {
		s, err := v.schedule(d.Target, v.Now.Unix(), v.Now.Unix()+60)
		if err != nil {
			return nil, err
		}
		d.Name = s.Name
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
	var reply struct {
		Items []calendarFeed `json:"items"`
	}
	err := v.call("/schedule/calendar/list", map[string]any{}, &reply)
	d.Feeds = reply.Items
	return d, err
}

// makeFeed makes an address. Its secret is in the page that answers and nowhere else.
func makeFeed(v *visit) (string, error) {
	var reply struct {
		URL string `json:"url"`
	}
	err := v.call("/schedule/calendar/url", map[string]any{"kind": v.field("kind"), "id": number(v.field("id"))}, &reply)
	v.feedURL = reply.URL
	return "", err
}

func revokeFeed(v *visit) (string, error) {
	err := v.call("/schedule/calendar/revoke", map[string]any{"feed_id": v.field("feed")}, nil)
	return "/calendar-feeds?kind=" + kindOf(v.field("kind")) + "&id=" + strconv.FormatInt(number(v.field("id")), 10), err
}

func kindOf(kind string) string {
	if kind == "schedule" {
		return kind
	}
	return "person"
}
