package schedule

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	schedules "tocsin/internal/schedule"
)

// stored is a layer with members that the form does not show, and seconds that it cannot show.
const stored = `{"layer_name":"Week","name":"Week","mode":0,"weight":3,"fair_rotation":true,"rotation_unit":"week","rotation_value":1,"rotation_duration":604800,"handoff_time":122400,
	"layer_start":1776009617,"enable_time":1776009617,"layer_end":1796009617,"expire_time":1796009617,"restrict_mode":1,"restrict_start":0,"restrict_end":0,
	"restrict_periods":[{"restrict_start":32400,"restrict_end":61200}],"day_mask":{"repeat":[5,1,2]},"skip_cal_ids":["cal.1"],
	"groups":[{"group_name":"A","members":[{"role_id":1,"person_ids":[7]},{"role_id":0,"person_ids":[5,6]}]},{"group_name":"B","members":[{"role_id":0,"person_ids":[8]}]}]}`

func berlin(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func parsed(t *testing.T, text string) (layer schedules.LayerConfig) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &layer); err != nil {
		t.Fatal(err)
	}
	return layer
}

func written(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestFormThatIsSentBackChangesNothing(t *testing.T) {
	t.Parallel()
	zone := berlin(t)
	for _, text := range []string{stored, `{"mode":1,"layer_start":1776009617,"groups":null}`, `{"restrict_mode":2,"restrict_periods":[{"restrict_start":1,"restrict_end":2},{"restrict_start":5,"restrict_end":9}]}`} {
		layer := parsed(t, text)
		d, err := draftOf(layer, zone)
		if err != nil {
			t.Fatal(err)
		}
		got, err := d.stored(zone)
		if err != nil || written(t, got) != written(t, layer) {
			t.Errorf("%v\n%s\nwas\n%s", err, written(t, got), written(t, layer))
		}
	}
}

func TestFormChangesWhatWasChanged(t *testing.T) {
	t.Parallel()
	zone := berlin(t)
	d, err := draftOf(parsed(t, stored), zone)
	if err != nil {
		t.Fatal(err)
	}
	d.Name = "Nights"
	d.HoursFrom = "22:00"
	d.HoursUntil = "06:30"
	d.HandoffDay = "3"
	d.HandoffFor = "08:00"
	d.Groups[0].Members = append(d.Groups[0].Members, draftMember{9, 1})
	(&draft{Layers: []draftLayer{d}}).edit("group-down:0:0", "")
	got, err := d.stored(zone)
	if err != nil {
		t.Fatal(err)
	}
	want := parsed(t, stored)
	want.LayerName, want.Name = "Nights", "Nights"
	want.RestrictPeriods = []schedules.Period{{RestrictStart: 79200, RestrictEnd: 23400}}
	want.HandoffTime = 201600
	want.Groups = []schedules.Group{
		{GroupName: "B", Members: []schedules.Member{{RoleID: 0, PersonIDs: []int64{8}}}},
		{GroupName: "A", Members: []schedules.Member{{RoleID: 1, PersonIDs: []int64{7, 9}}, {RoleID: 0, PersonIDs: []int64{5, 6}}}},
	}
	if written(t, got) != written(t, want) {
		t.Errorf("%s\nwant\n%s", written(t, got), written(t, want))
	}
}

func TestButtonsOfFormAreBounded(t *testing.T) {
	t.Parallel()
	d := draft{Layers: []draftLayer{{Name: "a"}, {Name: "b"}}}
	for _, button := range []string{"up:0", "down:1", "up:9", "remove:-1", "remove:2", "group-remove:0:0", "group-up:0:7", "down:99999999999999999999", "", "layers"} {
		d.edit(button, "")
	}
	if len(d.Layers) != 2 || d.Layers[0].Name != "a" {
		t.Errorf("%+v", d.Layers)
	}
	d.edit("up:1", "")
	d.edit("remove:1", "")
	if len(d.Layers) != 1 || d.Layers[0].Name != "b" {
		t.Errorf("%+v", d.Layers)
	}
}
