package rum

import (
	"context"
	"io"

	"tocsin/internal/api"
	"tocsin/internal/platform/db"
)

// exportPage is the number of issues that an export reads in one transaction.
const exportPage = 500

type issueExportRequest struct{ IssueFilter }

// issueExport answers /rum/issue/export: page by page, each on the state of the database at that moment, so that a slow
// caller holds no transaction.
func (r *Service) issueExport(c *api.Call, in issueExportRequest) (api.Download, error) {
	columns, err := api.ColumnsOf[Issue](nil)
	if err != nil {
		return api.Download{}, err
	}
	c.Touched("account", c.Who.AccountID, "")
	who := c.Who
	return api.Download{Name: "issues.csv", Write: func(ctx context.Context, to io.Writer) error {
		t, err := api.NewTable(to, columns)
		if err != nil {
			return err
		}
		for from, more := (api.Position{}), true; more; {
			if !from.Unset() {
				in.EndTime = from.At + 1 // so that the page is found by the index, however many are before it
			}
			var rows []Issue
			err := r.DB.Snapshot(ctx, func(tx *db.Tx) (err error) {
				rows, err = db.All(tx, scanIssue, issuePages[order{"created_at", false}],
					append(in.args(who), from.Unset(), from.At, from.ID, exportPage, 0)...)
				return err
			})
			if err != nil {
				return err
			}
			for _, row := range rows {
				if err := t.Add(row); err != nil {
					return err
				}
				from = api.Position{At: row.CreatedAt, ID: row.IssueID}
			}
			if err := t.Flush(); err != nil {
				return err
			}
			more = len(rows) == exportPage
		}
		return nil
	}}, nil
}
