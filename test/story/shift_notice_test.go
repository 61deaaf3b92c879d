package story

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

const turns = 7000000000033 // Ann and Bob alternate, with a handoff at noon; Bob's shift ends two hours after the start

// taking is a section with the schedule turns: its notify, and members beside it.
func taking(notify string, more ...string) string {
	extra := ""
	for _, m := range more {
		extra += ", " + m
	}
	return fmt.Sprintf(`{"schedules": [{"schedule_id": %d, "schedule_name": "Turns", "notify": %s, "layers": [%s]%s}]}`, turns, notify, rotation, extra)
}

// rotation is the layer of turns; override replaces everyone by a person for a period.
var rotation = fmt.Sprintf(`{"layer_name": "r", "mode": 0, "layer_start": 1767268800, "rotation_unit": "day", "rotation_value": 1, "groups": [
	{"group_name": "A", "members": [{"role_id": 0, "person_ids": [%d]}]}, {"group_name": "B", "members": [{"role_id": 0, "person_ids": [%d]}]}]}`, ann, bob)

func override(person int, from, until time.Time) string {
	return fmt.Sprintf(`{"layer_name": "o", "mode": 1, "layer_start": %d, "layer_end": %d, "groups": [{"group_name": "O", "members": [{"role_id": 0, "person_ids": [%d]}]}]}`, from.Unix(), until.Unix(), person)
}

func begins(person string) string { return person + "@example.com email shift_begin" }
func ends(person string) string   { return person + "@example.com email shift_end" }
func today(person string) string  { return person + "@example.com email shift_daily" }

// slow makes pass take larger steps.
func (w *world) slow() *world { w.drift = 5 * time.Minute; return w }

// standstill lets time pass in which no process runs.
func (w *world) standstill(d time.Duration) {
	w.t.Helper()
	w.http.Close()
	w.must(w.app.Close())
	w.clock.Add(d)
	w.open()
	w.settle()
}

// texts returns the notifications so far, by receiver.
func (w *world) texts() map[string]string {
	all := map[string]string{}
	for _, p := range w.reached() {
		all[p.to] = p.subject + ": " + p.text
	}
	return all
}

func (w *world) hasText(to, want string) {
	w.t.Helper()
	if got := w.texts()[to]; got != want {
		w.t.Errorf("%s is told %q, want %q", to, got, want)
	}
}

func TestBothPersonsAreNotifiedBeforeHandoff(t *testing.T) {
	t.Parallel()
	w := begin(t, taking(`{"advance_in_time": 3600}`)).slow()
	w.pass(55 * time.Minute)
	w.notified()
	w.pass(5 * time.Minute)
	w.hasText("ann@example.com", "On call in Turns from Sat 21 Nov 13:00 CET: You are on call in Turns from Sat 21 Nov 13:00 CET until Sun 22 Nov 13:00 CET. You take over from Bob Night.")
	w.hasText("bob@example.com", "On call in Turns until Sat 21 Nov 12:00 UTC: Your on-call shift in Turns ends Sat 21 Nov 12:00 UTC. Ann Day will take over.")
	w.notified(begins("ann"), ends("bob"))
	w.pass(23 * time.Hour)
	w.notified()
	w.pass(time.Hour)
	w.notified(begins("bob"), ends("ann"))
}

func TestBothPersonsAreNotifiedAtHandoff(t *testing.T) {
	t.Parallel()
	w := begin(t, taking(`{"advance_in_time": 0}`)).slow()
	w.pass(2*time.Hour - time.Second)
	w.notified()
	w.pass(time.Second)
	w.hasText("bob@example.com", "On call in Turns until Sat 21 Nov 12:00 UTC: Your on-call shift in Turns ended Sat 21 Nov 12:00 UTC. Ann Day took over.")
	w.notified(begins("ann"), ends("bob"))
	w.pass(time.Hour)
	w.notified()
}

