package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"tocsin/internal/platform/db"
)

// events sends events of new alerts, each of an account by chance, over some connections.
func (c *scaleBed) events(clients, count int, every time.Duration, status string) (figures, error) {
	first := c.sent
	c.sent += count
	return paced(c.node.address, clients, count, every, func(n int) []byte { return c.event(first+n, status) })
}

// event returns the request with an event of an alert. Its account depends on its number.
func (c *scaleBed) event(n int, status string) []byte {
	chance := rand.New(rand.NewPCG(uint64(n), 1))
	account, channel := chance.IntN(c.size), chance.IntN(channelsOfAccount)
	body := strings.Replace(strings.ReplaceAll(eventText, numbered, fmt.Sprintf("%0*d", len(numbered), n)), `"Info"`, strconv.Quote(status), 1)
	return fmt.Appendf(nil, "POST /event/push/alert/standard?integration_key=%s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		scaleSource(account, channel), len(body), body)
}

// recover ends the alerts of the level, so that no incident is open at the next one.
func (c *scaleBed) recover() error {
	first := c.waiting
	if _, err := paced(c.node.address, 8, c.sent-first, 0, func(n int) []byte { return c.event(first+n, "Ok") }); err != nil {
		return err
	}
	return c.finished()
}

// finished waits until the events are decided and what follows from them is done, two minutes at most.
func (c *scaleBed) finished() error {
	d, err := db.Connect(context.Background(), c.dsn)
	if err != nil {
		return err
	}
	defer d.Close()
	for range 1200 {
		left := int64(0)
		if err := d.Read(context.Background(), func(tx *db.Tx) (err error) {
			left, _, err = db.One(tx, db.Column[int64], `SELECT (SELECT count(*) FROM (SELECT 1 FROM event_waiting LIMIT 1) AS e)
				+ (SELECT count(*) FROM (SELECT 1 FROM webhook_event LIMIT 1) AS w)
				+ (SELECT count(*) FROM escalation WHERE next_at > 0 AND next_at <= $1)
				+ (SELECT count(*) FROM notice WHERE settled_at = 0 AND due_at <= $2)`, time.Now().Unix(), time.Now().UnixMilli())
			return err
		}); err != nil || left == 0 {
			time.Sleep(time.Second)
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
	return errors.New("the work does not end")
}

// reads asks who is on call, in an account by chance.
func (c *scaleBed) reads(clients int) (figures, error) {
	return loadEach(c.node.address, func(int) func() []byte {
		return func() []byte {
			account := rand.IntN(c.size)
			return post("/schedule/info", scaleAppKey(account), fmt.Sprintf(`{"schedule_id": %d}`, scaleID(account, ofSchedule)))
		}
	}, clients, *span)
}
