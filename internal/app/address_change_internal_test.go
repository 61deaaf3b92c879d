package app

import (
	"strings"
	"testing"

	"tocsin/internal/person"
)

// Both messages about a change of address are in the language of the person who reads them.
func TestChangeOfAddressFollowsLanguageOfReader(t *testing.T) {
	t.Parallel()
	change := person.AddressChange{Person: 7, By: 7, Name: "Ann", ByName: "Ann", Old: "old@example.com", New: "new@example.com"}
	first := change
	first.Old = ""
	first.By = 8
	first.ByName = "Olga"
	for _, c := range []struct {
		change person.AddressChange
		locale string
		toOld  bool
		want   string // the text, or a part
	}{
		{change, "en-US", true, "it was changed with their own session or key. If that is a surprise, tell the owner of the account."},
		{change, "zh-CN", true, "该地址已通过其本人的会话或密钥更改。"},
		{change, "", false, "It was changed with their own session or key from old@example.com to new@example.com. Links to sign in that were made"},
		{change, "zh-CN", false, "从 old@example.com 更改为 new@example.com。此前创建的登录链接已失效。"},
		{first, "en-US", false, "It was changed by Olga from none to new@example.com."},
		{first, "zh-CN", false, "该地址已由 Olga 从 无 更改为 new@example.com。"},
	} {
		got := addressLetter(c.change, c.locale, c.toOld)
		if chinese := strings.Contains(got.Subject, "已更改"); !strings.Contains(got.Text, c.want) || chinese != (c.locale == "zh-CN") {
			t.Errorf("%s: %s: %s", c.locale, got.Subject, got.Text)
		}
	}
}
