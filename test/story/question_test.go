package story

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// woken is the message about the end of a snooze.
func woken(person string) string { return person + "@example.com email i_wake" }

// annThenBob pages Ann, and half an hour later Bob.
func annThenBob() string {
	return escalates(layer(persons(ann), window(30)) + "," + layer(persons(bob)))
}

// asked begins a world in which Ann has acknowledged a Critical incident. A reminder has just asked Ann whether she still
// works on it. Bob was notified of the incident as well.
func asked(t *testing.T) *world {
	t.Helper()
	w := begin(t, annThenBob())
	w.push("cpu", "Critical")
	w.drift = time.Minute
	w.pass(31 * time.Minute)
	w.ack(annKey)
	w.notified(newPage("ann"), newPage("bob"), acked("bob"))
	w.pass(59 * time.Minute)
	w.notified()
	w.pass(time.Minute + catchUp)
	w.notified(remind("ann"))
	return w
}

// replies sends an answer of Ann's.
func (w *world) replies(answer string) {
	w.t.Helper()
	w.as(annKey, "/incident/answer", `{"incident_ids": [%q], "answer": %q}`, w.incident(), answer)
	w.settle()
}

func TestAcknowledgerIsAskedAndOtherPersonsAreNot(t *testing.T) {
	t.Parallel()
	w := begin(t, annThenBob())
	w.push("cpu", "Critical")
	w.pass(31 * time.Minute)
	w.ack(annKey)
	w.newPages()
	w.drift = time.Minute
	w.pass(time.Hour)
	w.pass(catchUp)
	question := w.last()
	w.notified(remind("ann"))
	for _, part := range []string{"[Critical, still open]", "You have this since 11:31, still open", "still on it, ask again in 4 hours, not again, or give it back: https://"} {
		if text := question.subject + "\n" + question.text; !strings.Contains(text, part) {
			t.Errorf("the question lacks %q: %s", part, text)
		}
	}
	w.inFeed("cpu", "Next: its acknowledgement is withdrawn at Sat 21 Nov 11:41 (UTC) and its escalation begins again, if no answer comes before.")
}

func TestUnansweredReminderWithdrawsAcknowledgement(t *testing.T) {
	t.Parallel()
	w := asked(t)
	w.drift = 10 * time.Second
	w.pass(9*time.Minute + 50*time.Second)
	w.notified()
	w.pass(20 * time.Second)
	page := w.last()
	w.notified(newPage("ann"))
	if !strings.Contains(page.text, "because no answer came from those who had acknowledged it, so that its acknowledgement was withdrawn") {
		t.Errorf("the page does not say why it comes again: %s", page.text)
	}
	if w.progress() != "Triggered" {
		t.Errorf("the incident is %s", w.progress())
	}
	w.inFeed("cpu", "The acknowledgement of the incident was withdrawn: no answer came to a reminder. So its escalation begins again.")
	w.pass(31 * time.Minute)
	w.notified(newPage("bob"))
	w.ack(annKey) // a later acknowledgement begins as the first acknowledgement
	w.notified(acked("bob"))
	w.drift = time.Minute
	w.pass(time.Hour)
	w.pass(catchUp)
	w.notified(remind("ann"))
}

func TestAnswerToReminderHolds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		answer string
		quiet  time.Duration // without a message
		then   []string
	}{
		{"still", 59 * time.Minute, []string{remind("ann")}},
		{"later", 4*time.Hour - time.Minute, []string{remind("ann")}},
		{"never", 40 * time.Hour, nil},
		{"back", 0, []string{newPage("ann")}},
	} {
		t.Run(c.answer, func(t *testing.T) {
			t.Parallel()
			w := asked(t)
			w.pass(5 * time.Minute)
			w.replies(c.answer)
			w.pass(c.quiet)
			if c.quiet > 0 {
				w.notified()
			}
			w.pass(time.Minute)
			w.pass(catchUp)
			w.notified(c.then...)
		})
	}
}

// Every act of the acknowledger answers for all acknowledgers, and restarts the interval.
func TestActOfAcknowledgerAnswersReminder(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(*world){
		"note": func(w *world) {
			w.as(annKey, "/incident/comment", `{"incident_ids": [%q], "comment": "rolling back"}`, w.incident())
		},
		"text": func(w *world) {
			w.as(annKey, "/incident/reset", `{"incident_id": %q, "impact": "checkout"}`, w.incident())
		},
		"responders": func(w *world) {
			w.as(annKey, "/incident/responder/add", `{"incident_id": %q, "person_ids": [%d]}`, w.incident(), ann)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := asked(t)
			w.pass(9 * time.Minute)
			act(w)
			w.settle()
			w.pass(59 * time.Minute)
			w.notified()
			w.pass(time.Minute)
			w.pass(catchUp)
			w.notified(remind("ann"))
		})
	}
}

