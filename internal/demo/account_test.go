package demo

import (
	"bytes"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"tocsin/internal/accountfile"
	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/integration"
)

func written(t testing.TB, f *accountfile.File) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := accountfile.Write(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestSameMomentSameAccount(t *testing.T) {
	t.Parallel()
	a, b := Account(apitest.Now), Account(apitest.Now.In(mustZone("Asia/Tokyo")))
	if !reflect.DeepEqual(a, b) {
		t.Error("two accounts of one moment differ")
	}
}

func TestIdentifiersStaySame(t *testing.T) {
	t.Parallel()
	ids := regexp.MustCompile(`"(account|person|team|role|schedule|channel|alert|incident|rule|application|issue|integration|data_source)_id": [^,]*`)
	at := func(now string) [][]byte {
		return ids.FindAll(written(t, withoutHistory(momentsAt(parse(t, now)))), -1) // deliveries carry the date
	}
	want := at(nows[0])
	if len(want) < 300 {
		t.Fatalf("only %d identifiers", len(want))
	}
	for _, now := range nows[1:] {
		if !slices.EqualFunc(at(now), want, bytes.Equal) {
			t.Errorf("identifiers at %s differ", now)
		}
	}
}

func TestFileOfAccountCanBeRead(t *testing.T) {
	t.Parallel()
	first := written(t, sample(apitest.Now))
	f, err := accountfile.Read(bytes.NewReader(first))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(written(t, f), first) {
		t.Error("what was read is written differently")
	}
}

// TestFileAgreesWithCode: history, receiver and greeting have what the file has.
func TestFileAgreesWithCode(t *testing.T) {
	t.Parallel()
	m := momentsAt(apitest.Now)
	f := configured(m)
	if f.Account.AccountID != accountID || f.Account.AccountName != Name || f.Account.TimeZone != timeZone || f.Account.OwnerID != anna {
		t.Errorf("the account is %+v", f.Account)
	}
	stored := map[int64]integration.Integration{}
	for _, i := range f.Integrations {
		stored[i.IntegrationID] = i
	}
	for _, in := range intakes {
		if i := stored[in.id]; i.IntegrationName != in.name || i.RefID != in.ref {
			t.Errorf("%s: the file has %q, %q", in.name, i.IntegrationName, i.RefID)
		}
	}
	for _, s := range subscribers {
		i := stored[s.integration]
		if i.Settings == nil || i.Settings.Endpoint != s.endpoint {
			t.Errorf("%s is not the endpoint of integration %d", s.endpoint, s.integration)
			continue
		}
		for _, e := range i.Settings.EventTypes {
			if !slices.Contains(s.events, e) {
				t.Errorf("%s receives %s, which the history does not send", i.IntegrationName, e)
			}
		}
	}
	slow := troubles()[5]
	silenced := f.SilenceRules[len(f.SilenceRules)-1].Filters[0][0].Vals
	if key := slow.alert(m, 1, slow.resources[2]).AlertKey; !slices.Equal(silenced, []string{key}) {
		t.Errorf("%v are silenced, want %s", silenced, key)
	}
}

func TestReaderMayReadEverything(t *testing.T) {
	t.Parallel()
	roles := configured(momentsAt(apitest.Now)).Roles
	want := slices.DeleteFunc(auth.Names(auth.All), func(name string) bool { return !strings.Contains(name, " Read (") })
	if got := roles[len(roles)-1].Permissions; !slices.Equal(got, want) {
		t.Errorf("the role has %q, want %q", got, want)
	}
}

func TestHowMuchThereIs(t *testing.T) {
	t.Parallel()
	f := Account(apitest.Now)
	for what, n := range map[string][3]int{
		"persons": {len(f.Persons), 14, 14}, "teams": {len(f.Teams), 3, 3}, "roles": {len(f.Roles), 7, 7},
		"schedules": {len(f.Schedules), 6, 8}, "channels": {len(f.Channels), 10, 12}, "silence rules": {len(f.SilenceRules), 5, 10},
		"drop rules": {len(f.DropRules), 3, 10}, "alerts": {len(f.Alerts), 40, 40}, "incidents": {len(f.Incidents), 20, 20},
		"datasources": {len(f.Datasources), 9, 9}, "applications": {len(f.Applications), 4, 4}, "issues": {len(f.Issues), 15, 15},
		"deliveries": {len(f.Deliveries), 30_000, 30_000},
	} {
		if n[0] < n[1] || n[0] > n[2] {
			t.Errorf("%d %s, want %d to %d", n[0], what, n[1], n[2])
		}
	}
	types := map[string]bool{}
	for _, d := range f.Datasources {
		types[d.TypeIdent] = true
	}
	if len(types) != 9 {
		t.Errorf("%d types of datasources, want all nine", len(types))
	}
	secrets, err := json.Marshal(f.Datasources)
	if err != nil || !bytes.Contains(secrets, []byte("${env:")) || !bytes.Contains(secrets, []byte("demo-")) {
		t.Error("want secrets in clear and references to secrets")
	}
}

// TestDeliveriesAreHistory: every delivery lies in the last seven days, an event is retried only after a failure,
// and a success is its last attempt.
func TestDeliveriesAreHistory(t *testing.T) {
	t.Parallel()
	for _, text := range nows[:3] {
		now := parse(t, text)
		type event struct {
			integration int64
			ref, kind   string
		}
		ids := map[string]bool{}
		last := time.Time{}
		failed := map[event]int64{}
		status, retries := map[string]int{}, 0
		for _, d := range Account(now).Deliveries {
			at := time.Time(d.EventTime)
			if at.Before(now.Add(-kept)) || !at.Before(now) || at.Before(last) {
				t.Fatalf("delivery %s at %s, after one at %s, now is %s", d.EventID, at, last, now)
			}
			if ids[d.EventID] {
				t.Fatalf("delivery %s is there twice", d.EventID)
			}
			ids[d.EventID], last = true, at
			status[d.Status]++
			if (d.Status == "success") != (d.StatusCode == 200) {
				t.Errorf("delivery %s: %s with %d", d.EventID, d.Status, d.StatusCode)
			}
			e := event{d.IntegrationID, d.RefID, d.EventType}
			if d.Attempt > 1 {
				retries++
				if failed[e] == 0 && at.After(now.Add(-kept+hour)) {
					t.Errorf("attempt %d of %v without a failure before it", d.Attempt, e)
				}
			}
			if d.Status == "failed" {
				failed[e]++
			}
		}
		if status["failed"] < 300 || status["success"] < 25_000 || retries < 300 {
			t.Errorf("at %s: %v with %d retries", text, status, retries)
		}
	}
}
