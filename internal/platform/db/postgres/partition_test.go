package postgres_test

import (
	"context"
	"testing"
	"time"

	"tocsin/internal/platform/db/dbtest"
	"tocsin/internal/platform/db/postgres"
)

// A program that stops does not wait for a statement on partitions that the server does not answer.
func TestEndOfProgramEndsWorkOnPartitions(t *testing.T) {
	t.Parallel()
	if dbtest.Server == "" {
		t.Skip("only for PostgreSQL: the embedded engine keeps no table in parts")
	}
	e, err := postgres.New(dbtest.New(t), "")
	if err != nil {
		t.Fatal(err)
	}
	stopping, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- e.Alone(stopping, "SELECT pg_sleep(300)") }()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("the statement has ended by itself")
		}
	case <-time.After(time.Minute):
		t.Error("it waits for the statement")
	}
}
