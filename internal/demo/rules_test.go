package demo

import (
	"encoding/json"
	"fmt"
	"maps"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/core/event"
	"tocsin/internal/core/pipeline"
)

// TestPipelineChangesWhatDemoSends: the card provider's name joins the title, and no event of the demo is lost.
func TestPipelineChangesWhatDemoSends(t *testing.T) {
	t.Parallel()
	rules := pipeline.Ready(configured(momentsAt(apitest.Now)).Pipelines[0].Rules)
	for _, h := range round() {
		out, dropped, _, steps := rules.Apply(nil, event.Event{Title: h.title, Status: h.status, Severity: h.status, Labels: maps.Clone(h.labels)})
		want := h.title
		if h.labels["provider"] != "" && h.status != event.Ok { // the end of an alert is not changed
			want += ": " + h.labels["provider"]
		}
		if dropped || out.Title != want {
			t.Errorf("%s: dropped %t, title %q, want %q: %+v", h.title, dropped, out.Title, want, steps)
		}
	}
}

// TestTemplatesRender: no text of the account's templates fails.
func TestTemplatesRender(t *testing.T) {
	t.Parallel()
	s, keyring := serve(t)
	key := filled(t, s, keyring, apitest.Now).ReadOnly
	for _, record := range configured(momentsAt(apitest.Now)).Templates {
		for _, kind := range []string{"email", "sms", "slack"} {
			text, err := json.Marshal(record.Of(kind))
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				Content, Message string
				Success          bool
			}
			s.Call(key, "/template/preview", fmt.Sprintf(`{"type": "%s", "content": %s}`, kind, text)).Into(&got)
			if !got.Success || record.Of(kind) != "" && got.Content == "" {
				t.Errorf("%s, %s: %+v", record.TemplateName, kind, got)
			}
		}
	}
}
