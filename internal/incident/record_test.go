package incident_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
)

// TestDumpReturnsLoadedRecords loads random records and reads them back.
func TestDumpReturnsLoadedRecords(t *testing.T) {
	t.Parallel()
	s, undo := apitest.Start(t), errors.New("undo")
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 4))
		records := []incident.Incident{}
		for i := range rng.IntN(6) {
			r := incident.Incident{IncidentID: fmt.Sprintf("%024x", i), Title: []string{"", "支付", `"a"`}[rng.IntN(3)], ChannelID: rng.Int64N(3),
				Progress: []string{"Triggered", "Processing", "Closed"}[rng.IntN(3)], Assignments: []incident.Assignment{}}
			for range rng.IntN(4) {
				a := incident.Assignment{PersonID: 1 + rng.Int64N(2), AssignedAt: rng.Int64N(3)}
				if rng.IntN(2) == 0 {
					a.RemovedAt = a.AssignedAt + rng.Int64N(3)
				}
				r.Assignments = append(r.Assignments, a)
			}
			records = append(records, r)
		}
		err := s.DB.Write(context.Background(), func(tx *db.Tx) error {
			if err := incident.Load(tx, apitest.AccountA, records); err != nil {
				return err
			}
			if got, err := incident.Dump(tx, apitest.AccountA); err != nil || !reflect.DeepEqual(got, records) {
				t.Fatalf("seed %d: %v; got\n%+v\nwant\n%+v", seed, err, got, records)
			}
			if others, err := incident.Dump(tx, apitest.AccountB); err != nil || len(others) != 0 {
				t.Fatalf("seed %d: %v, %+v", seed, err, others)
			}
			return undo
		})
		if !errors.Is(err, undo) {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func TestLoadRejectsInvalidRecords(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t)
	for want, change := range map[string]func(r *incident.Incident){
		"incidents[1].incident_id: 663a1b2c3d4e5f6789abcdf0 is given twice":                            func(r *incident.Incident) { r.IncidentID = strings.ToUpper(busy) },
		`incidents[1].incident_id: must be 24 hexadecimal digits, got "7"`:                             func(r *incident.Incident) { r.IncidentID = "7" },
		"incidents[1].account_id: must be 2451002751131, the account of the file, got 9":               func(r *incident.Incident) { r.AccountID = 9 },
		`incidents[1].progress: must be one of Triggered, Processing, Closed, got "Resolved"`:          func(r *incident.Incident) { r.Progress = "Resolved" },
		"incidents[1].channel_id: must be at least 0, got -1":                                          func(r *incident.Incident) { r.ChannelID = -1 },
		"incidents[1].assignments[0].person_id: must be at least 1, got 0":                             func(r *incident.Incident) { r.Assignments[0].PersonID = 0 },
		"incidents[1].assignments[0].assigned_at: must be at least 0, got -5":                          func(r *incident.Incident) { r.Assignments[0].AssignedAt = -5 },
		"incidents[1].assignments[0].removed_at: must be 0 or at least assigned_at 1712000000, got 17": func(r *incident.Incident) { r.Assignments[0].RemovedAt = 17 },
	} {
		r := incident.Incident{IncidentID: quiet, Assignments: []incident.Assignment{{PersonID: 1, AssignedAt: 1712000000}}}
		change(&r)
		err := s.DB.Write(context.Background(), func(tx *db.Tx) error {
			return incident.Load(tx, apitest.AccountA, []incident.Incident{{IncidentID: busy}, r})
		})
		if err == nil || err.Error() != want {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
