package prometheus_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"tocsin/internal/querier/prometheus"
)

// thousand is an answer of 1,000 series of five labels.
func thousand() []byte {
	var b bytes.Buffer
	b.WriteString(`{"status":"success","data":{"resultType":"vector","result":[`)
	for i := range 1000 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"metric":{"__name__":"node_load1","cluster":"fra","instance":"10.0.%d.%d:9100","job":"node","zone":"fra-%d"},"value":[1700000000.123,"%d.5"]}`,
			i/250, i%250, i%3, i)
	}
	b.WriteString(`]}}`)
	return b.Bytes()
}

// BenchmarkDecode1000Series must stay below 4 ms and 0.6 MB; BenchmarkGenericDecode1000Series is the library's way.
func BenchmarkDecode1000Series(b *testing.B) {
	text := thousand()
	b.ReportAllocs()
	for b.Loop() {
		answer := prometheus.Decoder{Limit: 100_000}
		if err := answer.Decode(bytes.NewReader(text)); err != nil || len(answer.Rows) != 1000 {
			b.Fatal(len(answer.Rows), err)
		}
	}
}

func BenchmarkGenericDecode1000Series(b *testing.B) {
	text := thousand()
	b.ReportAllocs()
	for b.Loop() {
		var answer any
		if err := json.NewDecoder(bytes.NewReader(text)).Decode(&answer); err != nil {
			b.Fatal(err)
		}
	}
}
