package app

import (
	"testing"
	"time"

	"tocsin/internal/clock"
	"tocsin/internal/integration"
	"tocsin/internal/render"
)

// Every way has a target whose escaping its texts go through: a new one without is not sent by accident.
func TestEveryWayHasATarget(t *testing.T) {
	a := &App{Config: Config{Clock: clock.At(time.Unix(0, 0))}}
	ways := append(a.ways(), "email", "sms", "voice", integration.SlackApp, integration.FeishuApp, integration.DingTalkApp, integration.WeComApp, integration.TeamsApp)
	for _, way := range ways {
		if _, known := render.For(way); !known {
			t.Errorf("%s has no target", way)
		}
	}
	if len(ways) < 18 {
		t.Errorf("there are only %d ways", len(ways))
	}
}
