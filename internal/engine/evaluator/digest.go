package evaluator

import (
	"hash/fnv"
	"strconv"
)

// DigestOf returns a number of an open instance. The digest of a slot is the exclusive or of those of all its open instances.
func DigestOf(key Key, check, instance, severity string) uint64 {
	h := fnv.New64a()
	text := strconv.AppendUint(nil, key.Rule, 10)
	text = strconv.AppendUint(append(text, '/'), key.Datasource, 10)
	_, _ = h.Write(append(text, "/"+check+"/"+instance+"/"+severity...)) // never fails
	return h.Sum64()
}
