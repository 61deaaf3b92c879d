package remote

import (
	"crypto/hpke"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"

	"tocsin/internal/engine/evaluator"
)

// kept is what a member needs to go on without its server, beside the watches.
type kept struct {
	Account  int64
	Cluster  string
	Server   string // with which it has joined last
	Given    string // Config.Server then
	Slots    map[int64]int64
	Revision int64
	At       time.Time // when the server was last reached
}

func (k *kept) orders(differ []int64) evaluator.Orders {
	return evaluator.Orders{Slots: k.Slots, Accounts: map[int64]int64{k.Account: k.Revision}, Differ: differ}
}

// The files of a member, which only its user may read.
const (
	keyFile     = "key"     // private; what the server seals to this member is of no use without it
	keptFile    = "member"  // kept
	watchesFile = "watches" // the last reply, sealed as it came
)

// load reads the directory of a member, or makes one.
func (c *Center) load() error {
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return err
	}
	if err := os.Chmod(c.Dir, 0o700); err != nil { // it may have been there before
		return err
	}
	path := filepath.Join(c.Dir, keyFile)
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		c.key, err = hpke.MLKEM768X25519().GenerateKey()
		if err != nil {
			return err
		}
		text, err = c.key.Bytes()
		if err != nil {
			return err
		}
		return writeFile(path, text)
	case err != nil:
		return err
	}
	c.key, err = hpke.MLKEM768X25519().NewPrivateKey(text)
	if err != nil {
		return fmt.Errorf("%s is not the key of an edge: delete it, and a new one is made: %w", path, err)
	}
	var watches WatchesReply
	if read(filepath.Join(c.Dir, keptFile), &c.kept) != nil || read(filepath.Join(c.Dir, watchesFile), &watches) != nil {
		c.kept = kept{} // the server has both
		return nil
	}
	c.have = watches.Have
	return nil
}

func read(path string, v any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return Unmarshal(text, v)
}

// keepEvery is how old the file with the time of the last reply may be.
const keepEvery = time.Minute

// taken keeps the orders of the server. The caller holds the lock.
func (c *Center) taken(reply SyncReply) evaluator.Orders {
	now := c.Clock.Now()
	fresh := c.kept.Revision == reply.Revision && maps.Equal(c.kept.Slots, reply.Slots) && now.Sub(c.stored) < keepEvery
	c.kept.Slots, c.kept.Revision = reply.Slots, reply.Revision
	c.kept.At = now
	if !fresh {
		c.stored = now
		c.store(keptFile, c.kept)
	}
	return c.kept.orders(reply.Differ)
}

// configure keeps the watches of the server.
func (c *Center) configure(reply WatchesReply) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.have = ""
	if c.store(watchesFile, reply) {
		c.have = reply.Have
	}
}

// store writes a file, and reports whether it is written. If it is not, this process goes on; the next one needs the server.
func (c *Center) store(name string, v any) bool {
	text, err := Marshal(v)
	if err == nil {
		err = writeFile(filepath.Join(c.Dir, name), text)
	}
	if err != nil {
		c.Log.Error("the configuration is not kept on the disk: after a restart this edge needs the server", "error", err)
	}
	return err == nil
}

// forget deletes the configuration.
func (c *Center) forget() error {
	return errors.Join(os.RemoveAll(filepath.Join(c.Dir, keptFile)), os.RemoveAll(filepath.Join(c.Dir, watchesFile)))
}
