package explain

import (
	"slices"
	"time"
)

// describeRules adds what alert rules found before the verdicts on their events. The explanation begins with the query that was
// asked.
func (x *Explanation) describeRules() error {
	if x.rule == nil {
		return nil
	}
	var told []int64
	for _, v := range slices.Concat(x.Verdicts, x.Later) {
		if v.EventID == "" {
			continue
		}
		at, sentences, err := x.rule(x.c.Tx, x.c.Who.AccountID, v.AlertKey, time.UnixMilli(v.DecidedAt), x.clock)
		if err != nil {
			return err
		}
		if len(sentences) > 0 && !slices.Contains(told, at) {
			told = append(told, at)
			x.add(at, ofRule, sentences...)
		}
	}
	return nil
}
