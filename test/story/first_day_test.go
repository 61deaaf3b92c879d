package story

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestReasonNamesScheduleAloneWithoutGroupName(t *testing.T) {
	t.Parallel()
	plain := fmt.Sprintf(`{"schedules": [{"schedule_id": 7000000000039, "schedule_name": "Plain", "layers": [{"layer_name": "l", "mode": 0, "layer_start": 1767225600,
		"rotation_unit": "day", "rotation_value": 1, "groups": [{"members": [{"role_id": 0, "person_ids": [%d]}]}]}]}]}`, ann)
	w := begin(t, plain, escalates(layer(onCall(7000000000039))))
	w.push("db", "Critical")
	if text := w.last().text; !strings.HasSuffix(text, "Why you: on call in Plain") {
		t.Error(text)
	}
}

func TestChatReadsNoReasonOfItsOwn(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(fmt.Sprintf(`{"target": {"person_ids": [%d], %s, %s}}`, ann, by, slackChat)))
	w.push("db", "Warning")
	if text := w.of("ops").text; text == "" || strings.Contains(text, "Why") {
		t.Error(text)
	}
	w.newPages()
	w.push("db", "Critical")
	if text := w.of("ops").text; !strings.Contains(text, "Why here: a chat named by the rule, and its severity rose") && !strings.Contains(text, "Now Critical") {
		t.Error(text)
	}
}

func TestReopenedIncidentLooksLikeOne(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(fmt.Sprintf(`{"target": {"person_ids": [%d], "by": {"critical": ["email", "voice"]}}}`, ann)))
	w.push("db", "Critical")
	w.as(annKey, "/incident/resolve", `{"incident_ids": [%q]}`, w.incident())
	w.newPages()
	w.as(annKey, "/incident/reopen", `{"incident_ids": [%q]}`, w.incident())
	if p := w.of("ann@example.com"); p.subject != "[Critical, open again] Trouble with db" {
		t.Error(p.subject)
	}
	w.pass(20 * time.Second)
	if p := w.of("+15550100"); !strings.HasPrefix(p.text, "Critical incident, open again, in Shop.") {
		t.Error(p.text)
	}
}

// An address that a rule names besides the person who has it gets one mail, at each step of the incident.
func TestFurtherAddressOfNotifiedPersonIsSuperfluous(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(fmt.Sprintf(`{"target": {"person_ids": [%d], "emails": ["ANN@example.com", "noc@example.com"], %s}}`, ann, by)))
	w.push("db", "Warning")
	w.notified(newPage("ann"), newPage("noc"))
	w.push("db", "Critical")
	w.notified("ann@example.com email i_r_severity", "noc@example.com email i_r_severity")
	w.do("/incident/assign", `{"incident_id": %q, "assigned_to": {"person_ids": [%d], "emails": ["Bob@example.com"]}}`, w.incident(), bob)
	w.notified("bob@example.com email i_assign")
	w.push("db", "Ok")
	w.notified(over("ann"), over("bob"), over("noc"))
}

// A person whose mail waits for the end of quiet hours does not keep the address from getting its own.
func TestFurtherAddressOfPersonInQuietHoursIsNotified(t *testing.T) {
	t.Parallel()
	quiet := fmt.Sprintf(`{"preferences": [{"person_id": %d, "quiet_hours": [{"start": "00:00", "end": "23:59"}]}]}`, ann)
	w := begin(t, quiet, escalates(fmt.Sprintf(`{"target": {"person_ids": [%d], "emails": ["ann@example.com"], %s}}`, ann, by)))
	w.push("db", "Warning")
	w.notified(newPage("ann"))
}

// The person who is replaced gets one message about it, also where the schedule announces each change.
func TestCoverOfRunningShiftIsOneMessage(t *testing.T) {
	t.Parallel()
	w := begin(t, sharing(`, "notify": {"advance_in_time": 60}`), asTurns).slow()
	_, links := w.asks(-60, 600, bob)
	w.pass(30 * time.Minute)
	w.newPages()
	w.clicks(links["bob"], "accept", 200, "Bob Night has taken the shift")
	w.pass(time.Minute)
	w.notified(set("ann"), begins("bob"))
}

func TestDigitProvesTelephoneNumber(t *testing.T) {
	t.Parallel()
	w, s := beginTwilio(t, phoned(`"voice"`))
	verified := func() string {
		return w.do("/person/infos", `{"person_ids": [%d]}`, ann).get("items.0.phone_verified")
	}
	w.push("db", "Critical")
	call := one(t, s)
	if verified() != "false" {
		t.Error("a call proves the number before a digit is pressed")
	}
	w.as(annKey, "/member/info/reset", `{"member_id": %d, "phone": "+15550199"}`, ann)
	s.Press(call, "8")
	if verified() != "false" {
		t.Error("a digit proves another number than that of the call")
	}
	w.as(annKey, "/member/info/reset", `{"member_id": %d, "phone": "+15550100"}`, ann)
	s.Press(call, "8")
	if verified() != "true" {
		t.Error("a digit does not prove the number of the call")
	}
}

// A telephone takes one call at a time: incidents that open during the first call share the second.
func TestCallsToOneTelephoneAreSpread(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(fmt.Sprintf(`{"target": {"person_ids": [%d], "by": {"critical": ["voice"]}}}`, ann)))
	w.drift = time.Second
	for n := range 6 {
		w.push(fmt.Sprint("db", n), "Critical")
	}
	if calls := w.newPages(); len(calls) != 1 {
		t.Fatalf("%d calls at first: %v", len(calls), calls)
	}
	if why := w.why("db5"); !strings.Contains(why, "it waits to share the next call: calls are 12 seconds apart") {
		t.Error(why)
	}
	w.pass(11 * time.Second)
	w.notified()
	w.pass(2 * time.Second)
	if calls := w.newPages(); len(calls) != 1 || !strings.HasPrefix(calls[0].text, "5 incidents need you: 5 Critical in Shop.") {
		t.Errorf("then: %v", calls)
	}
}