// A person who stays on call is not notified. A shift that no one follows is notified as such.
func TestOnlyHandoffsToAnotherPersonAreNotified(t *testing.T) {
	t.Parallel()
	w := begin(t).slow()
	for _, id := range []int{day, night} {
		w.do("/schedule/update", `{"schedule_id": %d, "notify": {"advance_in_time": 600}}`, id)
	}
	w.pass(12 * time.Hour)
	w.notified(begins("bob"))
	w.pass(8 * time.Hour)
	w.hasText("bob@example.com", "On call in Night until Sun 22 Nov 06:00 UTC: Your on-call shift in Night ends Sun 22 Nov 06:00 UTC. Nobody is on call after you.")
	w.notified(ends("bob"))
}

func TestOnCallPersonIsNotifiedEveryDay(t *testing.T) {
	t.Parallel()
	w := begin(t, taking(`{"fixed_time": {"cycle": "day", "start": "11:00"}}`)).slow()
	w.pass(time.Hour)
	w.hasText("bob@example.com", "On call in Turns: You are on call in Turns until Sat 21 Nov 12:00 UTC.")
	w.notified(today("bob"))
	w.pass(23 * time.Hour)
	w.notified()
	w.pass(time.Hour)
	w.notified(today("ann"))
}

func TestNoNotificationWhenNoOneIsOnCall(t *testing.T) {
	t.Parallel()
	w := begin(t).slow()
	w.do("/schedule/update", `{"schedule_id": %d, "notify": {"fixed_time": {"cycle": "day", "start": "12:00"}}}`, night)
	w.pass(24 * time.Hour)
	w.notified()
}

// New York puts its clock forward at two on 14 March 2027 and 12 March 2028, and back at two on 7 November 2027.
func TestTimeOfDayAcrossClockChanges(t *testing.T) {
	t.Parallel()
	w := begin(t).slow()
	for _, c := range []struct{ start, from, first, second string }{
		{"08:00", "2027-03-13T12:00:00Z", "2027-03-13T13:00:00Z", "2027-03-14T12:00:00Z"},
		{"01:30", "2027-11-07T05:00:00Z", "2027-11-07T05:30:00Z", "2027-11-08T06:30:00Z"}, // shown twice
		{"02:30", "2028-03-12T06:30:00Z", "2028-03-12T07:30:00Z", "2028-03-13T06:30:00Z"}, // never shown
	} {
		from, _ := time.Parse(time.RFC3339, c.from)
		w.clock.Set(from)
		w.do("/schedule/update", `{"schedule_id": %d, "time_zone": "America/New_York", "notify": {"fixed_time": {"cycle": "day", "start": %q}}}`, day, c.start)
		for _, want := range []string{c.first, c.second} {
			at, _ := time.Parse(time.RFC3339, want)
			w.pass(at.Sub(w.clock.Now()) - time.Second)
			w.notified()
			w.pass(time.Second)
			w.notified(today("ann"))
		}
	}
}

func TestOverrideIsChange(t *testing.T) {
	t.Parallel()
	w := begin(t, taking(`{"advance_in_time": 600}`)).slow()
	w.pass(115 * time.Minute)
	w.notified(begins("ann"), ends("bob"))
	noon := start.Add(2 * time.Hour)
	w.do("/schedule/update", `{"schedule_id": %d, "layers": [%s, %s]}`, turns, rotation, override(cid, noon.Add(time.Hour), noon.Add(2*time.Hour)))
	w.notified()
	w.pass(time.Hour)
	w.notified(begins("cid"), ends("ann"))
	w.pass(time.Hour)
	w.notified(begins("ann"), ends("cid"))
}

// An override that begins at once is stored a moment later.
func TestOverrideThatBeginsAtOnceIsNotified(t *testing.T) {
	t.Parallel()
	w := begin(t, taking(`{"advance_in_time": 0}`)).slow()
	w.settle()
	w.clock.Add(2 * time.Second)
	w.do("/schedule/update", `{"schedule_id": %d, "layers": [%s, %s]}`, turns, rotation, override(cid, start, start.Add(time.Hour)))
	w.notified(begins("cid"), ends("bob"))
}

