package escalation

import (
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/channel"
	"tocsin/internal/core/escalationplan"
	"tocsin/internal/core/event"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/notify"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
)

// followUp is what the responders of an open incident are still to be notified of while no step of an escalation is left
// for it: because it is acknowledged, its escalation has ended, or persons were assigned by hand. All times are Unix
// seconds.
type followUp struct {
	account  int64
	incident string
	next     int64  // when to check again; 0: not before the incident changes
	severity string // the highest that the responders know of
	since    int64  // when it was acknowledged or assigned, or its escalation ended
	reminded int64  // when the last reminder was sent; since, if none was
	fallback int64  // when the fallback is notified that no person has acknowledged; 0: it is not, or was
	question string // the open question: byReminder or bySnooze; empty: none
	asked    int64  // when the question was asked; 0: still to be asked
	again    int64  // no reminder before this time, as a person asked; escalationplan.Never: none at all
	joined   int64  // when alerts that joined are notified; 0: none joined
	alerts   int64  // of the incident at the last message
	failed   int64  // since when it fails and is retried; 0: it does not
}

const followColumns = `account_id, incident_id, next_at, severity, since, reminded_at, joined_at, alerts, failed_at, fallback_at,
	question, asked_at, again_at`

var following = db.Columns(followColumns)

func scanFollowUp(scan db.Scan) (f followUp, err error) {
	return f, scan(&f.account, &f.incident, &f.next, &f.severity, &f.since, &f.reminded, &f.joined, &f.alerts, &f.failed, &f.fallback,
		&f.question, &f.asked, &f.again)
}

func findFollowUp(tx *db.Tx, account int64, incident string) (followUp, bool, error) {
	return db.One(tx, scanFollowUp, `SELECT `+followColumns+` FROM follow_up WHERE account_id = $1 AND incident_id = $2`, account, incident)
}

// save stores the follow-up.
func (f *followUp) save(tx *db.Tx) error { return tx.Update(2, f.row()) }

// row returns the values of the columns. The first two are the key.
func (f *followUp) row() db.Rows {
	return db.Rows{Table: "follow_up", Columns: following, Values: [][]any{
		{f.account, f.incident, f.next, f.severity, f.since, f.reminded, f.joined, f.alerts, f.failed, f.fallback, f.question, f.asked, f.again},
	}}
}

// forget deletes the follow-ups of incidents.
func forget(tx *db.Tx, account int64, incidents ...string) error {
	return tx.Do(`DELETE FROM follow_up WHERE account_id = $1 AND incident_id IN (SELECT value FROM json_each($2))`,
		account, db.JSON(incidents))
}

// follow follows an incident up from now on. severity is the highest that its responders know of; fallback is when the
// fallback is notified unless a person acknowledges the incident before, Unix seconds, or 0. A message about joined alerts
// that waits stays.
func (r *Service) follow(tx *db.Tx, i *incident.Incident, severity string, fallback int64, now time.Time) error {
	ch, _, err := channel.Find(tx, i.AccountID, i.ChannelID)
	if err != nil {
		return err
	}
	f := followUp{account: i.AccountID, incident: i.IncidentID, severity: severity, since: now.Unix(),
		reminded: now.Unix(), alerts: i.AlertCnt, fallback: fallback}
	plan := f.plan(i, ch, escalationplan.Await{})
	f.next = plan.Due(now.Unix())
	if f.next == now.Unix() {
		r.wakeFor(tx, i.AccountID)
	}
	return tx.Upsert(2, f.row(), `severity = excluded.severity, since = excluded.since, reminded_at = excluded.reminded_at,
		fallback_at = excluded.fallback_at, failed_at = 0, question = '', asked_at = 0, again_at = 0,
		alerts = CASE WHEN follow_up.joined_at > 0 THEN follow_up.alerts ELSE excluded.alerts END,
		next_at = CASE WHEN follow_up.joined_at > 0 AND (excluded.next_at = 0 OR excluded.next_at > follow_up.joined_at)
			THEN follow_up.joined_at ELSE excluded.next_at END`)
}

// followRise makes the follow-up of an incident due because its severity rose. An incident of an older version may have
// none.
func (r *Service) followRise(tx *db.Tx, i *incident.Incident, from string, now time.Time) error {
	changed, err := tx.Exec(`UPDATE follow_up SET next_at = $3 WHERE account_id = $1 AND incident_id = $2`,
		i.AccountID, i.IncidentID, now.Unix())
	if err != nil || changed > 0 {
		return err
	}
	return r.follow(tx, i, from, 0, now)
}

// joined schedules the message about alerts that join an acknowledged incident.
func (r *Service) joined(tx *db.Tx, i *incident.Incident, item activity.Item, e activity.Joined) error {
	f, found, err := findFollowUp(tx, item.Account, item.ID)
	if err != nil {
		return err
	}
	if !found {
		if err := r.follow(tx, i, i.Severity, 0, item.At); err != nil {
			return err
		}
		f, _, err = findFollowUp(tx, item.Account, item.ID)
		if err != nil {
			return err
		}
		f.alerts--
	}
	f.joined = e.Until
	if f.next == 0 || f.joined < f.next {
		f.next = f.joined
	}
	return f.save(tx)
}

// acknowledged cancels the notifications that call for any responder, notifies the others, and follows the incident up from then on.
func (r *Service) acknowledged(tx *db.Tx, i *incident.Incident, item activity.Item) error {
	known, err := r.known(tx, i, item)
	if err != nil {
		return err
	}
	if err := r.paused(sentence.New("was_acknowledged"))(tx, i, item); err != nil {
		return err
	}
	if err := r.announce(tx, i, item); err != nil {
		return err
	}
	return r.follow(tx, i, known, 0, item.At)
}

