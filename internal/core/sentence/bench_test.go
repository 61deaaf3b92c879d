package sentence_test

import (
	"strings"
	"testing"

	"tocsin/internal/core/sentence"
)

func BenchmarkRead(b *testing.B) {
	for name, text := range map[string]string{
		"reason":         `labels.env is "prod", IN prod and severity is "Critical", not IN Info, Warning`,
		"message":        "Mon 13 Apr 12:00:04 (Asia/Shanghai): Notification to Rita Reader (on call in Day, A) over sms: failed, it answered 400 Bad Request. So it was tried over email instead.",
		"foreign":        "Everything is on fire: the disk of db-1 is full and nothing is written any more.",
		"hostile, lists": strings.Repeat("a; ", 1300), "hostile, and": strings.Repeat("it is disabled and ", 200), "hostile, sentences": strings.Repeat("on call in A, B. ", 120),
		"hostile, names": strings.Repeat("person 7 has left; x to y (z) over q: ", 50),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				sentence.Read(text)
			}
		})
	}
}
