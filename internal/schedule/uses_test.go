package schedule_test

import (
	"fmt"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
)

func TestUses(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Grant(auth.SchedulesRead)
	used, unused := full(t, s), create(t, s, object{"schedule_name": "Second"})
	s.Write(func(tx *db.Tx) error {
		rule := configstore.RefFrom(configstore.Escalate, "r", "Rule")
		return configstore.AddReferences(tx, apitest.AccountA, rule, configstore.RefTo(configstore.Schedule, used))
	})
	body := fmt.Sprintf(`{"schedule_ids": [%d, 42, %d, %d]}`, used, unused, used)
	s.Scenarios(t, "/schedule/uses", []apitest.Scenario{
		{Name: "in the order asked for, each once, unknown left out", Key: apitest.KeyReader, Body: body,
			Data: fmt.Sprintf(`{"items": [{"schedule_id": %d, "schedule_name": "Production On-Call", "rules": 1},
				{"schedule_id": %d, "schedule_name": "Second", "rules": 0}]}`, used, unused),
			Then: func(t *testing.T, s *apitest.Server, r apitest.Reply) {
				apitest.Golden(t, "schedule_uses", r.Body, fmt.Sprint(used), "5789640530410", fmt.Sprint(unused), "5432326025106")
			}},
		{Name: "no permission", Key: apitest.KeyNothing, Body: body, Code: "AccessDenied"},
		{Name: "another account's", Key: apitest.KeyB, Body: body, Data: `{"items": []}`},
		{Name: "too many", Body: text(t, object{"schedule_ids": many(1001)}), Code: "InvalidParameter", Says: []string{"schedule_ids", "1001"}},
	})
}
