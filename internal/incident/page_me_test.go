package incident_test

import (
	"testing"
	"time"

	"tocsin/internal/api/apitest"
)

func TestPageMe(t *testing.T) {
	t.Parallel()
	s := begin(t)
	s.Converse(t, []apitest.Turn{
		{Path: "/incident/page-me", Body: `{}`, Code: "InvalidParameter", Says: []string{"incident_severity"}},
		{Path: "/incident/page-me", Body: `{"incident_severity":"Critical"}`, Keep: map[string]string{"id": "incident_id"}, Golden: "incident_page-me"},
		{Path: "/incident/info", Body: `{"incident_id":"$id"}`, Has: `{"is_test":true,"channel_id":0,"incident_severity":"Critical","progress":"Triggered"}`},
		{Path: "/incident/page-me", Body: `{"incident_severity":"Info"}`, Code: "RequestTooFrequently", Says: []string{"$id"}},
	})
	s.Clock.Add(18 * time.Second)
	if r := s.Call(apitest.KeyA, "/incident/page-me", `{"incident_severity":"Info"}`); r.Header.Get("Retry-After") != "42" {
		t.Errorf("Retry-After %q", r.Header.Get("Retry-After"))
	}
	s.Clock.Add(42 * time.Second)
	s.Converse(t, []apitest.Turn{{Path: "/incident/page-me", Body: `{"incident_severity":"Info"}`}})
}
