package insight

import (
	"context"
	"io"

	"tocsin/internal/api"
	"tocsin/internal/platform/db"
)

// exported returns the Func of an export of rows. The call is recorded in the audit log before the first byte is sent.
func exported[T any](s *Service, what string, rows func(source, Request) (api.Items[T], error)) api.Func {
	return api.Do(func(c *api.Call, in Request) (api.Download, error) {
		columns, err := api.ColumnsOf[T](in.ExportFields)
		if err != nil {
			return api.Download{}, err
		}
		c.Touched("account", c.Who.AccountID, "")
		who, now := c.Who, c.Unix()
		return api.Download{Name: what + ".csv", Write: func(ctx context.Context, to io.Writer) error {
			var all api.Items[T]
			err := s.read(ctx, who.AccountID, func(tx *db.Tx) (err error) {
				all, err = rows(source{ctx, tx, who, now}, in)
				return err
			})
			if err != nil {
				return err
			}
			t, err := api.NewTable(to, columns)
			if err != nil {
				return err
			}
			for _, row := range all.Items {
				if err := t.Add(row); err != nil {
					return err
				}
			}
			return t.Flush()
		}}, nil
	})
}