func TestEditedScheduleIsComputedAgain(t *testing.T) {
	t.Parallel()
	w := begin(t, taking(`{"advance_in_time": 3600}`)).slow()
	w.pass(time.Hour)
	w.notified(begins("ann"), ends("bob"))
	w.do("/schedule/update", `{"schedule_id": %d, "layers": [%s]}`, turns, strings.Replace(rotation, fmt.Sprint(ann), fmt.Sprint(cid), 1))
	w.notified(begins("cid")) // at the same time; Bob has been notified before
	w.do("/schedule/update", `{"schedule_id": %d, "layers": [%s]}`, turns, rotation)
	w.notified() // so has Ann
	w.do("/schedule/update", `{"schedule_id": %d, "notify": {"advance_in_time": 0}}`, turns)
	w.pass(25 * time.Hour)
	w.notified(begins("bob"), ends("ann"))
	w.do("/schedule/update", `{"schedule_id": %d, "notify": {}}`, turns)
	w.pass(48 * time.Hour)
	w.notified()
}

func TestRestartNotifiesEachShiftOnce(t *testing.T) {
	t.Parallel()
	w := begin(t, taking(`{"advance_in_time": 3600, "fixed_time": {"cycle": "day", "start": "11:30"}}`)).slow()
	w.restart()
	w.pass(time.Hour)
	w.notified(begins("ann"), ends("bob"))
	for range 3 {
		w.restart()
		w.settle()
	}
	w.notified()
	w.pass(30 * time.Minute)
	w.notified(today("bob"))
}

func TestAfterStandstillOnlyCurrentShiftsAreNotified(t *testing.T) {
	t.Parallel()
	both := taking(`{"advance_in_time": 600, "fixed_time": {"cycle": "day", "start": "11:30"}}`)
	w := begin(t, both)
	w.settle()
	w.standstill(2*time.Hour + 50*time.Minute) // fifty minutes after noon, eighty after the time of day
	w.hasText("ann@example.com", "On call in Turns from Sat 21 Nov 13:00 CET: You are on call in Turns since Sat 21 Nov 13:00 CET until Sun 22 Nov 13:00 CET. You took over from Bob Night.")
	w.notified(begins("ann"), ends("bob"))
	w.standstill(24 * time.Hour)
	w.notified(begins("bob"), ends("ann"))
	w.standstill(24*time.Hour + 11*time.Minute) // more than an hour
	w.notified()
}

// A shift that began and ended during the standstill is not notified.
func TestAfterStandstillPastShiftIsNotNotified(t *testing.T) {
	t.Parallel()
	w := begin(t, taking(`{"advance_in_time": 0}`))
	noon := start.Add(2 * time.Hour)
	w.do("/schedule/update", `{"schedule_id": %d, "layers": [%s, %s]}`, turns, rotation, override(cid, noon.Add(10*time.Minute), noon.Add(20*time.Minute)))
	w.standstill(2*time.Hour + 30*time.Minute)
	w.notified(ends("bob"), begins("ann"), ends("cid"))
}

// A waiting notification is checked again before it is sent.
func TestNotificationOfDeletedShiftIsNotSent(t *testing.T) {
	t.Parallel()
	w := begin(t, taking(`{"advance_in_time": 3600}`))
	w.fail("example.com", later)
	w.slow().pass(time.Hour)
	w.acceptAll()
	w.do("/schedule/update", `{"schedule_id": %d, "layers": [%s]}`, turns, strings.Replace(rotation, fmt.Sprint(ann), fmt.Sprint(cid), 1))
	w.pass(30 * time.Minute)
	w.notified(begins("cid"), ends("bob"))
}

