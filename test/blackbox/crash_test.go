package blackbox

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"tocsin/internal/platform/db"
)

const crashAccount = `{
	"format": "tocsin.account/1",
	"account": {"account_id": 1, "account_name": "Crash", "time_zone": "UTC", "owner_id": 11},
	"persons": [{"person_id": 11, "person_name": "Olga", "email": "olga@example.com"}],
	"channels": [{"channel_id": 41, "channel_name": "Nodes"}],
	"integrations": [{"integration_id": 51, "integration_name": "I", "integration_type": "standard", "channel_id": 41, "integration_key": "00112233445566778899aabbccddeeff131"}],
	"escalate_rules": [{"rule_id": "5e5e5e5e5e5e5e5e5e5e5e01", "channel_id": 41, "rule_name": "Olga", "template_id": "000000000000000000000001", "layers": [{"target": {"person_ids": [11], "by": {"follow_preference": true}}}]}]
}`

// A server under load is killed repeatedly at random times. Every event that was answered with success is stored
// afterwards and has its verdict. TOCSIN_CRASH_ROUNDS is the number of kills; 8 when it is not set.
func TestAcceptedEventsSurviveKill(t *testing.T) {
	t.Parallel()
	rounds := 8
	if n, err := strconv.Atoi(os.Getenv("TOCSIN_CRASH_ROUNDS")); err == nil {
		rounds = n
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "account.json")
	if err := os.WriteFile(file, []byte(crashAccount), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, dir, "import", file, "--db", "sqlite:crash.db")
	var mu sync.Mutex
	var taken []string
	for round := range rounds {
		s := serve(t, dir, "serve", "--db", "sqlite:crash.db", "--listen", "127.0.0.1:0", "--limit-per-second", "0", "--limit-per-minute", "0", "--log-level", "error")
		ctx, cancel := context.WithCancel(context.Background())
		var senders sync.WaitGroup
		for n := range 8 {
			senders.Go(func() {
				for i := 0; ctx.Err() == nil; i++ {
					ids := pushOne(ctx, s.url, fmt.Sprintf("k%d-%d-%d", round, n, i%7), i%3 == 0)
					mu.Lock()
					taken = append(taken, ids...)
					mu.Unlock()
				}
			})
		}
		time.Sleep(time.Duration(20+rand.IntN(180)) * time.Millisecond)
		s.kill()
		cancel()
		senders.Wait()
	}
	s := serve(t, dir, "serve", "--db", "sqlite:crash.db", "--listen", "127.0.0.1:0", "--log-level", "error")
	d, err := db.Connect(context.Background(), "sqlite:"+filepath.Join(dir, "crash.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	count := func(query string) (n int64) {
		err := d.Read(context.Background(), func(tx *db.Tx) (err error) { n, _, err = db.One(tx, db.Column[int64], query); return err })
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for end := time.Now().Add(time.Minute); count(`SELECT count(*) FROM event_waiting`) > 0; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("not everything was decided within a minute")
		}
	}
	lost := 0
	err = d.Read(context.Background(), func(tx *db.Tx) error {
		for _, id := range taken {
			n, _, err := db.One(tx, db.Column[int64], `SELECT count(*) FROM event e JOIN verdict v ON v.account_id = e.account_id AND v.event_id = e.event_id WHERE e.account_id = 1 AND e.event_id = $1`, id)
			if err != nil {
				return err
			}
			if n != 1 {
				lost++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if lost > 0 || len(taken) < 10*rounds {
		t.Errorf("%d of %d events that were taken are lost or have not one verdict", lost, len(taken))
	}
	if n := count(`SELECT count(*) FROM (SELECT 1 FROM notice GROUP BY notice_key HAVING count(*) > 1) AS x`); n > 0 {
		t.Errorf("%d notices are there twice", n)
	}
	t.Logf("%d kills, %d events taken, none lost", rounds, len(taken))
	s.stop()
}

// pushOne sends an alert, or ten at once, and returns the events that were accepted; none when there was no reply.
func pushOne(ctx context.Context, url, key string, many bool) (ids []string) {
	alert := map[string]any{"title_rule": "Trouble", "event_status": []string{"Critical", "Ok"}[len(key)%2], "alert_key": key}
	var body any = alert
	if many {
		list := make([]any, 10)
		for i := range list {
			list[i] = map[string]any{"title_rule": "Trouble", "event_status": "Critical", "alert_key": fmt.Sprint(key, "/", i)}
		}
		body = list
	}
	text, _ := json.Marshal(body)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/event/push/alert/standard?integration_key=00112233445566778899aabbccddeeff131", bytes.NewReader(text))
	if err != nil {
		return nil
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil
	}
	defer answer.Body.Close()
	var reply struct {
		Data struct {
			Events []struct {
				EventID string `json:"event_id"`
			} `json:"events"`
		} `json:"data"`
	}
	if answer.StatusCode != http.StatusOK || json.NewDecoder(answer.Body).Decode(&reply) != nil {
		return nil
	}
	for _, e := range reply.Data.Events {
		ids = append(ids, e.EventID)
	}
	return ids
}
