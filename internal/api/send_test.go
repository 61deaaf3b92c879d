package api_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/platform/db"
)

const (
	large     = "/toy/large"
	largeMade = "/toy/large/make"
)

// largeToys are a read and a write that answer with as many bytes as the request asks for.
func largeToys() []api.Op {
	type request struct {
		Bytes int `json:"bytes"`
	}
	type reply struct {
		Text string `json:"text"`
	}
	answer := func(c *api.Call, in request) (reply, error) {
		return reply{strings.Repeat("x", in.Bytes)}, nil
	}
	made := func(c *api.Call, in request) (reply, error) {
		c.Touched("toy", in.Bytes, "large")
		if _, err := c.Tx.Exec(`INSERT INTO toy (account_id, toy_id, toy_name) VALUES ($1, $2, 'large')`, c.Who.AccountID, in.Bytes); err != nil {
			return reply{}, err
		}
		return answer(c, in)
	}
	return []api.Op{
		{Path: large, Doc: "Large.", Allow: []auth.Permission{auth.TeamsRead}, Do: api.Do(answer)},
		{Path: largeMade, Doc: "Large.", Allow: []auth.Permission{auth.TeamsManage}, Effect: api.Write, Audit: "toy:write:large", Do: api.Do(made)},
	}
}

// narrow is a listener whose connections take few bytes that are not read.
type narrow struct{ net.Listener }

func (l narrow) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(4 << 10)
	}
	return conn, err
}

// narrowServer serves the frame on such a listener, and returns its address.
func narrowServer(t *testing.T, s *apitest.Server) string {
	t.Helper()
	server := httptest.NewUnstartedServer(s.Frame)
	server.Listener = narrow{server.Listener}
	server.Start()
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

// askUnread sends a call and does not read the reply. The connection takes few bytes.
func askUnread(t *testing.T, address, key, path string, bytes int) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
	body := fmt.Sprintf(`{"bytes":%d}`, bytes)
	fmt.Fprintf(conn, "POST %s?app_key=%s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, key, len(body), body)
	return conn
}

// TestUnreadRepliesAreBounded: connections that ask for large replies and do not read them hold no more than the bound. What
// does not fit is refused, and a write that does not fit changes nothing. Other accounts get large replies meanwhile, and the
// same key small ones.
func TestUnreadRepliesAreBounded(t *testing.T) {
	t.Parallel()
	const total, size = 8 << 20, 500 << 10
	s := withToys(apitest.Start(t, largeToys()))
	api.SetReplies(s.Frame, total, total/4, time.Millisecond, time.Minute)
	address := narrowServer(t, s)
	conns, refused := []net.Conn{}, 0
	for range 300 {
		conn := askUnread(t, address, apitest.KeyA, large, size)
		conns = append(conns, conn)
		start := make([]byte, 16) // when it has arrived, the reply is being written
		if _, err := io.ReadFull(conn, start); err != nil {
			t.Fatal(err)
		}
		switch string(start[9:12]) {
		case "503":
			refused++
		case "200":
		default:
			t.Fatalf("answered %q", start)
		}
		if held := api.ReplyBytes(s.Frame); held > total {
			t.Fatalf("%d bytes are held, at most %d may be", held, total)
		}
	}
	if refused < 280 || refused == 300 {
		t.Errorf("%d of 300 were refused", refused)
	}
	if r := s.Call(apitest.KeyA, largeMade, fmt.Sprintf(`{"bytes":%d}`, size)); r.Status != 503 || r.Header.Get("Retry-After") != "5" || !strings.Contains(string(r.Body), "have not been read") {
		t.Errorf("a write with a large reply: %d %v", r.Status, r.Header)
	}
	if r := s.Call(apitest.KeyA, largeMade, `{"bytes":1}`); r.Status != 200 {
		t.Errorf("a write with a small reply: %s", r.Body)
	}
	s.Read(func(tx *db.Tx) error {
		ids, err := db.All(tx, db.Column[int64], `SELECT toy_id FROM toy`)
		if !slices.Equal(ids, []int64{1}) {
			t.Errorf("the toys %d were made, want 1 alone", ids)
		}
		return err
	})
	if r := s.Call(apitest.KeyB, large, fmt.Sprintf(`{"bytes":%d}`, size)); r.Status != 200 || len(r.Body) < size {
		t.Errorf("another account: %d", r.Status)
	}
	for _, conn := range conns {
		conn.Close()
	}
	for api.ReplyBytes(s.Frame) > 0 {
		time.Sleep(time.Millisecond)
	}
	if r := s.Call(apitest.KeyA, large, fmt.Sprintf(`{"bytes":%d}`, size)); r.Status != http.StatusOK {
		t.Errorf("when the connections are gone: %d", r.Status)
	}
}

// TestUnreadRepliesEnd: a large reply that is not read in time is dropped, although its connection stays open.
func TestUnreadRepliesEnd(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, largeToys())
	api.SetReplies(s.Frame, 8<<20, 1<<20, time.Millisecond, 10*time.Millisecond)
	conn := askUnread(t, narrowServer(t, s), apitest.KeyA, large, 60<<10)
	if _, err := io.ReadFull(conn, make([]byte, 16)); err != nil { // the reply is being written
		t.Fatal(err)
	}
	for api.ReplyBytes(s.Frame) > 0 {
		time.Sleep(time.Millisecond)
	}
}

