package schedule

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/api"
	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/platform/db"
)

// BenchmarkInfo measures /schedule/info without HTTP: the query, timelines of 45 days, and the reply as JSON.
func BenchmarkInfo(b *testing.B) {
	const id = 5789640530410
	zone, err := time.LoadLocation("Asia/Shanghai")
	if err != nil {
		b.Fatal(err)
	}
	groups := []Group{
		{GroupName: "A", Members: []Member{{0, []int64{apitest.OwnerA}}}},
		{GroupName: "B", Members: []Member{{0, []int64{apitest.Reader}}}},
		{GroupName: "C", Members: []Member{{0, []int64{apitest.Stranger}}}},
	}
	body, err := Body{Layers: []WrittenLayer{{LayerConfig: LayerConfig{LayerName: "Weekdays", LayerStart: 1700000000, RotationUnit: "day",
		RotationValue: 1, DayMask: DayMask{[]int64{1, 2, 3, 4, 5}}, Groups: groups}}}}.normalise("")
	if err != nil {
		b.Fatal(err)
	}
	s := apitest.Start(b)
	s.Write(func(tx *db.Tx) error {
		row := stored{Stamps: Stamps{AccountID: apitest.AccountA, ScheduleID: id}, Name: "Production"}
		body.applyTo(&row)
		_, err := row.insert(tx)
		return err
	})
	room := &Service{}
	from, to := apitest.Now.Unix(), apitest.Now.Unix()+maxWindow
	in := InfoRequest{ScheduleID: id, Window: Window{&from, &to}}
	call := api.Call{Ctx: context.Background(), Now: apitest.Now, Who: auth.Principal{AccountID: apitest.AccountA, Zone: zone}}

	measure := func(name string, do func(tx *db.Tx) error) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := s.DB.Read(call.Ctx, do); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	var view Schedule
	measure("query", func(tx *db.Tx) error {
		_, err := get(tx, apitest.AccountA, id)
		return err
	})
	measure("query+timelines", func(tx *db.Tx) (err error) {
		c := call
		c.Tx = tx
		view, err = room.info(&c, in)
		return err
	})
	reply := make([]byte, 0, 64<<10)
	measure("reply", func(tx *db.Tx) error { _, err := view.AppendJSON(reply); return err })
	measure("reply by the encoder", func(tx *db.Tx) error { return json.MarshalWrite(io.Discard, view) })
	measure("whole", func(tx *db.Tx) (err error) {
		c := call
		c.Tx = tx
		view, err = room.info(&c, in)
		if err != nil {
			return err
		}
		_, err = view.AppendJSON(reply)
		return err
	})
}
