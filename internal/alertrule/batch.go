package alertrule

import (
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/fault"
)

// Done is what became of one rule of several.
type Done struct {
	Name    string         `json:"name" doc:"The rule; its identifier if there is none."`
	Message sentence.Words `json:"message" doc:"Why it was left as it was; empty: it was not."`
}

// each changes rules one by one. One that cannot be changed stays as it was, with the reason in its item.
func each(c *api.Call, ids []uint64, change func(Rule) error) ([]Done, error) {
	list, seen := []Done{}, map[uint64]bool{}
	for _, id := range ids {
		if seen[id] {
			continue
		}
		seen[id] = true
		r, found, err := FindRule(c.Tx, c.Who.AccountID, id)
		if err != nil {
			return nil, err
		}
		if !found {
			list = append(list, left(strconv.FormatUint(id, 10), fault.Missing(configstore.AlertRule, id)))
			continue
		}
		done, err := attempt(c, r.Name, func() error { return change(r) })
		if err != nil {
			return nil, err
		}
		list = append(list, done)
	}
	return list, nil
}

// left returns a rule that was left as it was, with the reason.
func left(name string, cause error) Done {
	return Done{name, sentence.Words(sentence.Raw(cause.Error()))}
}

// attempt runs a change of one rule of several. An error that is the caller's becomes the message of its item, and takes
// back what the change has stored.
func attempt(c *api.Call, name string, change func() error) (Done, error) {
	refused, err := c.Tx.Try(change)
	if err != nil || refused == nil {
		return Done{Name: name}, err
	}
	switch fault.KindOf(refused) {
	case fault.InvalidParameter, fault.Conflict, fault.AccessDenied:
		return left(name, refused), nil
	}
	return Done{}, refused
}
