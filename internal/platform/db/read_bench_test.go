package db

import (
	"fmt"
	"path/filepath"
	"testing"
)

// BenchmarkRead compares the two ways to read: statements on their own, and statements in one snapshot.
func BenchmarkRead(b *testing.B) {
	d, err := Open(b.Context(), "sqlite:"+filepath.Join(b.TempDir(), "test.db"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = d.Close() })
	for _, statements := range []int{1, 2, 4} {
		work := func(tx *Tx) error {
			for range statements {
				if _, _, err := One(tx, Column[int64], `SELECT revision FROM account WHERE account_id = $1`, int64(1)); err != nil {
					return err
				}
			}
			return nil
		}
		b.Run(fmt.Sprintf("alone/%d", statements), func(b *testing.B) {
			for b.Loop() {
				if err := d.Read(b.Context(), work); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("snapshot/%d", statements), func(b *testing.B) {
			for b.Loop() {
				if err := d.Snapshot(b.Context(), work); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
