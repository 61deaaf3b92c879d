package silencewarning

import "testing"

// TestWarningEndsWithOneFullStop: the titles of alerts may be sentences.
func TestWarningEndsWithOneFullStop(t *testing.T) {
	t.Parallel()
	e := ending{titles: []string{"Disk of db-1 has 1% left."}}
	e.rule.RuleName, e.channel.ChannelName = "work", "Shop"
	const want = "The silence work in channel Shop ends Sat 21 Nov 12:00 CET. " +
		"1 alert is still active under it and will page then: Disk of db-1 has 1% left."
	if _, text := e.words("Sat 21 Nov 12:00 CET"); text != want {
		t.Error(text)
	}
}
