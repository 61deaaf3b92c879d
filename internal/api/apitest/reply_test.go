package apitest_test

import (
	"net/http"
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
)

// TestReadReplyRejectsMembersGivenTwice checks objects at several depths of a reply.
func TestReadReplyRejectsMembersGivenTwice(t *testing.T) {
	t.Parallel()
	id := strings.Repeat("A", 26)
	header := http.Header{"Content-Type": {"application/json; charset=utf-8"}, "Service-Request-Id": {id}, "Flashcat-Request-Id": {id}}
	for data, twice := range map[string]bool{
		`{"warnings":["a"],"items":[{"x":{"y":1}},{"x":{"y":2}}]}`: false,
		`{"warnings":["a"],"warnings":["b"]}`:                      true,
		`{"items":[{"x":{"y":1,"z":2,"y":3}}]}`:                    true,
		`[[{"x":1,"x":1}]]`:                                        true,
	} {
		_, err := apitest.ReadReply(http.StatusOK, header, []byte(`{"request_id":"`+id+`","data":`+data+`}`))
		if (err != nil) != twice {
			t.Errorf("%s: %v", data, err)
		}
	}
}