// graceOfRise is for how many seconds after a rise an acknowledgement may be one of the severity before.
const graceOfRise = 60

// known returns the severity that the person who acknowledges an incident knows of. A rise and an acknowledgement may
// cross: if the rise was not notified yet, or came just before and the person was not notified since, it is empty, and
// the responders are notified of the rise.
func (r *Service) known(tx *db.Tx, i *incident.Incident, item activity.Item) (severity string, err error) {
	told := ""
	if e, err := latest(tx, i.AccountID, i.IncidentID); err != nil {
		return "", err
	} else if e != nil {
		told = e.severity
	}
	if f, found, err := findFollowUp(tx, i.AccountID, i.IncidentID); err != nil {
		return "", err
	} else if found && event.Rank(f.severity) > event.Rank(told) {
		told = f.severity
	}
	if told != "" && event.Rank(told) < event.Rank(i.Severity) {
		return told, nil
	}
	if i.RoseAt == 0 || item.At.Unix()-i.RoseAt > graceOfRise {
		return i.Severity, nil
	}
	notifications, err := notify.OfIncident(tx, i.AccountID, i.IncidentID)
	for _, n := range notifications {
		if n.Person == item.Person && n.Status == notify.Sent && n.Settled >= i.RoseAt*1000 {
			return i.Severity, nil
		}
	}
	return "", err
}

// dueFollowUps returns the first n of the follow-ups of an account that are due.
func dueFollowUps(tx *db.Tx, account, now int64, n int) ([]prepared, error) {
	return db.All(tx, func(scan db.Scan) (prepared, error) {
		f, err := scanFollowUp(scan)
		return prepared{account: account, incident: f.incident, due: f.next}, err
	}, `SELECT `+followColumns+` FROM follow_up
		WHERE account_id = $1 AND next_at > 0 AND next_at <= $2 ORDER BY next_at LIMIT $3 + 0`, account, now, n)
}

// advanceFollowUp sends the message of one follow-up that is due, if what was prepared still holds. Otherwise it changes
// nothing, and the follow-up stays due.
func (r *Service) advanceFollowUp(tx *db.Tx, p *prepared, now time.Time) error {
	f, found := batchOf(tx).followUps[p.incident]
	if !found || f.next != p.due { // another process was faster
		return nil
	}
	if p.err != nil {
		return p.err
	}
	if current, err := p.current(tx); err != nil || !current {
		return err
	}
	return r.followUp(tx, f, p, now)
}

// postponeFollowUp schedules the retry of a follow-up that failed.
func (r *Service) postponeFollowUp(tx *db.Tx, p *prepared, failed error, now time.Time) error {
	f, found, err := findFollowUp(tx, p.account, p.incident)
	if err != nil || !found || f.next != p.due {
		return err
	}
	r.Log.Error("a follow-up failed", "incident_id", f.incident, "account_id", f.account, "error", failed)
	f.next = now.Unix() + retryDelay
	if f.failed == 0 {
		f.failed = now.Unix()
	}
	return f.save(tx)
}

// followUp sends the message of a follow-up that is due, and stores when the next one is.
func (r *Service) followUp(tx *db.Tx, f followUp, p *prepared, now time.Time) error {
	i, found, err := find(tx, f.account, f.incident)
	if err != nil {
		return err
	}
	if !found || i.Progress == incident.Closed {
		return forget(tx, f.account, f.incident)
	}
	ch, _, err := channel.Find(tx, f.account, i.ChannelID)
	if err != nil {
		return err
	}
	if f.since == 0 { // it was acknowledged before there were follow-ups
		f.since, f.reminded = now.Unix(), now.Unix()
	}
	await, err := f.await(tx, &i, ch, now)
	if err != nil {
		return err
	}
	if await.Open && await.Until <= now.Unix() && r.held() {
		f.askAgain()
		await = escalationplan.Await{}
	}
	plan := f.plan(&i, ch, await)
	message, next := plan.Next(max(p.silenced, i.SnoozedBefore), now.Unix())
	if message == escalationplan.Withdrawn {
		return r.withdraw(tx, &f, &i, now)
	}
	f.open(message, &plan, now)
	if err := r.sendFollowUp(tx, &f, &i, message, now); err != nil {
		return err
	}
	if message == escalationplan.Rise {
		f.severity = i.Severity
	}
	if message != escalationplan.None {
		f.alerts = i.AlertCnt
	}
	f.next = next
	f.reminded = plan.From
	f.joined = plan.Joined
	f.fallback = plan.Fallback
	f.failed = 0
	return f.save(tx)
}

// plan returns the follow-up of an incident in a channel. await is the question that awaits an answer.
func (f *followUp) plan(i *incident.Incident, ch channel.Channel, await escalationplan.Await) escalationplan.FollowUp {
	acknowledged := i.Progress == incident.Processing
	plan := escalationplan.FollowUp{
		Rose: event.Rank(i.Severity) > event.Rank(f.severity) && (acknowledged || assignedByHand(i)),
		From: f.reminded, Every: ch.ReminderInterval(i.Severity, acknowledged), Joined: f.joined, Fresh: i.AlertCnt > f.alerts,
	}
	if !acknowledged {
		plan.Fallback = f.fallback
		return plan
	}
	plan.Again, plan.Await = f.again, await
	plan.Woke = f.question == bySnooze && f.asked == 0
	plan.Asks, _ = ch.Withdrawal(i.Severity)
	return plan
}
