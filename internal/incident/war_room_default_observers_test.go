package incident_test

import (
	"testing"

	"tocsin/internal/activity"
	"tocsin/internal/api/apitest"
	"tocsin/internal/channel"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
)

const (
	busy    = "663a1b2c3d4e5f6789abcdf0"
	quiet   = "663a1b2c3d4e5f6789abcdf1"
	private = "663a1b2c3d4e5f6789abcdf2"
	lost    = "663a1b2c3d4e5f6789abcdf3"
)

func TestWarRoomDefaultObservers(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, (&incident.Service{Bus: &activity.Bus{}}).Ops())
	s.Person(apitest.AccountA, 11, "Ann Again")
	s.Person(apitest.AccountA, 12, "Ed Early")
	s.Person(apitest.AccountA, 13, "Gone Away")
	s.Exec(`UPDATE person SET status = 'deleted' WHERE person_id = 13`)
	s.Exec(`UPDATE person SET avatar = '/a.png', locale = 'en-US', time_zone = 'Asia/Shanghai', phone = '+8613800000000', phone_verified = TRUE WHERE person_id = $1`, apitest.Reader)
	s.Exec(`UPDATE person SET email = '', email_verified = FALSE WHERE person_id = $1`, apitest.Stranger)
	s.Write(func(tx *db.Tx) error {
		if err := channel.Load(tx, apitest.AccountA, []channel.Channel{{ChannelID: 1002, ChannelName: "Security", TeamID: apitest.TeamA, IsPrivate: true}}); err != nil {
			return err
		}
		return incident.Load(tx, apitest.AccountA, []incident.Incident{
			{IncidentID: busy, Title: "Payments are slow", Assignments: []incident.Assignment{
				{PersonID: apitest.Reader, AssignedAt: 300, RemovedAt: 400},
				{PersonID: apitest.Stranger, AssignedAt: 200, RemovedAt: 250},
				{PersonID: apitest.OwnerA, AssignedAt: 100},                 // still responsible
				{PersonID: 11, AssignedAt: 10, RemovedAt: 20},               // once removed,
				{PersonID: 11, AssignedAt: 30},                              // and back again
				{PersonID: 12, AssignedAt: 500, RemovedAt: 600},             // assigned late,
				{PersonID: 12, AssignedAt: 50, RemovedAt: 60},               // but first of all
				{PersonID: 13, AssignedAt: 1, RemovedAt: 2},                 // has left the account
				{PersonID: 14, AssignedAt: 1, RemovedAt: 2},                 // is not in it
				{PersonID: apitest.OwnerB, AssignedAt: 1, RemovedAt: 2},     // is in another one
				{PersonID: apitest.Reader, AssignedAt: 200, RemovedAt: 210}, // the same moment as Stranger, but Reader was recorded first
			}},
			{IncidentID: quiet, Title: "Nothing", Assignments: []incident.Assignment{{PersonID: apitest.Reader, AssignedAt: 1}}},
			{IncidentID: private, Title: "Secret", ChannelID: 1002},
			{IncidentID: lost, Title: "Of a channel that is gone", ChannelID: 7},
		})
	})
	body := func(id string) string { return `{"incident_id": "` + id + `"}` }
	none := `{"observers": []}`
	s.Scenarios(t, "/incident/war-room/default-observers", []apitest.Scenario{
		{Name: "by first assignment", Body: body(busy), Golden: "incident_war-room_default-observers"},
		{Name: "in upper case", Body: body("663A1B2C3D4E5F6789ABCDF0"), Golden: "incident_war-room_default-observers"},
		{Name: "any valid key", Key: apitest.KeyNothing, Body: body(busy), Golden: "incident_war-room_default-observers"},
		{Name: "no key", Key: "unknown", Body: body(busy), Code: "Unauthorized"},
		{Name: "all still responsible", Body: body(quiet), Data: none},
		{Name: "never assigned", Body: body(private), Data: none},
		{Name: "of a channel that is gone", Key: apitest.KeyNothing, Body: body(lost), Data: none},
		{Name: "private, in the team", Key: apitest.KeyReader, Body: body(private), Data: none},
		{Name: "private, outside the team", Key: apitest.KeyNothing, Body: body(private), Code: "AccessDenied", Says: []string{"channel 1002 is private"}},
		{Name: "unknown", Body: body("000000000000000000000000"), Code: "ResourceNotFound", Says: []string{"incident 000000000000000000000000"}},
		{Name: "another account's", Key: apitest.KeyB, Body: body(busy), Code: "ResourceNotFound"},
		{Name: "23 digits", Body: body(busy[1:]), Code: "InvalidParameter", Says: []string{"incident_id", "24 hexadecimal digits"}},
		{Name: "25 digits", Body: body(busy + "0"), Code: "InvalidParameter"},
		{Name: "not hexadecimal", Body: body("x63a1b2c3d4e5f6789abcdf0"), Code: "InvalidParameter"},
		{Name: "missing", Body: `{}`, Code: "InvalidParameter", Says: []string{"incident_id", "required"}},
	})
}
