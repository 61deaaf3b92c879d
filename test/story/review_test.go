package story

import (
	"context"
	"strings"
	"testing"
	"time"

	"tocsin/internal/db"
)

// spoil changes the database behind the program's back, as a broken disk or a fault of ours would.
func (w *world) spoil(query string) {
	w.t.Helper()
	w.must(w.app.DB.Write(context.Background(), func(tx *db.Tx) error { _, err := tx.Exec(query); return err }))
}

func TestAnEscalationThatCannotBeReadHoldsUpNoOther(t *testing.T) {
	w := begin(t, escalates(layer(persons(ann), window(10))+","+layer(persons(cid))))
	w.push("bad", "Critical")
	w.spoil(`UPDATE escalation SET rule = 'not JSON'`)
	w.push("good", "Critical")
	w.told(newPage("ann"), newPage("ann"))
	w.pass(11 * time.Minute)
	w.told(newPage("cid"), newPage("olga")) // of good; and of bad, because nobody else can be
	w.pass(time.Hour)
	w.told()
	if why := w.why("bad"); !strings.Contains(why, "its escalation cannot go on") {
		t.Error(why)
	}
	if status, body := w.page("/health/ready"); status != 503 || !strings.Contains(body, "escalation") {
		t.Errorf("%d %s", status, body)
	}
}