// A note of a person who has not acknowledged the incident is no answer.
func TestActOfOtherPersonAnswersNoReminder(t *testing.T) {
	t.Parallel()
	w := asked(t)
	w.do("/incident/comment", `{"incident_ids": [%q], "comment": "any news?"}`, w.incident())
	w.pass(11 * time.Minute)
	w.notified(newPage("ann"))
}

func TestReassignmentHandsReminderOver(t *testing.T) {
	t.Parallel()
	w := asked(t)
	w.as(annKey, "/incident/assign", `{"incident_id": %q, "assigned_to": {"person_ids": [%d]}}`, w.incident(), cid)
	w.settle()
	w.notified("cid@example.com email i_assign")
	w.pass(59 * time.Minute)
	w.notified()
	w.pass(time.Minute)
	w.pass(catchUp)
	w.notified(remind("cid"))
	w.pass(11 * time.Minute) // the assignee, and the rule
	w.notified("cid@example.com email i_unack", newPage("ann"))
}

func TestMergeByAcknowledgerAnswersReminder(t *testing.T) {
	t.Parallel()
	w := asked(t)
	target := w.incident()
	w.push("disk", "Warning")
	w.newPages()
	w.as(annKey, "/incident/merge", `{"source_incident_ids": [%q], "target_incident_id": %q}`, w.incident(), target)
	w.newPages()
	w.pass(30 * time.Minute)
	for _, p := range w.newPages() {
		if p.event == "i_new" || p.event == "i_remind" {
			t.Errorf("notified %s", p)
		}
	}
	w.want(w.do("/incident/info", `{"incident_id": %q}`, target), "progress", "Processing")
}

// Questions have four buttons. Following the link changes nothing.
func TestReminderIsAnsweredByLink(t *testing.T) {
	t.Parallel()
	for answer, says := range map[string]string{
		"still": "Ann Day is still on it.", "later": "is asked again in 4 hours", "never": "is not asked again", "back": "Its escalation begins again.",
	} {
		t.Run(answer, func(t *testing.T) {
			t.Parallel()
			w := begin(t, annThenBob())
			w.push("cpu", "Critical")
			w.ack(annKey)
			w.newPages()
			w.drift = time.Minute
			w.pass(time.Hour)
			w.pass(catchUp)
			to := link.FindString(w.last().text)
			w.notified(remind("ann"))
			status, page := w.page(strings.TrimPrefix(to, "https://tocsin.example.com"))
			if status != 200 || !strings.Contains(page, `value="still">Still on it: Ann Day`) || !strings.Contains(page, `value="back"`) {
				t.Fatalf("%d %s", status, page)
			}
			status, page = w.press(to, url.Values{"do": {answer}})
			if status != 200 || !strings.Contains(page, says) {
				t.Errorf("%d %s", status, page)
			}
			w.settle()
			status, _ = w.press(to, url.Values{"do": {"resign"}})
			if status != http.StatusBadRequest {
				t.Errorf("an unknown answer: %d", status)
			}
			if want := map[bool]string{true: "Triggered", false: "Processing"}[answer == "back"]; w.progress() != want {
				t.Errorf("the incident is %s", w.progress())
			}
		})
	}
}

func TestFollowingLinkOfReminderAnswersNothing(t *testing.T) {
	t.Parallel()
	w := begin(t, annThenBob())
	w.push("cpu", "Critical")
	w.ack(annKey)
	w.newPages()
	w.drift = time.Minute
	w.pass(time.Hour)
	w.pass(catchUp)
	to := strings.TrimPrefix(link.FindString(w.last().text), "https://tocsin.example.com")
	w.newPages()
	if status, _ := w.page(to + "?do=still"); status != 200 {
		t.Error(status)
	}
	w.pass(11 * time.Minute)
	w.notified(newPage("ann"))
}

