package preference_test

import (
	"fmt"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/preference"
)

func TestPreferences(t *testing.T) {
	s := apitest.Start(t, (&preference.Service{Keyring: apitest.Box(t)}).Ops())
	s.Converse(t, []apitest.Turn{
		{Path: "/preference/info", Key: apitest.KeyReader, Body: `{}`, Has: `{"trigger_notify": {"critical": [], "warning": [], "info": []}}`},
		{Path: "/preference/update", Key: apitest.KeyReader, Body: `{"trigger_notify": {"critical": ["sms", "email", "ntfy"], "warning": ["email"], "info": []}, "quiet_hours": [{"start": "22:00", "end": "07:00"}], "contacts": {"ntfy": "https://ntfy.example.com/rita"}}`, Golden: "preference_update"},
		{Path: "/preference/update", Key: apitest.KeyReader, Body: `{"schedule_shift_notify": {"personal_channels": ["email"]}, "contacts": {"telegram": "1:a/2"}}`},
		{Path: "/preference/update", Key: apitest.KeyReader, Body: `{"contacts": {"telegram": ""}}`},
		{Path: "/preference/update", Key: apitest.KeyA, Body: `{"trigger_notify": {"critical": ["email", "emial"], "warning": [], "info": []}}`, Code: "InvalidParameter",
			Says: []string{"trigger_notify.critical[1]", "one of email, sms, voice", `"emial"`}},
		{Path: "/preference/update", Key: apitest.KeyA, Body: `{"schedule_shift_notify": {"personal_channels": ["phone"]}}`, Code: "InvalidParameter",
			Says: []string{"schedule_shift_notify.personal_channels[0]", `"phone"`}},
		{Path: "/preference/update", Key: apitest.KeyA, Body: `{"trigger_notify": {"critical": ["slack_app:7"], "warning": ["ntfy"], "info": []}}`,
			Has: `{"warnings": ["trigger_notify.warning[0] is \"ntfy\", for which contacts has no address: it is not used"]}`},
		{Path: "/preference/info", Key: apitest.KeyReader, Body: `{}`, Has: `{"shedule_shift_notify": {"personal_channels": ["email"]}, "contacts": {"ntfy": "https://ntfy.example.com/rita"}}`, Golden: "preference_info"},
		{Path: "/preference/info", Body: fmt.Sprintf(`{"person_id": %d}`, apitest.Reader), Has: `{"contacts": {"ntfy": ""}}`}, // the owner sees that there is one
		{Path: "/preference/info", Key: apitest.KeyReader, Body: fmt.Sprintf(`{"person_id": %d}`, apitest.OwnerA), Code: "AccessDenied"},
		{Path: "/preference/update", Key: apitest.KeyReader, Body: fmt.Sprintf(`{"person_id": %d}`, apitest.OwnerA), Code: "AccessDenied"},
		{Path: "/preference/update", Body: fmt.Sprintf(`{"person_id": %d, "quiet_hours": []}`, apitest.Reader), Has: `{"quiet_hours": []}`},
		{Path: "/preference/update", Body: `{"quiet_hours": [{"start": "22:00", "end": "07:00", "but": ["Info"]}]}`, Has: `{"warnings": ["trigger_notify.warning[0] is \"ntfy\", for which contacts has no address: it is not used", "quiet_hours: Critical notifications wait too, because but does not name Critical"]}`},
		{Path: "/preference/update", Body: `{"person_id": 9}`, Code: "InvalidParameter", Says: []string{"person_id", "9"}},
		{Path: "/preference/update", Body: `{"quiet_hours": [{"start": "25:00", "end": "07:00"}]}`, Code: "InvalidParameter", Says: []string{"quiet_hours[0].start"}},
		{Path: "/preference/update", Body: `{"quiet_hours": [{"start": "07:00", "end": "07:00"}]}`, Code: "InvalidParameter", Says: []string{"quiet_hours[0].end"}},
	})
}

func TestQuietHours(t *testing.T) {
	night := preference.Preference{QuietHours: []preference.Quiet{{Start: "22:00", End: "07:00"}}}
	weekend := preference.Preference{QuietHours: []preference.Quiet{{Start: "00:00", End: "23:00", Repeat: []int{0, 6}, But: []string{"Warning", "Critical"}}}}
	chain := preference.Preference{QuietHours: []preference.Quiet{{Start: "07:00", End: "23:00", Repeat: []int{6}}, {Start: "22:00", End: "07:00", Repeat: []int{5}}}}
	days := preference.Preference{QuietHours: []preference.Quiet{{Start: "00:00", End: "23:59", Repeat: []int{0, 6}}}}
	ever := preference.Preference{QuietHours: []preference.Quiet{{Start: "00:00", End: "23:59"}}}
	for _, c := range []struct {
		p              preference.Preference
		severity, zone string
		now, want      string // want empty: not quiet
	}{
		{night, "Warning", "UTC", "2026-11-21T21:59:59Z", ""},
		{night, "Warning", "UTC", "2026-11-21T22:00:00Z", "2026-11-22T07:00:00Z"},
		{night, "Warning", "UTC", "2026-11-22T06:59:59Z", "2026-11-22T07:00:00Z"},
		{night, "Warning", "UTC", "2026-11-22T07:00:00Z", ""},
		{night, "Critical", "UTC", "2026-11-22T03:00:00Z", ""},
		{night, "Warning", "Europe/Berlin", "2026-11-21T21:30:00Z", "2026-11-22T06:00:00Z"},
		{night, "Warning", "Europe/Berlin", "2026-03-28T22:00:00Z", "2026-03-29T05:00:00Z"}, // the night in which an hour is missing
		{night, "Warning", "", "2026-11-21T23:00:00Z", "2026-11-22T07:00:00Z"},
		{weekend, "Info", "UTC", "2026-11-21T12:00:00Z", "2026-11-21T23:00:00Z"},
		{chain, "Info", "UTC", "2026-11-20T23:00:00Z", "2026-11-21T23:00:00Z"}, // one goes on where the other ends
		{days, "Info", "UTC", "2026-11-21T12:00:00Z", "2026-11-23T00:00:00Z"},
		{ever, "Info", "UTC", "2026-11-21T12:00:00Z", "2026-11-28T00:00:00Z"}, // but not for ever
		{weekend, "Warning", "UTC", "2026-11-21T12:00:00Z", ""},
		{weekend, "Info", "UTC", "2026-11-23T12:00:00Z", ""},
	} {
		now, _ := time.Parse(time.RFC3339, c.now)
		got := ""
		if until := c.p.QuietUntil(c.severity, now, c.zone); !until.IsZero() {
			got = until.UTC().Format(time.RFC3339)
		}
		if got != c.want {
			t.Errorf("%s at %s in %q: %q, want %q", c.severity, c.now, c.zone, got, c.want)
		}
	}
}

func TestRoundTrip(t *testing.T) {
	apitest.RoundTrip(t, preference.Kind, []preference.Preference{
		{PersonID: 5, Trigger: preference.Trigger{Critical: []string{"sms"}, Warning: []string{}, Info: []string{}}, Shift: preference.Shift{PersonalChannels: []string{}}, StatusPage: preference.StatusPage{IMIntegrations: []string{}}, Contacts: map[string]string{"ntfy": "https://ntfy.example.com/x"}},
	}, map[string]func(*preference.Preference){
		"person_id":            func(p *preference.Preference) { p.PersonID = 0 },
		"quiet_hours[0].start": func(p *preference.Preference) { p.QuietHours = []preference.Quiet{{Start: "x", End: "07:00"}} },
	})
}
