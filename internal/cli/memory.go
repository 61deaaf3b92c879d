package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"log/slog"
	"math"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
)

// limitMemory lets the collector work harder before the program reaches the limit of its memory, instead of being killed
// there: at four fifths of it, because the collector knows neither the engine's memory nor that of the system. GOMEMLIMIT
// sets another limit.
func limitMemory(log *slog.Logger) {
	if _, set := os.LookupEnv("GOMEMLIMIT"); set {
		log.Info("memory limit", "bytes", debug.SetMemoryLimit(-1), "from", "GOMEMLIMIT")
		return
	}
	limit, from := memoryOf(os.ReadFile, dataLimit())
	if limit == math.MaxInt64 {
		log.Info("memory limit", "bytes", "none")
		return
	}
	limit -= limit / 5
	debug.SetMemoryLimit(limit)
	log.Info("memory limit", "bytes", limit, "from", from)
}

// memoryOf returns the smallest limit of the memory of this process, and what sets it: its control groups (version 2 or 1),
// the limit of its data, or the machine. Without any it returns math.MaxInt64. read reads a file of the system.
func memoryOf(read func(string) ([]byte, error), data int64) (limit int64, from string) {
	limit = math.MaxInt64
	least := func(bytes int64, of string) {
		if bytes > 0 && bytes < limit {
			limit, from = bytes, of
		}
	}
	least(data, "the limit of data")
	least(machineMemory(read), "the machine")
	groups, _ := read("/proc/self/cgroup") // without the file there are no groups
	lines := bufio.NewScanner(bytes.NewReader(groups))
	for lines.Scan() {
		hierarchy := strings.SplitN(lines.Text(), ":", 3) // its number, its controllers, the group
		if len(hierarchy) < 3 {
			continue
		}
		root, file := "/sys/fs/cgroup", "memory.max"
		switch controllers := "," + hierarchy[1] + ","; {
		case strings.Contains(controllers, ",memory,"):
			root, file = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
		case controllers != ",,":
			continue
		}
		for group := path.Clean("/" + hierarchy[2]); ; group = path.Dir(group) { // the groups around it are limits too
			least(number(read(path.Join(root, group, file))), "the control group")
			if group == "/" {
				break
			}
		}
	}
	return limit, from
}

// machineMemory returns the memory of the machine, or 0 where it is not known.
func machineMemory(read func(string) ([]byte, error)) int64 {
	text, _ := read("/proc/meminfo")
	_, rest, _ := strings.Cut(string(text), "MemTotal:")
	kilobytes, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	return number([]byte(kilobytes), nil) << 10
}

// number returns a number of bytes; 0 for none, such as "max".
func number(text []byte, err error) int64 {
	n, failed := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if cmp.Or(err, failed) != nil {
		return 0
	}
	return n
}