// The link of a reminder answers nothing after the incident was assigned to another person.
func TestLinkOfReminderIsBoundToItsPerson(t *testing.T) {
	t.Parallel()
	w := begin(t, annThenBob())
	w.push("cpu", "Critical")
	w.ack(annKey)
	w.newPages()
	w.drift = time.Minute
	w.pass(time.Hour)
	w.pass(catchUp)
	to := link.FindString(w.last().text)
	w.do("/incident/assign", `{"incident_id": %q, "assigned_to": {"person_ids": [%d]}}`, w.incident(), cid)
	w.newPages()
	for _, answer := range []string{"still", "later", "never"} {
		if status, page := w.press(to, url.Values{"do": {answer}}); status != http.StatusConflict {
			t.Errorf("%s: %d %s", answer, status, page)
		}
	}
}

func TestReminderIsAnsweredByDigit(t *testing.T) {
	t.Parallel()
	for digit, says := range map[string]string{
		"4": "You are still on it: Trouble with db.", "5": "You are asked again in 4 hours", "7": "You are not asked again", "9": "You have given it back",
	} {
		for _, method := range []string{"voice", "sms"} {
			t.Run(method+digit, func(t *testing.T) {
				t.Parallel()
				w, s := beginTwilio(t, phoned(fmt.Sprintf("%q", method)))
				w.push("db", "Critical")
				w.ack(annKey)
				s.Taken()
				w.drift = time.Minute
				w.pass(time.Hour)
				w.pass(catchUp)
				call := one(t, s)
				if method == "voice" {
					contains(t, strings.Join(call.Said, " "), "You have this since 11:00, still open",
						"Press 4 if you are still on it, 5 to be asked again in 4 hours, 7 not to be asked again, 9 to give it back, 8 to hear this again.")
					contains(t, s.Press(call, "6"), "no meaning")
					contains(t, s.Press(call, digit), says)
				} else {
					_, after, _ := strings.Cut(call.Text, "\nReply 4 ")
					contains(t, call.Text, "still on it, 5 ", "ask again in 4 hours, 7 ", "not again, 9 ", "give it back.")
					contains(t, s.Receive("SM2", "+15550100", digit+" "+after[:4]), says)
				}
				w.settle()
				w.newPages()
				s.Taken()
				w.pass(11 * time.Minute)
				if digit != "9" {
					w.notified()
					if calls := s.Taken(); len(calls) != 0 || w.progress() != "Processing" {
						t.Errorf("%s, %+v", w.progress(), calls)
					}
				} else if w.progress() != "Triggered" {
					t.Errorf("the incident is %s", w.progress())
				}
			})
		}
	}
}

// A reply 5, 7 or 9 to a page that asks no question gets no answer. Two programs would otherwise answer each other.
func TestDigitsOfQuestionsHaveNoMeaningForPages(t *testing.T) {
	t.Parallel()
	w, s := beginTwilio(t, phoned(`"sms"`))
	w.push("db", "Critical")
	one(t, s)
	for _, digit := range []string{"5", "7", "9"} {
		if told := s.Receive("SM"+digit, "+15550100", digit); told != "" {
			t.Errorf("%s: %q", digit, told)
		}
	}
}

// Reminders of several incidents are one message, and one answer holds for all incidents.
func TestOneAnswerIsForAllRemindersOfMessage(t *testing.T) {
	t.Parallel()
	w := begin(t, annThenBob())
	for _, key := range []string{"cpu", "disk", "net"} {
		w.push(key, "Critical")
		w.ack(annKey)
	}
	w.newPages()
	w.drift = time.Minute
	w.pass(time.Hour)
	w.pass(catchUp)
	pages := w.newPages()
	if len(pages) != 1 || !strings.Contains(pages[0].text, "you have this since 11:00, still open") {
		t.Fatalf("%v", pages)
	}
	to := link.FindString(pages[0].text)
	if status, page := w.page(strings.TrimPrefix(to, "https://tocsin.example.com")); status != 200 || !strings.Contains(page, "Still on all of them as Ann Day") {
		t.Errorf("%d %s", status, page)
	}
	if status, _ := w.press(to, url.Values{"do": {"ack"}}); status != 200 {
		t.Error(status)
	}
	w.settle()
	w.pass(50 * time.Minute)
	w.notified()
}

func TestWarningIsAskedAfterEightHoursAndNotWithdrawn(t *testing.T) {
	t.Parallel()
	w := begin(t, annThenBob())
	w.push("cpu", "Warning")
	w.ack(annKey)
	w.notified(newPage("ann"))
	w.drift = 10 * time.Minute
	w.pass(8*time.Hour - time.Minute)
	w.notified()
	w.pass(time.Minute)
	w.pass(catchUp)
	w.notified(remind("ann"))
	w.pass(7 * time.Hour)
	w.notified()
	if w.progress() != "Processing" {
		t.Errorf("the incident is %s", w.progress())
	}
	w.pass(time.Hour)
	w.pass(catchUp)
	w.notified(remind("ann"))
}

