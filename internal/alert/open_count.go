package alert

import (
	"github.com/go-json-experiment/json"

	"tocsin/internal/core/event"
	"tocsin/internal/core/filter"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// maxCounted is how many open alerts of a channel OpenCounts compares at most.
const maxCounted = 20_000

const open = `SELECT alert_key, alert_severity, labels FROM alert WHERE account_id = $1 AND channel_id = $2 AND end_time = 0
	AND deleted_at = 0 ORDER BY last_time DESC, alert_id LIMIT $3 + 0`

// OpenCounts returns for each filter how many of a channel's open alerts it matches now. The filters read alert_key,
// severity and labels. complete is false when the channel has too many open alerts. Only the alerts with the latest events
// are compared then.
func OpenCounts(tx *db.Tx, account, channel int64, filters []filter.Filter) (counts []int64, complete bool, err error) {
	set, matchers := filter.NewSet(filters), make([]*filter.Matcher, len(filters))
	for i, f := range filters {
		matchers[i], err = filter.Compile(f)
		if err != nil {
			return nil, false, err
		}
	}
	counts = make([]int64, len(filters))
	events, err := db.All(tx, scanOpen, open, account, channel, maxCounted+1)
	if err != nil {
		return nil, false, err
	}
	for n := range events[:min(len(events), maxCounted)] {
		e := &events[n]
		for _, i := range set.Candidates(e) {
			if matchers[i].Match(e, nil) {
				counts[i]++
			}
		}
	}
	return counts, len(events) <= maxCounted, nil
}

// scanOpen reads an alert as silence rules match it: by the highest severity that it has had.
func scanOpen(scan db.Scan) (e event.Event, err error) {
	var labels string
	if err := scan(&e.AlertKey, &e.Severity, &labels); err != nil {
		return e, err
	}
	return e, fault.Wrap(json.Unmarshal([]byte(labels), &e.Labels), "labels of alert key %s", e.AlertKey)
}
