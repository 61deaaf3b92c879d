package insight

import (
	"context"
	"io"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/core/insight"
	"tocsin/internal/platform/db"
)

// ExportRequest asks for the incidents of figures as a file.
type ExportRequest struct{ Filter }

// Check holds the request against its bounds.
func (in ExportRequest) Check() error { return in.Filter.Check() }

// export answers /insight/incident/export: page by page, each on the state of the database at that moment, so that a
// slow caller holds no transaction.
func (s *Service) export(c *api.Call, in ExportRequest) (api.Download, error) {
	columns, err := api.ColumnsOf[Item](in.ExportFields)
	if err != nil {
		return api.Download{}, err
	}
	c.Touched("account", c.Who.AccountID, "")
	who, now := c.Who, c.Unix()
	return api.Download{Name: "incidents.csv", Write: func(ctx context.Context, to io.Writer) error {
		t, err := api.NewTable(to, columns)
		if err != nil {
			return err
		}
		for from, more := (api.Position{}), true; more; {
			var rows []Item
			err := s.read(ctx, who.AccountID, func(tx *db.Tx) (err error) {
				rows, from, more, err = exportPage(ctx, tx, who, now, in.Filter, from)
				return err
			})
			if err != nil {
				return err
			}
			for _, row := range rows {
				if in.DescriptionHTMLToText {
					row.Description = insight.PlainText(row.Description)
				}
				if err := t.Add(row); err != nil {
					return err
				}
			}
			if err := t.Flush(); err != nil {
				return err
			}
		}
		return nil
	}}, nil
}

// exportPage returns the incidents of the next page that match, and where the page ended; more is false for the last.
func exportPage(ctx context.Context, tx *db.Tx, who auth.Principal, now int64, in Filter, from api.Position) (
	rows []Item, to api.Position, more bool, err error,
) {
	q, err := open(ctx, tx, who, now, in)
	if err != nil || q.none {
		return nil, from, false, err
	}
	found, err := q.window.After(tx, q.account, from, in.Asc, page)
	if err != nil {
		return nil, from, false, err
	}
	if err := q.readLeads(found); err != nil {
		return nil, from, false, err
	}
	for n := range found {
		i := &found[n]
		from = api.Position{At: i.StartTime, ID: i.IncidentID}
		if !q.matches(i) {
			continue
		}
		f, matches, err := q.measure(i)
		if err != nil {
			return nil, from, false, err
		}
		if !matches {
			continue
		}
		one, err := q.item(i, &f)
		if err != nil {
			return nil, from, false, err
		}
		rows = append(rows, one)
	}
	return rows, from, len(found) == page, nil
}