// In quiet hours a reminder of a Warning waits. The time for its answer begins with the delivery.
func TestWarningIsAskedAfterQuietHours(t *testing.T) {
	t.Parallel()
	w := begin(t, annThenBob())
	w.do("/channel/update", `{"channel_id": %d, "reminder": {"warning": 60, "withdraw": {"warning": 15}}}`, shop)
	w.as(annKey, "/preference/update", `{"quiet_hours": [{"start": "11:30", "end": "16:00"}]}`) // the time in Berlin is eleven
	w.push("cpu", "Warning")
	w.ack(annKey)
	w.notified(newPage("ann"))
	w.drift = time.Minute
	w.pass(5*time.Hour - time.Minute)
	w.notified()
	w.pass(time.Minute)
	w.pass(catchUp)
	w.notified(remind("ann"))
	w.pass(14 * time.Minute)
	w.notified()
	w.pass(2 * time.Minute)
	w.notified(newPage("ann"))
}

// Quiet hours that hold back Critical, too, must not keep an incident that no person works on.
func TestQuietHoursKeepNoCriticalIncident(t *testing.T) {
	t.Parallel()
	w := begin(t, annThenBob())
	w.as(annKey, "/preference/update", `{"quiet_hours": [{"start": "11:30", "end": "23:00", "severities": []}]}`)
	w.push("cpu", "Critical")
	w.ack(annKey)
	w.newPages()
	w.drift = time.Minute
	w.pass(70 * time.Minute)
	w.pass(31 * time.Minute)
	got := w.newPages()
	if w.progress() != "Triggered" || len(got) == 0 {
		t.Errorf("the incident is %s: %v", w.progress(), got)
	}
}

// The ten minutes begin with the last attempt that failed.
func TestUndeliveredReminderWithdrawsAcknowledgement(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(bob), window(30))))
	w.push("cpu", "Critical")
	w.ack(annKey)
	w.newPages()
	w.answers(func(page) answer { return later })
	w.drift = time.Minute
	w.pass(61 * time.Minute)
	if w.progress() != "Processing" {
		t.Fatalf("the incident is %s", w.progress())
	}
	w.drift = 10 * time.Second
	w.pass(20 * time.Minute)
	if w.progress() != "Processing" { // the message is still tried
		t.Fatalf("the incident is %s", w.progress())
	}
	w.pass(90 * time.Minute)
	w.acceptAll()
	if w.progress() != "Triggered" {
		t.Errorf("the incident is %s", w.progress())
	}
}

// A person who cannot be reached at all, or has left, keeps no incident.
func TestReminderWithoutRecipientWithdrawsAcknowledgement(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(bob), window(30))), `{"app_keys": [{"name": "dee", "person_id": 7000000000015, "app_key": "dees-key-of-the-stories-0123456789"}]}`)
	w.push("cpu", "Critical")
	w.ack("dees-key-of-the-stories-0123456789")
	w.notified(newPage("bob"), acked("bob"))
	w.drift = time.Minute
	w.pass(69 * time.Minute)
	w.notified()
	w.pass(2 * time.Minute)
	w.notified(newPage("bob"))
}

// Without withdrawal, a reminder that reaches no one goes to the fallback.
func TestReminderWithoutRecipientReachesFallback(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(persons(bob), window(30))), `{"app_keys": [{"name": "dee", "person_id": 7000000000015, "app_key": "dees-key-of-the-stories-0123456789"}]}`)
	w.push("cpu", "Warning")
	w.ack("dees-key-of-the-stories-0123456789")
	w.notified(newPage("bob"), acked("bob"))
	w.drift = time.Minute
	w.pass(8*time.Hour + 9*time.Minute)
	w.notified()
	w.pass(2 * time.Minute)
	w.notified(remind("olga"))
}

// The time for an answer runs from the delivery while the server is down.
func TestAnswerIsAwaitedFromDeliveryOverStop(t *testing.T) {
	t.Parallel()
	w := asked(t)
	w.restart()
	w.clock.Add(9*time.Minute + 40*time.Second)
	w.settle()
	w.notified()
	w.clock.Add(20 * time.Second)
	w.settle()
	w.notified(newPage("ann"))
}

