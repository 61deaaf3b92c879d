package app

import (
	"testing"
	"time"

	"tocsin/internal/core/render"
	"tocsin/internal/integration"
	"tocsin/internal/platform/clock"
)

// TestEveryMethodHasATarget: each method has a render target, which escapes its texts. A new method without a target
// must not be used by accident.
func TestEveryMethodHasATarget(t *testing.T) {
	a := &App{Config: Config{Clock: clock.At(time.Unix(0, 0))}}
	methods := append(a.methods(), "email", "sms", "voice", integration.SlackApp, integration.FeishuApp, integration.DingTalkApp, integration.WeComApp, integration.TeamsApp)
	for _, method := range methods {
		if _, known := render.For(method); !known {
			t.Errorf("%s has no target", method)
		}
	}
	if len(methods) < 18 {
		t.Errorf("there are only %d methods", len(methods))
	}
}
