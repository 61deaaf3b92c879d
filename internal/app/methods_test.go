package app

import (
	"slices"
	"testing"
	"time"

	"tocsin/internal/core/render"
	"tocsin/internal/integration"
	"tocsin/internal/platform/clock"
	"tocsin/internal/sender"
)

// TestEveryMethodHasTarget: each method has a render target, which escapes its texts. A new method without a target
// must not be used by accident.
func TestEveryMethodHasTarget(t *testing.T) {
	t.Parallel()
	a := &App{Config: Config{Clock: clock.At(time.Unix(0, 0))}}
	methods := append(a.methods(), "email", "sms", "voice", "push", integration.SlackApp, integration.FeishuApp, integration.DingTalkApp, integration.WeComApp, integration.TeamsApp)
	for _, method := range methods {
		if _, known := render.For(method); !known {
			t.Errorf("%s has no target", method)
		}
	}
	if len(methods) < 18 {
		t.Errorf("there are only %d methods", len(methods))
	}
}

// TestEveryMethodIsKnown: a rule or a preference may name exactly the methods that the program has a sender for.
func TestEveryMethodIsKnown(t *testing.T) {
	t.Parallel()
	a := &App{Config: Config{Clock: clock.At(time.Unix(0, 0))}}
	want := append(a.methods(), "email", "sms", "voice", "push")
	slices.Sort(want)
	if got := slices.Sorted(slices.Values(sender.Methods)); !slices.Equal(got, want) {
		t.Errorf("the known methods are %v, there are senders for %v", got, want)
	}
	for _, app := range []string{integration.SlackApp, integration.FeishuApp, integration.DingTalkApp, integration.WeComApp, integration.TeamsApp} {
		if wrong := sender.CheckMethod(app) + sender.CheckMethod(app+":6113996590131"); wrong != "" {
			t.Errorf("%s is refused: %s", app, wrong)
		}
	}
	for _, wrong := range []string{"phone", "emial", "", "Email", "slack_app:", "slack_app:x", "slack_app:0", "email:5", "slack_apps"} {
		if sender.CheckMethod(wrong) == "" {
			t.Errorf("%q is accepted", wrong)
		}
	}
}