// A held copy of the database withdraws nothing: the answer may have been given to the original.
func TestHeldCopyWithdrawsNoAcknowledgement(t *testing.T) {
	t.Parallel()
	w := asked(t)
	w.moveTo(copied)
	w.shown(true)
	w.drift = time.Minute
	w.pass(2 * time.Hour)
	w.notified()
	if w.progress() != "Processing" {
		t.Fatalf("the incident is %s", w.progress())
	}
	w.release()
	w.pass(catchUp)
	w.notified(remind("ann"))
	w.pass(8 * time.Minute)
	w.notified()
	w.pass(3 * time.Minute)
	w.notified(newPage("ann"))
}

func TestSnoozeStopsReminder(t *testing.T) {
	t.Parallel()
	w := asked(t)
	w.pass(5 * time.Minute)
	w.as(annKey, "/incident/snooze", `{"incident_ids": [%q], "minutes": 600}`, w.incident())
	w.pass(9 * time.Hour)
	w.notified()
	if w.progress() != "Processing" {
		t.Errorf("the incident is %s", w.progress())
	}
}

func TestReminderHasItsIntervalAgainAfterRise(t *testing.T) {
	t.Parallel()
	w := begin(t, annThenBob())
	w.push("cpu", "Warning")
	w.ack(annKey)
	w.drift = time.Minute
	w.pass(30 * time.Minute)
	w.push("cpu", "Critical")
	w.newPages()
	w.pass(59 * time.Minute)
	w.notified()
	w.pass(time.Minute)
	w.pass(catchUp)
	w.notified(remind("ann"))
}

// The end of a snooze is a message to the person who snoozed, and to the incident's acknowledgers.
func TestEndOfSnoozeAsksItsPersons(t *testing.T) {
	t.Parallel()
	w := begin(t, annThenBob())
	w.push("cpu", "Info")
	w.ack(annKey)
	w.do("/incident/snooze", `{"incident_ids": [%q], "minutes": 30}`, w.incident())
	w.notified(newPage("ann"))
	w.pass(30 * time.Minute)
	w.pass(catchUp)
	pages := w.reached()
	w.notified(woken("ann"), woken("olga"))
	for _, p := range pages {
		want := map[string]string{"ann@example.com": "Its snooze is over, and you have this since 11:00", "olga@example.com": "The snooze that you set is over"}[p.to]
		if !strings.Contains(p.text, want) || !strings.Contains(p.subject, "[Info, snooze is over]") {
			t.Errorf("%s %s", p.subject, p.text)
		}
	}
	w.pass(9 * time.Minute)
	w.notified()
	w.pass(70 * time.Second)
	page := w.last()
	w.notified(newPage("ann"))
	if !strings.Contains(page.text, "because its snooze is over and no answer came, so that its acknowledgement was withdrawn") {
		t.Error(page.text)
	}
	w.inFeed("cpu", "The acknowledgement of the incident was withdrawn: no answer came to the message about the end of its snooze. So its escalation begins again.")
}

func TestAnswerToEndOfSnoozeKeepsAcknowledgement(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(*world){
		"answer": func(w *world) { w.replies("still") },
		"note": func(w *world) {
			w.as(annKey, "/incident/comment", `{"incident_ids": [%q], "comment": "x"}`, w.incident())
		},
		"snooze": func(w *world) {
			w.as(annKey, "/incident/snooze", `{"incident_ids": [%q], "minutes": 60}`, w.incident())
		},
		"snoozer": func(w *world) { w.do("/incident/answer", `{"incident_ids": [%q], "answer": "still"}`, w.incident()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := begin(t, annThenBob())
			w.push("cpu", "Critical")
			w.ack(annKey)
			w.do("/incident/snooze", `{"incident_ids": [%q], "minutes": 30}`, w.incident())
			w.pass(30 * time.Minute)
			w.pass(catchUp)
			w.notified(newPage("ann"), woken("ann"), woken("olga"))
			act(w)
			w.drift = time.Minute
			w.pass(50 * time.Minute)
			w.notified()
			if w.progress() != "Processing" {
				t.Errorf("the incident is %s", w.progress())
			}
		})
	}
}

