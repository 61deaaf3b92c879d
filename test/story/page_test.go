package story

import (
	"testing"
	"time"
)

// The shortest story: an alert, the person on call, the end.
func TestTheOneOnCallIsTold(t *testing.T) {
	w := begin(t, escalates(layer(onCall(day))))
	w.push("cpu", "Critical")
	w.told(newPage("ann"))
	w.push("cpu", "Ok")
	w.told(over("ann"))
}

func TestTheNextLayerIsToldWhenNobodyAcknowledges(t *testing.T) {
	w := begin(t, escalates(layer(onCall(day), window(10))+","+layer(teams(ops))))
	w.push("cpu", "Critical")
	w.told(newPage("ann"))
	w.pass(9 * time.Minute)
	w.told()
	w.pass(time.Minute)
	w.told(newPage("bob"), newPage("cid"))
}
