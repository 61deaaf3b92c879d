package channel_test

import (
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/platform/db"
)

func TestSilenceRuleList(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Grant(auth.ChannelsRead)
	s.Write(func(tx *db.Tx) error {
		once := func(r channel.Rule) channel.SilenceRule {
			return channel.SilenceRule{Rule: r, Filters: info, TimeFilter: &channel.OnceTimeFilter{StartTime: apitest.Now.Unix(), EndTime: apitest.Now.Unix() + 3600}}
		}
		second := once(rule(open, "69b3c426b4a6f5abf1f54873", 1, 100))
		second.FromIncidentID = "69b3c426b4a6f5abf1f54870"
		second.IsDirectlyDiscard = true
		second.IsAutoDelete = true
		second.Description = "while we move"
		first := channel.SilenceRule{Rule: rule(open, "69b3c426b4a6f5abf1f54874", 0, 300), Filters: info, TimeFilters: []channel.TimeFilter{
			{Start: "22:00", End: "06:00", Repeat: []int{1, 5}}, {Start: "00:00", End: "23:59", CalID: new("cn-holidays"), IsOff: new(true)}}}
		third, fourth := once(rule(open, "69b3c426b4a6f5abf1f54875", 1, 200)), once(rule(open, "69b3c426b4a6f5abf1f54876", 1, 200))
		fourth.Status = "disabled"
		gone := once(rule(open, "69b3c426b4a6f5abf1f54877", 0, 1))
		gone.Status, gone.DeletedAt = "deleted", 5
		return channel.Silences.Load(tx, nil, apitest.AccountA, []channel.SilenceRule{fourth, third, gone, second, first, once(rule(private, "69b3c426b4a6f5abf1f54878", 0, 1))})
	})
	s.Scenarios(t, "/channel/silence/rule/list", []apitest.Scenario{
		{Name: "in order, effective at the moment", Body: `{"channel_id": 1001}`, Golden: "channel_silence_rule_list"},
		{Name: "a reader", Key: apitest.KeyReader, Body: `{"channel_id": 1001}`},
		{Name: "no permission", Key: apitest.KeyNothing, Body: `{"channel_id": 1001}`, Code: "AccessDenied", Says: []string{"Channels Read (on-call)"}},
		{Name: "private, in the team", Key: apitest.KeyReader, Body: `{"channel_id": 1002}`},
		{Name: "a channel without rules", Body: `{"channel_id": 1003}`, Data: `{"items": []}`},
		{Name: "unknown channel", Body: `{"channel_id": 999}`, Code: "ResourceNotFound", Says: []string{"channel 999"}},
		{Name: "another account's channel", Key: apitest.KeyB, Body: `{"channel_id": 1001}`, Code: "ResourceNotFound"},
		{Name: "the largest id", Body: `{"channel_id": 9223372036854775807}`, Code: "ResourceNotFound"},
		{Name: "beyond the largest id", Body: `{"channel_id": 9223372036854775808}`, Code: "InvalidParameter", Says: []string{"channel_id"}},
		{Name: "zero", Body: `{"channel_id": 0}`, Code: "InvalidParameter", Says: []string{"channel_id", "at least 1", "got 0"}},
		{Name: "a text", Body: `{"channel_id": "1001"}`, Code: "InvalidParameter", Says: []string{"channel_id", "integer"}},
		{Name: "null", Body: `{"channel_id": null}`, Code: "InvalidParameter", Says: []string{"channel_id"}},
		{Name: "missing", Body: `{}`, Code: "InvalidParameter", Says: []string{"channel_id", "required"}},
	})
}

func TestRulesOfPrivateChannelAreForItsTeamAndOwner(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Grant(auth.ChannelsRead)
	s.Exec(`DELETE FROM team_person WHERE account_id = $1`, apitest.AccountA)
	body := `{"channel_id": 1002}`
	s.Scenarios(t, "/channel/silence/rule/list", []apitest.Scenario{
		{Name: "the owner, in no team", Body: body},
		{Name: "a reader outside the team", Key: apitest.KeyReader, Body: body, Code: "AccessDenied", Says: []string{"channel 1002 is private", "4291079133131"}},
		{Name: "an open channel", Key: apitest.KeyReader, Body: `{"channel_id": 1001}`},
	})
}

// A window is read in the account's own time zone.
func TestEffectiveInAccountsTimeZone(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Write(func(tx *db.Tx) error { // Monday noon in Shanghai is Monday midnight in New York
		lunch := func(id int64) []channel.SilenceRule {
			return []channel.SilenceRule{{Rule: rule(id, "69b3c426b4a6f5abf1f54873", 0, 1), Filters: info, TimeFilters: []channel.TimeFilter{{Start: "12:00", End: "13:00", Repeat: []int{1}}}}}
		}
		if err := channel.Silences.Load(tx, nil, apitest.AccountB, lunch(foreign)); err != nil {
			return err
		}
		return channel.Silences.Load(tx, nil, apitest.AccountA, lunch(open))
	})
	for _, c := range []struct {
		key       string
		channel   int64
		effective bool
	}{{apitest.KeyA, open, true}, {apitest.KeyB, foreign, false}} {
		var list struct {
			Items []struct {
				IsEffective *bool `json:"is_effective"`
			}
		}
		s.Call(c.key, "/channel/silence/rule/list", map[string]int64{"channel_id": c.channel}).Into(&list)
		if len(list.Items) != 1 || list.Items[0].IsEffective == nil || *list.Items[0].IsEffective != c.effective {
			t.Errorf("channel %d: %+v, want one rule with is_effective %v", c.channel, list.Items, c.effective)
		}
	}
}
