package remote

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"sync"

	"tocsin/internal/engine/evaluator"
)

// maxJournal bounds what a journal holds while transitions wait, in bytes.
const maxJournal = 64 << 20

// Journal is the file of a member with the states of its watches and what they have found that the server does not have. Each
// line is a checksum and the newest of a watch; the last line of a watch counts.
type Journal struct {
	path string
	log  *slog.Logger

	mu     sync.Mutex
	file   *os.File // nil: it could not be written; the next line writes the whole file
	live   map[evaluator.Key][]byte
	used   int64 // bytes of live
	size   int64 // bytes of the file
	wrote  int64 // lines
	failed bool
	before map[evaluator.Key][]byte // live as it was at Hold; nil: it is not held

	flush  sync.Mutex
	synced int64 // lines on the disk
}

// line is a line of the journal.
type line struct {
	evaluator.Kept
	Forgotten bool `json:",omitzero"`
}

// OpenJournal reads the journal of a directory. Lines that are not whole, because the machine failed, are left out: what they
// had is evaluated again.
func OpenJournal(dir string, log *slog.Logger) (*Journal, error) {
	j := &Journal{path: filepath.Join(dir, "journal"), log: log, live: map[evaluator.Key][]byte{}}
	file, err := os.Open(j.path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if err == nil {
		defer file.Close()
		if err := j.read(file); err != nil {
			return nil, err
		}
	}
	j.note(j.rewrite()) // a full disk does not stop a start
	return j, nil
}

func (j *Journal) read(file io.Reader) error {
	for in := bufio.NewReader(file); ; {
		text, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil // a last line without its end is torn
		}
		if err != nil {
			return err
		}
		var one line
		if len(text) < 10 || fmt.Sprintf("%08x", crc32.ChecksumIEEE(text[9:])) != string(text[:8]) || Unmarshal(text[9:], &one) != nil {
			continue
		}
		j.used -= int64(len(j.live[one.Key]))
		delete(j.live, one.Key)
		if !one.Forgotten {
			j.live[one.Key] = text
			j.used += int64(len(text))
		}
	}
}

// Kept returns what is kept of a watch.
func (j *Journal) Kept(key evaluator.Key) (evaluator.Kept, bool) {
	j.mu.Lock()
	text := j.live[key]
	j.mu.Unlock()
	var one line
	return one.Kept, text != nil && Unmarshal(text[9:], &one) == nil
}

// Bytes returns how large the journal is.
func (j *Journal) Bytes() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.used
}

// Hold leaves the file as it is until Release.
func (j *Journal) Hold() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.before = maps.Clone(j.live)
}

// Release writes what was kept since Hold, or goes back to what was there.
func (j *Journal) Release(keep bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !keep {
		j.live, j.used = j.before, 0
		for _, text := range j.live {
			j.used += int64(len(text))
		}
	}
	j.before = nil
	j.note(j.rewrite())
}

// Keep keeps a watch. A disk that is full does not stop its evaluation: what is found is sent all the same, unless the process
// ends before.
func (j *Journal) Keep(k evaluator.Kept, durable bool) bool {
	if k.State == "" && len(k.Unsent) == 0 {
		j.Forget(k.Key)
		return true
	}
	text := encode(line{Kept: k})
	j.mu.Lock()
	used := j.used + int64(len(text)-len(j.live[k.Key]))
	if used > maxJournal && len(k.Unsent) > 0 {
		j.mu.Unlock()
		return false
	}
	j.live[k.Key], j.used = text, used
	j.note(j.append(text))
	wrote, file := j.wrote, j.file
	j.mu.Unlock()
	if durable && file != nil {
		j.sync(wrote)
	}
	return true
}

// Forget forgets a watch.
func (j *Journal) Forget(key evaluator.Key) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if old := j.live[key]; old != nil {
		delete(j.live, key)
		j.used -= int64(len(old))
		j.note(j.append(encode(line{Kept: evaluator.Kept{Saved: evaluator.Saved{Key: key}}, Forgotten: true})))
	}
}

func encode(one line) []byte {
	text, _ := Marshal(one) // of the types of this program: it cannot fail
	text = append(text, '\n')
	return append(fmt.Appendf(nil, "%08x ", crc32.ChecksumIEEE(text)), text...)
}

// append adds a line, and writes the file again when most lines are old. The caller holds the lock.
func (j *Journal) append(text []byte) error {
	if j.before != nil {
		return nil
	}
	j.wrote++
	if j.file == nil || j.size > 2*j.used+1<<20 {
		return j.rewrite()
	}
	_, err := j.file.Write(text)
	if err != nil {
		_ = j.file.Truncate(j.size) // a part of a line is left out by its checksum otherwise
		return errors.Join(err, j.close())
	}
	j.size += int64(len(text))
	return nil
}

func (j *Journal) close() error {
	file := j.file
	j.file = nil
	return file.Close()
}

// rewrite writes the file with the live lines alone. The caller holds the lock, or is the only one.
func (j *Journal) rewrite() error {
	var all bytes.Buffer
	for _, text := range j.live {
		all.Write(text)
	}
	if err := writeFile(j.path, all.Bytes()); err != nil {
		return err
	}
	if j.file != nil {
		_ = j.file.Close() // of the file before
	}
	file, err := os.OpenFile(j.path, os.O_WRONLY|os.O_APPEND, 0o600)
	j.file = nil
	if err == nil {
		j.file = file
	}
	j.size = int64(all.Len())
	return err
}

// sync waits until the lines so far are on the disk. Callers share one wait.
func (j *Journal) sync(wrote int64) {
	j.flush.Lock()
	defer j.flush.Unlock()
	if j.synced >= wrote {
		return
	}
	j.mu.Lock()
	file, now := j.file, j.wrote
	j.mu.Unlock()
	if file == nil {
		return
	}
	if err := file.Sync(); err == nil || errors.Is(err, os.ErrClosed) { // closed: it was written again
		j.synced = now
	}
}

// note logs when writing begins to fail and when it succeeds again.
func (j *Journal) note(err error) {
	if err != nil && !j.failed {
		j.log.Error("what is found is not kept on the disk: if this process ends while the server cannot be reached, it is lost", "error", err)
	}
	if err == nil && j.failed {
		j.log.Info("what is found is kept on the disk again")
	}
	j.failed = err != nil
}

// writeFile writes a file whole, or leaves it as it was.
func writeFile(path string, text []byte) error {
	temp := path + ".part"
	file, err := os.OpenFile(temp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err == nil {
		err = file.Sync()
	}
	err = errors.Join(err, file.Close())
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		_ = os.Remove(temp) // the next one replaces it
	}
	return err
}