// If no person had acknowledged the incident, its rule begins immediately, with the persons on call then.
func TestEndOfSnoozeBeginsEscalationAgain(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(night), window(30))+","+layer(persons(cid))))
	w.clock.Set(time.Date(2026, 11, 21, 21, 50, 0, 0, time.UTC))
	w.push("cpu", "Warning")
	w.notified(newPage("cid")) // no one is on call yet
	w.do("/incident/snooze", `{"incident_ids": [%q], "minutes": 30}`, w.incident())
	w.pass(30 * time.Minute)
	w.pass(catchUp)
	pages := w.reached()
	w.notified(newPage("bob"), woken("olga"))
	text := pages[0].text + pages[1].text
	contains(t, text, "on call in Night, N, because its snooze is over and no person has acknowledged it",
		"the snooze that you set is over, no person has acknowledged the incident, and its escalation begins again")
	w.inFeed("cpu", "The snooze of the incident was ended. So its escalation begins again.")
	w.pass(31 * time.Minute)
	w.notified(newPage("cid"))
}

// An incident of the fallback alone notifies the fallback again.
func TestEndOfSnoozeNotifiesFallbackAgain(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.push("cpu", "Critical")
	w.notified("olga@example.com email i_new")
	w.as(annKey, "/incident/snooze", `{"incident_ids": [%q], "minutes": 30}`, w.incident())
	w.pass(31 * time.Minute)
	w.notified("olga@example.com email i_new", woken("ann"))
}

// An incident that was assigned by hand notifies its assignees and the channel's rule.
func TestEndOfSnoozeNotifiesAssigneesAndRule(t *testing.T) {
	t.Parallel()
	w := begin(t, annThenBob())
	id := w.do("/incident/create", `{"incident_severity": "Critical", "title": "Checkout is down", "channel_id": %d, "assigned_to": {"person_ids": [%d]}}`, shop, cid).get("incident_id")
	w.settle()
	w.notified("cid@example.com email i_assign")
	w.do("/incident/snooze", `{"incident_ids": [%q], "minutes": 30}`, id)
	w.pass(31 * time.Minute)
	w.notified("cid@example.com email i_wake", newPage("ann"), woken("olga"))
	w.pass(31 * time.Minute)
	w.notified(newPage("bob"))
}

// An acknowledger who ends a snooze needs no question. When another person ends the snooze, the acknowledger gets a
// question.
func TestEarlyEndOfSnooze(t *testing.T) {
	t.Parallel()
	w := begin(t, annThenBob())
	w.push("cpu", "Critical")
	w.ack(annKey)
	w.as(annKey, "/incident/snooze", `{"incident_ids": [%q], "minutes": 30}`, w.incident())
	w.as(annKey, "/incident/wake", `{"incident_ids": [%q]}`, w.incident())
	w.pass(20 * time.Minute)
	w.notified(newPage("ann"))
	w.as(annKey, "/incident/snooze", `{"incident_ids": [%q], "minutes": 30}`, w.incident())
	w.do("/incident/wake", `{"incident_ids": [%q]}`, w.incident())
	w.settle()
	w.pass(catchUp)
	w.notified(woken("ann"))
}

// A silence holds back questions and withdrawals.
func TestSilenceHoldsQuestions(t *testing.T) {
	t.Parallel()
	w := asked(t)
	w.do("/channel/silence/rule/create", `{"channel_id": %d, "rule_name": "work", "filters": [[{"key": "severity", "oper": "IN", "vals": ["*"]}]], "time_filter": {"start_time": %d, "end_time": %d}}`,
		shop, w.clock.Now().Unix(), w.clock.Now().Unix()+3600)
	w.pass(50 * time.Minute)
	for _, p := range w.newPages() {
		if p.event != "silence_ends" {
			t.Errorf("notified %s", p)
		}
	}
	if w.progress() != "Processing" {
		t.Errorf("the incident is %s", w.progress())
	}
	w.pass(15 * time.Minute)
	if w.progress() != "Triggered" {
		t.Errorf("after the silence the incident is %s", w.progress())
	}
}

// Two persons have the incident. One answer holds for both, and a person who hands it back leaves it to the other.
func TestAnswerOfOneAcknowledgerIsForAll(t *testing.T) {
	t.Parallel()
	w := begin(t, annThenBob())
	w.push("cpu", "Critical")
	w.ack(annKey)
	w.ack(ownKey)
	w.newPages()
	w.drift = time.Minute
	w.pass(time.Hour)
	w.pass(catchUp)
	w.notified(remind("ann"), remind("olga"))
	w.replies("still")
	w.pass(59 * time.Minute)
	w.notified()
	w.pass(time.Minute)
	w.pass(catchUp)
	w.notified(remind("ann"), remind("olga"))
	w.replies("back")
	w.notified()
	w.pass(11 * time.Minute) // the other acknowledger has not answered
	w.notified(newPage("ann"))
}
