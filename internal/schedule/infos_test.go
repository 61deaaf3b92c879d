package schedule_test

import (
	"fmt"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
)

func TestInfos(t *testing.T) {
	t.Parallel()
	s := start(t)
	first, second := full(t, s), create(t, s, object{"schedule_name": "Second"})
	s.Grant(auth.SchedulesRead)
	list := func(n int64) string { return text(t, object{"schedule_ids": many(n)}) }
	s.Scenarios(t, "/schedule/infos", []apitest.Scenario{
		{Name: "golden: order kept, twice shown once, unknown left out", Key: apitest.KeyReader,
			Body: fmt.Sprintf(`{"schedule_ids":[%d,42,%d,%d]}`, second, first, second),
			Then: func(t *testing.T, s *apitest.Server, r apitest.Reply) {
				apitest.Golden(t, "schedule_infos", r.Body, fmt.Sprint(first), "5789640530410", fmt.Sprint(second), "5432326025106")
			}},
		{Name: "without permission", Key: apitest.KeyNothing, Body: list(1), Code: "AccessDenied"},
		{Name: "other account", Key: apitest.KeyB, Body: fmt.Sprintf(`{"schedule_ids":[%d]}`, first), Data: `{"items":[]}`},
		{Name: "empty", Body: `{"schedule_ids":[]}`, Data: `{"items":[]}`},
		{Name: "absent", Body: `{}`, Code: "InvalidParameter", Says: []string{"schedule_ids", "required"}},
		{Name: "null", Body: `{"schedule_ids":null}`, Code: "InvalidParameter", Says: []string{"schedule_ids"}},
		{Name: "no numbers", Body: `{"schedule_ids":["1"]}`, Code: "InvalidParameter", Says: []string{"schedule_ids[0]", "integer"}},
		{Name: "1000", Body: list(1000), Data: `{"items":[]}`},
		{Name: "1001", Body: list(1001), Code: "InvalidParameter", Says: []string{"schedule_ids", "1000", "1001"}},
	})
}
