package db_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
)

// BenchmarkWriteBesideClaims writes an account while another process claims rows of other accounts, for 5 ms each time: as
// a transaction of all accounts, and as one of the account that the rows belong to.
func BenchmarkWriteBesideClaims(b *testing.B) {
	dsn := dbtest.New(b)
	open := func() *db.DB {
		d, err := db.Open(context.Background(), dsn)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { d.Close() })
		return d
	}
	d, other := open(), open()
	work := func(*db.Tx) error { time.Sleep(5 * time.Millisecond); return nil }
	for name, claim := range map[string]func(context.Context) error{
		"all": func(ctx context.Context) error { return other.Write(ctx, work) },
		"own": func(ctx context.Context) error { return other.ClaimOf(ctx, 1, work) },
	} {
		b.Run(name, func(b *testing.B) {
			ctx, stop := context.WithCancel(context.Background())
			var claims sync.WaitGroup
			claims.Go(func() {
				for ctx.Err() == nil {
					_ = claim(ctx)
				}
			})
			for b.Loop() {
				if err := d.WriteOf(context.Background(), 2, func(*db.Tx) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
			stop()
			claims.Wait()
		})
	}
}