func TestLateShiftNotificationIsNotSent(t *testing.T) {
	t.Parallel()
	w := begin(t, taking(`{"advance_in_time": 0}`))
	w.fail("example.com", later)
	w.slow().pass(2 * time.Hour)
	w.acceptAll()
	w.standstill(2 * time.Hour)
	w.notified()
}

func TestQuietHoursPostponeShiftNotifications(t *testing.T) {
	t.Parallel()
	w := begin(t, taking(`{"advance_in_time": 0}`)).slow()
	w.as(annKey, "/preference/update", `{"quiet_hours": [{"start": "12:00", "end": "16:00"}]}`) // in Berlin it is one
	w.pass(5*time.Hour - 5*time.Minute)
	w.notified(ends("bob"))
	w.pass(5 * time.Minute)
	w.notified(begins("ann"))
}

func TestDisabledScheduleNotifiesNoOne(t *testing.T) {
	t.Parallel()
	w := begin(t, taking(`{"advance_in_time": 3600, "fixed_time": {"cycle": "day", "start": "11:30"}}`, `"status": 1`)).slow()
	w.pass(24 * time.Hour)
	w.notified()
	w.do("/schedule/update", `{"schedule_id": %d, "status": 0}`, turns)
	w.pass(90 * time.Minute)
	w.notified(begins("bob"), ends("ann"), today("ann"))
	w.do("/schedule/delete", `{"schedule_ids": [%d]}`, turns)
	w.pass(24 * time.Hour)
	w.notified()
}

func TestScheduleOrPersonChoosesMethod(t *testing.T) {
	t.Parallel()
	w := begin(t, taking(`{"advance_in_time": 3600, "by": {"follow_preference": false, "personal_channels": ["sms", "email"]}}`)).slow()
	w.pass(time.Hour)
	w.notified("+15550100 sms shift_begin", begins("ann"), ends("bob")) // Bob has no phone

	w = begin(t, taking(`{"advance_in_time": 3600, "by": {"follow_preference": true, "personal_channels": ["email"]}}`)).slow()
	w.as(annKey, "/preference/update", `{"schedule_shift_notify": {"personal_channels": ["ntfy"]}, "contacts": {"ntfy": "`+chats+`/ntfy/ann"}}`)
	w.pass(time.Hour)
	w.notified("ann ntfy shift_begin", ends("bob"))
}

func TestChatsOfScheduleAreNotified(t *testing.T) {
	t.Parallel()
	w := begin(t, taking(`{"advance_in_time": 600, "fixed_time": {"cycle": "day", "start": "11:30"}, "webhooks": [{"type": "slack", "settings": {"token": "`+chats+`/slack/ops", "alias": "ops chat"}}]}`)).slow()
	w.pass(90 * time.Minute)
	w.hasText("ops", "On call in Turns: On call in Turns: Bob Night, at Sat 21 Nov 11:30 UTC.")
	w.notified(today("bob"), "ops slack shift_daily")
	w.pass(30 * time.Minute)
	w.hasText("ops", "Shift change in Turns Sat 21 Nov 12:00 UTC: The shift in Turns changes Sat 21 Nov 12:00 UTC. On call from then on: Ann Day. Until then: Bob Night.")
	w.notified(begins("ann"), ends("bob"), "ops slack shift_change")
}

// A schedule that cannot be read blocks no other.
func TestCorruptScheduleBlocksNoOther(t *testing.T) {
	t.Parallel()
	w := begin(t, taking(`{"advance_in_time": 3600}`), fmt.Sprintf(`{"schedules": [{"schedule_id": %d, "schedule_name": "Bad", "notify": {"advance_in_time": 3600}, "layers": [%s]}]}`, turns-3, rotation)).slow()
	w.sql(fmt.Sprintf(`UPDATE schedule SET layers = '[nonsense' WHERE schedule_id = %d`, turns-3))
	w.pass(time.Hour)
	w.notified(begins("ann"), ends("bob"))
}
