package route

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"tocsin/internal/api"
	"tocsin/internal/channel"
	"tocsin/internal/core/filter"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

var _ filter.Fields = (*stored)(nil)

// stored is a stored alert as conditions read it.
type stored struct {
	title  string
	start  int64
	fields map[string]string
	labels map[string]string
}

// Field returns a built-in field.
func (s *stored) Field(name string) (string, bool) { v, ok := s.fields[name]; return v, ok }

// Label returns a label.
func (s *stored) Label(name string) (string, bool) { v, ok := s.labels[name]; return v, ok }

// readAlert returns an alert that the caller may see. found is false when it does not exist or is in a private channel
// of others. An alert of a deleted channel is visible to all who may read channels.
func readAlert(c *api.Call, id string) (s *stored, found bool, err error) {
	var ch int64
	s, found, err = db.One(c.Tx, func(scan db.Scan) (*stored, error) {
		s := &stored{}
		var severity, status, rule, description, key, labels string
		var integration int64
		if err := scan(&s.title, &s.start, &ch, &severity, &status, &rule, &description, &key, &integration, &labels); err != nil {
			return nil, err
		}
		s.fields = map[string]string{
			"severity":       severity,
			"status":         status,
			"title":          s.title,
			"title_rule":     rule,
			"description":    description,
			"alert_key":      key,
			"integration_id": strconv.FormatInt(integration, 10),
		}
		return s, json.Unmarshal([]byte(labels), &s.labels)
	}, `SELECT title, start_time, channel_id, alert_severity, alert_status, title_rule, description, alert_key, integration_id, labels
		FROM alert WHERE account_id = $1 AND alert_id = $2 AND deleted_at = 0`, c.Who.AccountID, strings.ToLower(id))
	if err != nil || !found || ch == 0 {
		return s, found, err
	}
	switch err := channel.Readable(c.Tx, c.Who, ch); fault.KindOf(err) {
	case fault.AccessDenied:
		return nil, false, nil
	case fault.NotFound:
		return s, true, nil
	default:
		return s, err == nil, err
	}
}
