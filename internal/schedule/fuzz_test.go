package schedule_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/schedule"
)

// FuzzCreate sends any body to /schedule/create. It is accepted or rejected, never an internal error, and an accepted
// schedule can be shown.
func FuzzCreate(f *testing.F) {
	r := newRandom(f)
	for range 20 {
		f.Add([]byte(text(f, r.body())))
	}
	for _, op := range (&schedule.Service{}).Ops() {
		f.Add([]byte(op.Example))
	}
	for _, body := range []string{
		``, `null`, `[]`, `{"schedule_name":"\ud800"}`, `{"schedule_name":1e400}`, `{"name":"x","layers":[null]}`,
		`{"name":"x","layers":[{"groups":[null]}]}`,
		`{"name":"x","layers":[{"layer_start":253402300799,"rotation_unit":"month","rotation_value":30,"groups":[{"members":[{"person_ids":[9223372036854775807]}]}]}]}`,
		`{"name":"x","layers":[{"layer_start":1,"mode":1,"layer_end":2,"weight":-9223372036854775808,"groups":[{"members":[null,{"person_ids":[1]}]}]}]}`,
		`{"name":"x","notify":{"fixed_time":{},"by":{"personal_channels":[""]},"webhooks":[{"type":"zoom","settings":{"integration_id":"x","OtherMembers":1,"":null}}]}}`,
	} {
		f.Add([]byte(body))
	}
	s := start(f)
	call := func(path string, body []byte) (status int, data json.RawMessage, all []byte) {
		w := httptest.NewRecorder()
		request := httptest.NewRequest("POST", path+"?app_key="+apitest.KeyA, bytes.NewReader(body))
		request.Header.Set("Content-Type", "application/json")
		s.Frame.ServeHTTP(w, request)
		var reply struct{ Data json.RawMessage }
		if err := json.Unmarshal(w.Body.Bytes(), &reply); err != nil {
			f.Errorf("%s answers what is not JSON: %s", path, w.Body)
		}
		return w.Code, reply.Data, w.Body.Bytes()
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		status, data, all := call("/schedule/create", body)
		if status == 400 {
			return
		}
		var created schedule.Created
		if err := json.Unmarshal(data, &created); status != 200 || err != nil {
			t.Fatalf("%d: %s", status, all)
		}
		if status, _, all := call("/schedule/info", fmt.Appendf(nil, `{"schedule_id":%d}`, created.ScheduleID)); status != 200 {
			t.Fatalf("accepted and then not shown, %d: %s", status, all)
		}
	})
}
