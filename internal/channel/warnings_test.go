package channel_test

import (
	"fmt"
	"testing"

	"tocsin/internal/api/apitest"
)

// A rule that keeps alerts from becoming incidents is named when it keeps all of them back, never any, or for too long.
func TestMutingRulesWarn(t *testing.T) {
	t.Parallel()
	s := start(t)
	now := apitest.Now.Unix()
	const (
		everything = `filters: matches every alert of the channel, so all of them are `
		some       = `[[{"key":"labels.env","oper":"IN","vals":["test"]}]]`
	)
	all := `[[{"key":"title","oper":"IN","vals":["*"]}]]`
	lower := `[[{"key":"severity","oper":"IN","vals":["Info","critical"]}]]`
	once := func(days int64) string {
		return fmt.Sprintf(`,"time_filter":{"start_time":%d,"end_time":%d}`, now, now+days*86400)
	}
	for _, c := range []struct{ kind, filters, more, want string }{
		{"unsubscribe", all, "", everything + "dropped"},
		{"silence", all, once(1), everything + "silenced"},
		{"unsubscribe", lower, "", `filters[0][0].vals[1]: severity is never "critical", it is one of Critical, Warning, Info, Ok`},
		{"silence", some, once(31), "time_filter: its window is longer than 30 days"},
		{"silence", some, once(30), ""},
		{"unsubscribe", some, "", ""},
	} {
		want := `{}`
		if c.want != "" {
			want = fmt.Sprintf(`{"warnings":[%q]}`, c.want)
		}
		body := fmt.Sprintf(`{"channel_id":1001,"rule_name":"r","filters":%s%s`, c.filters, c.more)
		s.Converse(t, []apitest.Turn{
			{Path: "/channel/" + c.kind + "/rule/create", Body: body + "}", Has: want, Keep: map[string]string{"id": "rule_id"}},
			{Path: "/channel/" + c.kind + "/rule/update", Body: body + `,"rule_id":"$id"}`, Data: want},
		})
	}
}
