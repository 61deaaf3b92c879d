package demo

import (
	"tocsin/internal/activity"
	"tocsin/internal/engine/webhook"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/secret"
	"tocsin/internal/push"
	"tocsin/internal/schedule"
	"tocsin/internal/schedulefeed"
	"tocsin/internal/warroom"
)

const (
	slackApp     int64 = accountID + 320_000
	annasBrowser int64 = accountID + 340_000
	// namedAttempt is an attempt of a webhook with its message, its request and its response.
	namedAttempt = "20260413mGsxP3drpFfs4ZCQd2pSDp"
)

// putNamed stores objects that an account file lacks and that examples of the reference name: their identifiers, random
// elsewhere, are the same in every run.
func putNamed(tx *db.Tx, keyring *secret.Keyring, m moments) error {
	for _, q := range covers(m) {
		if err := schedule.PutCover(tx, accountID, q); err != nil {
			return err
		}
	}
	if err := schedulefeed.Put(tx, accountID, object(kindFeed, 1), platformOnCall, anna, m.ago(40*day)); err != nil {
		return err
	}
	browser := push.Subscription{
		AccountID: accountID, ID: annasBrowser, PersonID: anna, Name: "Firefox on Android", CreatedAt: m.ago(30 * day).Unix(),
	}
	if err := (&push.Service{Keyring: keyring}).Put(tx, browser, push.Target{
		Endpoint: "https://push." + domain + "/send/3f09d2",
		P256dh:   "BNNL5ZaTfK81qhXOx23-wewhigUeFb632jN6LvRWCFH1ubQr77FE_9qV1FuojuRmHP42zmf34rXgW80OvUVDgTk",
		Auth:     "zqbxT6JKstKSY9JKibZLSQ",
	}); err != nil {
		return err
	}
	if err := warroom.Put(tx, warRoom(m.ago(troubles()[1].began).Unix())); err != nil {
		return err
	}
	return webhook.PutSent(tx, reassigned(m), namedDelivery(m), `{"ok":true}`)
}

// covers returns requests for cover of evenings in weeks that are far enough ahead: two that the owner was asked by Jonas,
// and one of her own.
func covers(m moments) []schedule.CoverRequest {
	ask := func(number, person int64, days int, reason string, asked ...int64) schedule.CoverRequest {
		return schedule.CoverRequest{
			RequestID: 5_789_640_530_776 + number, ScheduleID: platformOnCall, PersonID: person, RoleID: -1,
			Start: m.day(days, 18).Unix(), End: m.day(days, 22).Unix(), ExpireAt: m.day(days, 18).Unix(), Reason: reason,
			AskedIDs: asked, Declined: []int64{}, Status: schedule.CoverOpen, CreateAt: m.ago(day).Unix(), UpdateAt: m.ago(day).Unix(),
		}
	}
	return []schedule.CoverRequest{
		ask(1, jonas, 36, "Choir rehearsal", anna, lukasz),
		ask(2, jonas, 38, "Concert", anna, lukasz),
		ask(3, anna, 30, "Parents' evening at school", lukasz, minjun),
	}
}

// warRoom returns the group in which the declined payments are discussed, which began at a moment.
func warRoom(began int64) warroom.Record {
	return warroom.Record{
		AccountID: accountID, IntegrationID: slackApp, CreatedBy: zoe, ChatID: "C0123456789", ChatName: "000002-card-payments-are-declined",
		ShareLink: "https://chat." + domain + "/archives/C0123456789", IncidentID: object(kindIncident, 2), Status: "open",
		CreatedAt: began + 240, PluginType: "slack",
	}
}

// reassigned returns the event that Olena handed the basket's trouble to Eleni.
func reassigned(m moments) activity.Item {
	t := troubles()[0]
	at := m.ago(t.began - t.history[1].from)
	return activity.Item{
		Account: accountID, ID: object(kindIncident, 1), Channel: t.channel, At: at, Person: t.history[0].person,
		Event: activity.Assigned{
			How: "reassign", To: []int64{t.history[1].person}, PersonIDs: []int64{t.history[1].person}, AssignedAt: at.Unix(),
		},
	}
}

// namedDelivery returns the attempt that delivered reassigned to the tickets.
func namedDelivery(m moments) webhook.Delivery {
	item := reassigned(m)
	return webhook.Delivery{
		EventID: namedAttempt, IntegrationID: tickets, WebhookType: "incident", EventType: item.Event.Type(), ChannelID: item.Channel,
		RefID: item.ID, Endpoint: subscribers[1].endpoint, Attempt: 1, Duration: 212, Status: "success", StatusCode: 200,
		EventTime: webhook.MomentOf(item.At),
	}
}
