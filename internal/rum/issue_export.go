package rum

import (
	"context"
	"io"

	"tocsin/internal/api"
	"tocsin/internal/auth"
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
	return api.Download{Name: "issues.csv", Write: issueFile{r.DB, c.Who, in.IssueFilter, columns}.write}, nil
}

// issueFile is an export that is written after the transaction of its call.
type issueFile struct {
	db      *db.DB
	who     auth.Principal
	filter  IssueFilter
	columns []api.Column
}

func (f issueFile) write(ctx context.Context, to io.Writer) error {
	t, err := api.NewTable(to, f.columns)
	if err != nil {
		return err
	}
	for from, more := (api.Position{}), true; more; {
		if !from.Unset() {
			f.filter.EndTime = from.At + 1 // so that the page is found by the index, however many are before it
		}
		var rows []Issue
		err := f.db.Snapshot(ctx, func(tx *db.Tx) (err error) {
			rows, err = db.All(tx, scanIssue, issuePages[order{"created_at", false}],
				append(f.filter.args(f.who), from.Unset(), from.At, from.ID, exportPage, 0)...)
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
}
