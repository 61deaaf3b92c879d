package picture_test

import (
	"testing"

	"tocsin/internal/console/locale"
	"tocsin/internal/console/picture"
)

func TestPersonHasSameMarkInEveryCast(t *testing.T) {
	t.Parallel()
	looks := map[[2]any]int{}
	for id := int64(3846027200131); id < 3846027264131; id += 1000 {
		alone := picture.NewCast(locale.Setting{}, 0)
		alone.SetName(id, "Siobhán Ní Bhriain")
		crowd := picture.NewCast(locale.Setting{}, 0)
		crowd.AddPersons(7, 8, id)
		crowd.SetName(id, "Siobhán Ní Bhriain")
		m := alone.Mark(id)
		if m != crowd.Mark(id) || m != picture.MarkOf(id, "Siobhán Ní Bhriain") || m.Initials != "SB" {
			t.Fatalf("person %d is %v, and %v in a crowd", id, m, crowd.Mark(id))
		}
		looks[[2]any{m.Hue, m.Striped}]++
	}
	if len(looks) != 16 {
		t.Errorf("64 persons have %d looks of 16", len(looks))
	}
}
