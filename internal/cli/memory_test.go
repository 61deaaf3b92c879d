package cli

import (
	"fmt"
	"io/fs"
	"math"
	"testing"
)

// TestMemoryLimitIsSmallest: of the machine, the data and all groups around the process the smallest limit counts.
func TestMemoryLimitIsSmallest(t *testing.T) {
	t.Parallel()
	const machine = "MemTotal:       24682872 kB\nMemFree: 1 kB\n"
	for _, c := range []struct {
		name  string
		files map[string]string
		data  int64
		limit int64
		from  string
	}{
		{"nothing is known", nil, 0, math.MaxInt64, ""},
		{"the machine alone", map[string]string{"/proc/meminfo": machine, "/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/memory.max": "max\n"},
			0, 24682872 << 10, "the machine"},
		{"a container", map[string]string{"/proc/meminfo": machine, "/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/memory.max": "1073741824\n"},
			0, 1 << 30, "the control group"},
		{"a group in a smaller one", map[string]string{"/proc/self/cgroup": "0::/system.slice/tocsin.service\n",
			"/sys/fs/cgroup/system.slice/tocsin.service/memory.max": "2147483648\n", "/sys/fs/cgroup/system.slice/memory.max": "536870912\n"},
			0, 512 << 20, "the control group"},
		{"version 1", map[string]string{"/proc/meminfo": machine, "/proc/self/cgroup": "5:cpu,cpuacct:/a\n4:memory:/docker/a\n1:name=systemd:/a\n",
			"/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n", "/sys/fs/cgroup/memory/docker/a/memory.limit_in_bytes": "1073741824\n"},
			0, 1 << 30, "the control group"},
		{"data", map[string]string{"/proc/meminfo": machine}, 1 << 30, 1 << 30, "the limit of data"},
	} {
		limit, from := memoryOf(func(name string) ([]byte, error) {
			text, ok := c.files[name]
			if !ok {
				return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
			}
			return []byte(text), nil
		}, c.data)
		if limit != c.limit || from != c.from {
			t.Errorf("%s: %d from %q, want %d from %q", c.name, limit, from, c.limit, c.from)
		}
	}
}
