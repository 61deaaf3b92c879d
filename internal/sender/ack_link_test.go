package sender_test

import (
	"strings"
	"testing"

	"tocsin/internal/core/render"
	"tocsin/internal/sender"
)

// Every message that a person can read carries the link that acknowledges, however long the texts of the incident: it comes
// before what the shortest service cuts off.
func TestAckLinkIsNeverCutOff(t *testing.T) {
	i := render.Sample
	i.Title = strings.Repeat("<*t_>", 102)
	i.Headline = strings.Repeat("<*h_>", 40)
	i.Description = strings.Repeat("d\n", 1000)
	i.Where = strings.Repeat("w", 80)
	i.Channel = strings.Repeat("c", 60)
	i.Notified = []string{strings.Repeat("n", 500)}
	i.Links = nil
	for n := range 8 {
		i.Links = append(i.Links, render.Link{Name: strings.Repeat("l", 100) + string(rune('a'+n)), URL: "https://a.example/" + strings.Repeat("x", 900)})
	}
	i.AckLink = "https://tocsin.example.com/ack/" + strings.Repeat("A", 75)
	for kind, source := range render.Preset {
		to, _ := render.For(kind)
		tpl, err := render.Parse(source, to)
		if err != nil {
			t.Fatal(err)
		}
		text, err := tpl.Render(i)
		if err != nil {
			t.Fatal(err)
		}
		limit := 1600 // below the 2,000 characters of Discord and the 1,650 bytes of a work notification in DingTalk
		switch kind {
		case "voice":
			limit = 480
			if strings.Count(string(text), strings.Repeat("<*h_>", 20)) != 2 || len([]rune(text)) > limit {
				t.Errorf("voice says %s", text)
			}
			continue
		case "sms":
			limit = 480
		case "email":
			limit = 10_000
		}
		if !strings.Contains(sender.Fit(string(text), limit, sender.Bytes), i.AckLink) {
			t.Errorf("%s loses its link: %s", kind, text)
		}
	}
}
