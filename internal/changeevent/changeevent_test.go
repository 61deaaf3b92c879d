package changeevent_test

import (
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/changeevent"
	"tocsin/internal/channel"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
	read "tocsin/internal/source/change"
)

func TestChanges(t *testing.T) {
	s := apitest.Start(t, changeevent.Ops())
	from := integration.Integration{AccountID: apitest.AccountA, IntegrationID: 5, IntegrationName: "Deployments", ChannelID: 1001}
	secret := integration.Integration{AccountID: apitest.AccountA, IntegrationID: 6, IntegrationName: "Secret", ChannelID: 1002}
	s.Write(func(tx *db.Tx) error {
		if err := channel.Load(tx, apitest.AccountA, []channel.Channel{{ChannelID: 1001, ChannelName: "Payments"}, {ChannelID: 1002, ChannelName: "Security", TeamID: 99, IsPrivate: true}}); err != nil {
			return err
		}
		for i, e := range []struct {
			from integration.Integration
			body string
		}{
			{from, `{"title": "Checkout 4.2", "change_key": "c42", "change_status": "planned", "labels": {"service": "checkout"}, "link": "https://ci.example.com/42"}`},
			{from, `{"title": "Checkout 4.2", "change_key": "c42", "change_status": "Done", "labels": {"service": "checkout"}, "description": "took 3 minutes"}`},
			{from, `{"title": "Cart 1.0", "change_key": "c1", "change_status": "Processing", "labels": {"service": "cart", "type": "deployment"}}`},
			{secret, `{"title": "Keys", "change_key": "k", "change_status": "Done"}`},
		} {
			now := apitest.Now.Add(time.Duration(i-10) * time.Second)
			event, err := read.Parse([]byte(e.body), now)
			if err != nil {
				return err
			}
			if _, _, err := changeevent.Put(tx, e.from, event, now); err != nil {
				return err
			}
		}
		return nil
	})
	s.Converse(t, []apitest.Turn{
		{Path: "/change/list", Body: `{"query": "checkout", "include_events": true}`, Keep: map[string]string{"change": "items.0.change_id", "a": "items.0.events.0.event_id", "b": "items.0.events.1.event_id"}, Golden: "change_list"},
		{Path: "/change/list", Body: `{}`, Has: `{"total": 3, "items": [{"title": "Keys", "type": ""}, {"title": "Cart 1.0", "status": "Processing", "type": "deployment"}, {"change_status": "Done", "status": "Done", "description": "took 3 minutes"}]}`},
		{Path: "/change/list", Body: `{"filters": [[{"key": "labels.service", "oper": "IN", "vals": ["cart"]}]], "integration_ids": [5], "channel_ids": [1001]}`, Has: `{"total": 1, "items": [{"title": "Cart 1.0", "end_time": 0}]}`},
		{Path: "/change/list", Body: `{"asc": true, "limit": 1, "p": 2}`, Has: `{"total": 3, "has_next_page": true, "items": [{"title": "Cart 1.0"}]}`},
		{Path: "/change/list", Body: `{"start_time": 1}`, Code: "InvalidParameter", Says: []string{"end_time"}},
		{Path: "/change/list", Body: `{"start_time": 1, "end_time": 9000000}`, Code: "InvalidParameter", Says: []string{"31 days"}},
		{Path: "/change/list", Body: `{"filters": [[{"key": "", "oper": "IN", "vals": ["x"]}]]}`, Code: "InvalidParameter", Says: []string{"filters[0][0].key"}},
		{Path: "/change/list", Key: apitest.KeyB, Body: `{}`, Has: `{"total": 0}`},
	})
}