// TestPagesEndAtTheirBytes: a page of long elements ends early with a warning. The cursor leads to every element once.
func TestPagesEndAtTheirBytes(t *testing.T) {
	t.Parallel()
	const path = "/toy/long/list"
	type request struct{ api.CursorRequest }
	name := func(scan db.Scan) (id int64, err error) {
		var text string
		return id, scan(&id, &text)
	}
	ops := []api.Op{{Path: path, Doc: "Long.", Allow: []auth.Permission{auth.TeamsRead}, Do: api.Do(
		func(c *api.Call, in request) (reply api.CursorPage[int64], err error) {
			from, err := in.From(c, "long")
			if err != nil {
				return reply, err
			}
			limit, _ := in.Window(20)
			found, onPage, err := db.Page(c.Tx, limit, api.PageBytes, name, `SELECT toy_id, toy_name FROM toy WHERE account_id = $1 AND toy_id > $2
				ORDER BY toy_id LIMIT $3 + 0`, c.Who.AccountID, from.At, limit+1)
			if err != nil {
				return reply, err
			}
			c.WarnShort(onPage, limit, "")
			return api.NewCursorPage(c, found, onPage, 9, "long", func(id int64) api.Position { return api.Position{At: id, ID: "-"} }), nil
		})}}
	s := withToys(apitest.Start(t, ops))
	for id := range 9 {
		text := strings.Repeat("x", api.PageBytes/3)
		if id == 4 {
			text = strings.Repeat("x", 2*api.PageBytes)
		}
		s.Exec(`INSERT INTO toy (account_id, toy_id, toy_name) VALUES ($1, $2, $3)`, apitest.AccountA, id+1, text)
	}
	var all []int64
	pages := []int{}
	for cursor := ""; ; {
		var reply struct {
			Data struct {
				api.CursorPage[int64]
				Warnings []string `json:"warnings"`
			} `json:"data"`
		}
		r := s.Call(apitest.KeyA, path, fmt.Sprintf(`{"limit":8,"search_after_ctx":%q}`, cursor))
		if err := json.Unmarshal(r.Body, &reply); err != nil {
			t.Fatal(err)
		}
		page := reply.Data
		all, pages = append(all, page.Items...), append(pages, len(page.Items))
		if short := len(page.Items) < 8 && page.HasNextPage; short != (len(page.Warnings) == 1) {
			t.Errorf("page of %d, warnings %q", len(page.Items), page.Warnings)
		}
		cursor = page.SearchAfterCtx
		if !page.HasNextPage {
			break
		}
	}
	if !slices.Equal(all, []int64{1, 2, 3, 4, 5, 6, 7, 8, 9}) || !slices.Equal(pages, []int{3, 1, 1, 3, 1}) {
		t.Errorf("%d on pages of %d", all, pages)
	}
}
