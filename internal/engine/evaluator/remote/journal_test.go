package remote_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/engine/evaluator"
	"tocsin/internal/engine/evaluator/remote"
)

func openJournal(t *testing.T, dir string) *remote.Journal {
	t.Helper()
	j, err := remote.OpenJournal(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func keep(t *testing.T, j *remote.Journal, rule uint64, state string, unsent ...string) bool {
	t.Helper()
	k := evaluator.Kept{Saved: evaluator.Saved{Key: evaluator.Key{Account: 1, Rule: rule}, Epoch: 7, State: evaluate.State(state)}, Moment: time.Unix(60, 0)}
	for _, key := range unsent {
		k.Unsent = append(k.Unsent, evaluate.Transition{Key: key, To: evaluate.Begin, At: time.Unix(60, 0)})
	}
	return j.Keep(k, len(unsent) > 0)
}

func state(j *remote.Journal, rule uint64) string {
	k, _ := j.Kept(evaluator.Key{Account: 1, Rule: rule})
	return string(k.State)
}

func TestJournalOutlivesItsProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := openJournal(t, dir)
	keep(t, j, 1, "one")
	keep(t, j, 1, "two", "a", "b")
	keep(t, j, 2, "gone")
	j.Forget(evaluator.Key{Account: 1, Rule: 2})
	keep(t, j, 3, "empty")
	keep(t, j, 3, "")
	j = openJournal(t, dir) // the one before was killed
	k, has := j.Kept(evaluator.Key{Account: 1, Rule: 1})
	if !has || k.State != "two" || k.Epoch != 7 || len(k.Unsent) != 2 || k.Unsent[1].Key != "b" || !k.Moment.Equal(time.Unix(60, 0)) {
		t.Errorf("%+v", k)
	}
	if state(j, 2) != "" || state(j, 3) != "" {
		t.Error("what was forgotten is back")
	}
}

// A process that ends before Release has kept nothing since Hold.
func TestHeldJournalIsOnDiskOnceItIsReleased(t *testing.T) {
	t.Parallel()
	for _, kept := range []bool{false, true} {
		dir := t.TempDir()
		j := openJournal(t, dir)
		keep(t, j, 1, "one", "a")
		keep(t, j, 2, "two")
		keep(t, j, 4, "later")
		used := j.Bytes()
		j.Hold()
		keep(t, j, 1, "changed", "a", "b")
		j.Forget(evaluator.Key{Account: 1, Rule: 2})
		keep(t, j, 3, "three")
		if state(j, 1) != "changed" || state(j, 2) != "" || state(j, 3) != "three" {
			t.Error("a held journal does not have what is kept")
		}
		if other := openJournal(t, dir); state(other, 1) != "one" || state(other, 2) != "two" || state(other, 3) != "" {
			t.Error("what is kept is on the disk while it is held")
		}
		j.Release(kept)
		keep(t, j, 4, "after")
		for _, one := range []*remote.Journal{j, openJournal(t, dir)} {
			if kept && (state(one, 1) != "changed" || state(one, 2) != "" || state(one, 3) != "three") {
				t.Error("what was kept is not there")
			}
			if !kept && (state(one, 1) != "one" || state(one, 2) != "two" || state(one, 3) != "" || one.Bytes() != used) {
				t.Errorf("what was forgotten is there: %d bytes, want %d", one.Bytes(), used)
			}
			if state(one, 4) != "after" {
				t.Error("it is still held")
			}
		}
	}
}

func TestTornLineIsLeftOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := openJournal(t, dir)
	keep(t, j, 1, "one")
	keep(t, j, 1, "two")
	path := filepath.Join(dir, "journal")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for cut := 0; cut < len(whole); cut += 9 {
		torn := append(append([]byte{}, whole[:cut]...), strings.Repeat("\x00", cut%3)...)
		if err := os.WriteFile(path, torn, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := state(openJournal(t, dir), 1); got != "" && got != "one" && got != "two" {
			t.Fatalf("cut at %d: %q", cut, got)
		}
	}
	whole[len(whole)-5] ^= 1 // a bit that the disk has lost
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := state(openJournal(t, dir), 1); got != "one" {
		t.Errorf("%q of the line before a broken one", got)
	}
}

func TestJournalIsWrittenAgainWhenMostIsOld(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := openJournal(t, dir)
	for range 200 {
		keep(t, j, 1, strings.Repeat("x", 20_000))
	}
	info, err := os.Stat(filepath.Join(dir, "journal"))
	if err != nil || info.Size() > 1<<20+80_000 {
		t.Errorf("%d bytes of one watch, %v", info.Size(), err)
	}
	if state(openJournal(t, dir), 1) == "" {
		t.Error("the watch is lost")
	}
}

// TestFullJournalKeepsStates: history has no room, while what is pending and open has.
func TestFullJournalKeepsStates(t *testing.T) {
	t.Parallel()
	j := openJournal(t, t.TempDir())
	large := strings.Repeat("x", 4<<20)
	n := uint64(1)
	for ; keep(t, j, n, large, "a"); n++ {
		if n > 20 {
			t.Fatal("the journal has no bound")
		}
	}
	if !keep(t, j, n, large) || state(j, n) != large {
		t.Error("a state was refused")
	}
}

// TestDiskThatCannotBeWrittenStopsNothing: what is found is in memory, and on the disk again as soon as that can be written.
func TestDiskThatCannotBeWrittenStopsNothing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "edge")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	j, err := remote.OpenJournal(dir, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	j.Fail()
	if err := os.Rename(dir, dir+"2"); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if !keep(t, j, 1, "one", "a") || state(j, 1) != "one" {
			t.Error("it is not in memory")
		}
	}
	if strings.Count(log.String(), "not kept on the disk") != 1 {
		t.Errorf("log: %s", log.String())
	}
	if err := os.Rename(dir+"2", dir); err != nil {
		t.Fatal(err)
	}
	keep(t, j, 2, "two")
	if again := openJournal(t, dir); state(again, 1) != "one" || state(again, 2) != "two" {
		t.Error("it is not on the disk again")
	}
}

// A file of the directory stands for a disk that is full when the process starts.
func TestJournalOpensOnFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keep(t, openJournal(t, dir), 1, "one", "a")
	blocker := filepath.Join(dir, "journal.part")
	if err := os.Mkdir(blocker, 0o700); err != nil {
		t.Fatal(err)
	}
	j := openJournal(t, dir)
	if keep(t, j, 2, "two"); state(j, 1) != "one" || state(j, 2) != "two" {
		t.Error("a watch was forgotten")
	}
	if err := os.Remove(blocker); err != nil {
		t.Fatal(err)
	}
	keep(t, j, 3, "three")
	j = openJournal(t, dir)
	if state(j, 1) != "one" || state(j, 2) != "two" || state(j, 3) != "three" {
		t.Error("a watch is not on the disk")
	}
}
