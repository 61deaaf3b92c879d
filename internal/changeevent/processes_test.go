package changeevent_test

import (
	"fmt"
	"sync"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/changeevent"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
	read "tocsin/internal/source/change"
)

// Events of a new change come to two processes at the same time: they are one change, with all of them.
func TestProcessesShareChange(t *testing.T) {
	s := apitest.Start(t, changeevent.Ops())
	from := integration.Integration{AccountID: apitest.AccountA, IntegrationID: 5, IntegrationName: "Deployments"}
	const changes, each = 5, 4
	var all sync.WaitGroup
	for _, d := range []*db.DB{s.DB, s.Again()} {
		for n := range changes * each {
			all.Go(func() {
				e, err := read.Parse(fmt.Appendf(nil, `{"title": "T", "change_key": "c%d", "change_status": "Processing"}`, n%changes), apitest.Now)
				if err == nil {
					err = d.Write(t.Context(), func(tx *db.Tx) error { _, _, err := changeevent.Put(tx, from, e, apitest.Now); return err })
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	var list struct {
		Total int
		Items []struct{ Events []any }
	}
	s.Call(apitest.KeyA, "/change/list", map[string]any{"include_events": true}).Into(&list)
	for _, change := range list.Items {
		if len(change.Events) != 2*each {
			t.Errorf("a change has %d events, want %d", len(change.Events), 2*each)
		}
	}
	if list.Total != changes {
		t.Errorf("there are %d changes, want %d", list.Total, changes)
	}
}
