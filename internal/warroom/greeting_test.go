package warroom

import (
	"testing"

	"tocsin/internal/incident"
)

// TestGreeting checks that the first message is escaped for its service, and that a group name has one line.
func TestGreeting(t *testing.T) {
	i := incident.Incident{IncidentID: "663a1b2c3d4e5f6789abcdf0", Title: "<!channel> <@all> [x](https://evil.example) **b**\n\u202Enothing", Progress: "Triggered"}
	for plugin, want := range map[string]string{
		"slack":    "&lt;!channel&gt; &lt;@all&gt; [x](<https://evil.example>) ∗∗b∗∗\n│ nothing\nInfo, Triggered",
		"feishu":   "<!channel> <@all> \\[x\\](https://evil.example) \\*\\*b\\*\\*\n│ nothing\nInfo, Triggered",
		"dingtalk": "＜!channel> ＜＠all> ［x］(https://evil.example) ∗∗b∗∗\n│ nothing\nInfo, Triggered",
		"wecom":    "＜!channel> ＜＠all> ［x］(https://evil.example) ∗∗b∗∗\n│ nothing\nInfo, Triggered",
	} {
		a := openResult{incident: i, headline: i.Title}
		a.PluginType = plugin
		if got := string(greeting(&a, "").Text); got != want {
			t.Errorf("%s: %q, want %q", plugin, got, want)
		}
	}
	if got, want := nameOf(i.IncidentID, i.Title), "#ABCDF0 <!channel> <@all> [x](https://evil.example) **b** nothing"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
