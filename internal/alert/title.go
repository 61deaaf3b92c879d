package alert

import (
	"errors"
	"fmt"
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/core/filter"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// The bounds of a search by title. Titles are compared here, because engines differ in expressions. The steps are those
// of filter.Meter: they bound the processor time of one call to about a second.
const (
	maxTitles     = 100_000
	maxTitleSteps = 10 * filter.RuleSteps
)

// byTitle returns the filter of a title, which is a value as filters have them.
func byTitle(title string) filter.Filter {
	return filter.Filter{{{Key: "title", Oper: filter.In, Vals: []string{title}}}}
}

// checkTitle returns fault.Invalid for a title that is no valid value of a filter.
func checkTitle(title string) error {
	if title == "" {
		return nil
	}
	if wrong := (*filter.Error)(nil); errors.As(filter.Check(byTitle(title)), &wrong) {
		return fault.Invalid("title", "%s", wrong.Clause())
	}
	return nil
}

// titlePattern returns a LIKE pattern that every matching title matches, so that the engine leaves out most others; empty
// when there is none, as for expressions. Only the longest part of a wildcard is looked for: engines may take long for
// patterns of many parts.
func titlePattern(title string) string {
	switch {
	case strings.HasPrefix(title, "cidr:"), strings.HasPrefix(title, "num:"),
		len(title) > 1 && strings.HasPrefix(title, "/") && strings.HasSuffix(title, "/"):
		return ""
	case !strings.ContainsAny(title, "*?"):
		return titleSpecial.Replace(title)
	}
	longest := ""
	for _, part := range strings.FieldsFunc(title, func(r rune) bool { return r == '*' || r == '?' }) {
		if len(part) > len(longest) {
			longest = part
		}
	}
	return "%" + titleSpecial.Replace(longest) + "%"
}

var titleSpecial = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// titleField is a title that a filter tests.
type titleField string

func (f titleField) Field(string) (string, bool) { return string(f), true }
func (f titleField) Label(string) (string, bool) { return "", false }

const (
	titled     = ` AND ($12 = '' OR alert.title LIKE $12 ESCAPE '\')`
	begunTitle = `SELECT alert_id, start_time, title FROM alert` + begun + titled
	begunDesc  = begunTitle + ` ORDER BY alert.start_time DESC, alert.alert_id DESC LIMIT $13`
	begunAsc   = begunTitle + ` ORDER BY alert.start_time, alert.alert_id LIMIT $13`

	changedTitle = `SELECT alert_id, updated_at, title FROM alert` + changed + titled
	changedDesc  = changedTitle + ` ORDER BY alert.updated_at DESC, alert.alert_id DESC LIMIT $13`
	changedAsc   = changedTitle + ` ORDER BY alert.updated_at, alert.alert_id LIMIT $13`
)

// withTitle returns the positions of the alerts whose title matches, in the order of the list. It warns when it has not
// compared all titles.
func withTitle(c *api.Call, in ListRequest, byChange bool, args []any) (found []api.Position, err error) {
	matcher, err := filter.Compile(byTitle(in.Title))
	if err != nil {
		return nil, err
	}
	meter := filter.NewMeter(maxTitleSteps, maxTitleSteps)
	query := begunDesc
	switch {
	case byChange && in.Asc:
		query = changedAsc
	case byChange:
		query = changedDesc
	case in.Asc:
		query = begunAsc
	}
	compared := 0
	_, err = db.All(c.Tx, func(scan db.Scan) (none struct{}, err error) {
		var at api.Position
		var title string
		if err := scan(&at.ID, &at.At, &title); err != nil || meter.Over() {
			return none, err
		}
		matches := matcher.Within(meter, titleField(title), nil)
		if meter.Over() {
			return none, nil
		}
		compared++
		if matches {
			found = append(found, at)
		}
		return none, nil
	}, query, append(args[:len(args):len(args)], titlePattern(in.Title), maxTitles)...)
	if meter.Over() || compared == maxTitles {
		c.Warn(fmt.Sprintf("title: only the first %d alerts that match the other filters were compared; use a shorter window", compared))
	}
	return found, err
}

// listTitle is listAll for a request with a title.
func listTitle(
	c *api.Call, in ListRequest, byChange bool, args []any, from api.Position, limit, offset int64,
) (items []Alert, onPage, total int64, err error) {
	found, err := withTitle(c, in, byChange, args)
	if err != nil {
		return nil, 0, 0, err
	}
	for from != (api.Position{}) && offset < int64(len(found)) && !after(found[offset], from, in.Asc) {
		offset++
	}
	total = int64(len(found))
	items = []Alert{}
	bytes := int64(0)
	for _, at := range found[min(offset, total):min(offset+limit+1, total)] {
		a, ok, err := db.One(c.Tx, scanAlert, selection+` WHERE account_id = $1 AND alert_id = $2`, c.Who.AccountID, at.ID)
		if err != nil {
			return nil, 0, 0, err
		}
		if ok {
			items = append(items, a)
			bytes += a.bytes()
		}
		if bytes > api.PageBytes && len(items) > 1 {
			c.WarnShort(int64(len(items))-1, limit, "")
			return items, int64(len(items)) - 1, total, nil
		}
	}
	return items, limit, total, nil
}

// bytes returns about how long the alert is.
func (a *Alert) bytes() int64 {
	n := len(a.Title) + len(a.TitleRule) + len(a.Description)
	for name, value := range a.Labels {
		n += len(name) + len(value)
	}
	for _, image := range a.Images {
		n += len(image.Src) + len(image.Href) + len(image.Alt)
	}
	return int64(n)
}

// after reports whether a position is behind another one in the order of the list.
func after(p, from api.Position, asc bool) bool {
	if p.At != from.At {
		return (p.At > from.At) == asc
	}
	return p.ID != from.ID && (p.ID > from.ID) == asc
}
