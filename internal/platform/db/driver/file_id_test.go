package driver_test

import (
	"testing"

	"tocsin/internal/platform/db/driver"
)

// What one side does not know is not compared: a kernel that begins to store the time of creation must hold no server.
func TestFileIDComparesWhatIsKnown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b driver.FileID
		is   bool
	}{
		{driver.FileID{}, driver.FileID{Inode: 7, Born: 9}, true},
		{driver.FileID{Inode: 7, Born: 0}, driver.FileID{Inode: 7, Born: 9}, true},
		{driver.FileID{Inode: 7, Born: 9}, driver.FileID{Inode: 7, Born: 9}, true},
		{driver.FileID{Inode: 7, Born: 8}, driver.FileID{Inode: 7, Born: 9}, false},
		{driver.FileID{Inode: 6, Born: 9}, driver.FileID{Inode: 7, Born: 9}, false},
		{driver.FileID{Inode: 6, Born: 0}, driver.FileID{Inode: 7, Born: 9}, false},
	} {
		if c.a.Is(c.b) != c.is || c.b.Is(c.a) != c.is {
			t.Errorf("%+v, %+v: want %v", c.a, c.b, c.is)
		}
	}
}
