package phone

import (
	"context"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/platform/db"
)

// Answers are kept as long as events are: until then the same callback changes nothing.
func TestAnswersArePruned(t *testing.T) {
	t.Parallel()
	ctx, now := context.Background(), time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	s := &Service{DB: apitest.Start(t).DB}
	for _, err := range []error{
		s.record(ctx, apitest.AccountA, "CA1", "4", now), s.record(ctx, apitest.AccountA, "CA1", "4", now.Add(time.Hour)),
		s.record(ctx, apitest.AccountA, "CA2", "4", now.Add(time.Minute)), s.record(ctx, apitest.AccountA, "", "4", now),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	done := func(account int64, sid, digit string) bool {
		t.Helper()
		found, err := s.answered(ctx, account, sid, digit)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	if !done(apitest.AccountA, "CA1", "4") || done(apitest.AccountA, "CA1", "6") || done(apitest.AccountB, "CA1", "4") || done(apitest.AccountA, "", "4") {
		t.Error("an answer is known that was not acted on, or the other way round")
	}
	if err := s.DB.Write(ctx, func(tx *db.Tx) error {
		more, err := s.Module().Prune[0].Prune(tx, now.Add(time.Minute))
		if more {
			t.Error("more answers are to be deleted")
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if done(apitest.AccountA, "CA1", "4") || !done(apitest.AccountA, "CA2", "4") {
		t.Error("the wrong answers were deleted")
	}
}
