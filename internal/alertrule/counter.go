package alertrule

import (
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/api"
	"tocsin/internal/channel"
	"tocsin/internal/platform/db"
	"tocsin/internal/rulefolder"
)

// EmptyRequest is a request without members.
type EmptyRequest struct{}

// counterStatus answers /monit/rule/counter/status.
func (s *Service) counterStatus(c *api.Call, _ EmptyRequest) ([]FolderStatus, error) {
	tree, err := rulefolder.TreeOf(c.Tx, c.Who.AccountID)
	if err != nil {
		return nil, err
	}
	return s.folderStatus(c, tree, tree.Children(0))
}

// counterChannel answers /monit/rule/counter/channel. Channels of one name are counted together.
func counterChannel(c *api.Call, _ EmptyRequest) (map[string]int64, error) {
	lists, err := db.All(c.Tx, db.Column[string], `SELECT body FROM alert_rule WHERE account_id = $1`, c.Who.AccountID)
	if err != nil {
		return nil, err
	}
	byID := map[int64]int64{}
	for _, text := range lists {
		var rule struct {
			ChannelIDs []int64 `json:"channel_ids"`
		}
		if err := json.Unmarshal([]byte(text), &rule); err != nil {
			return nil, err
		}
		for _, id := range slices.Compact(slices.Sorted(slices.Values(rule.ChannelIDs))) {
			byID[id]++
		}
	}
	hidden, err := channel.Hidden(c.Tx, c.Who)
	if err != nil {
		return nil, err
	}
	byName := map[string]int64{}
	for id, rules := range byID {
		if slices.Contains(hidden, id) {
			continue
		}
		ch, found, err := channel.Find(c.Tx, c.Who.AccountID, id)
		if err != nil {
			return nil, err
		}
		name := ch.ChannelName
		if !found {
			name = strconv.FormatInt(id, 10)
		}
		byName[name] += rules
	}
	return byName, nil
}

// Total is how many rules an account had at the end of a day.
type Total struct {
	ID        int64 `json:"id" doc:"The day: days since 1970-01-01."`
	AccountID int64 `json:"account_id" doc:"The account."`
	Num       int64 `json:"num" doc:"How many rules there were."`
	Clock     int64 `json:"clock" doc:"When they were counted: the end of the day in UTC, or the moment of the call; Unix seconds."`
}

// counterTotal answers /monit/rule/counter/total. A day without a row had as many rules as the day before.
func counterTotal(c *api.Call, _ EmptyRequest) ([]Total, error) {
	today := day(c.Unix())
	stored, err := db.All(c.Tx, func(scan db.Scan) (t Total, err error) { return t, scan(&t.ID, &t.Num) },
		`SELECT day, num FROM alert_rule_count WHERE account_id = $1 AND day > $2 ORDER BY day`, c.Who.AccountID, today-countDays)
	list := []Total{}
	for i, t := range stored {
		next := today + 1
		if i+1 < len(stored) {
			next = stored[i+1].ID
		}
		for d := t.ID; d < next; d++ {
			list = append(list, Total{d, c.Who.AccountID, t.Num, min(startOf(d+1), c.Unix())})
		}
	}
	return list, err
}

// startOf returns the beginning of a day in UTC, Unix seconds.
func startOf(day int64) int64 { return day * int64((24 * time.Hour).Seconds()) }
