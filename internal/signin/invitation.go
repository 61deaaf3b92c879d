package signin

import (
	"context"
	"errors"
	"strings"
	"time"

	"tocsin/internal/core/render"
	"tocsin/internal/credential"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/id"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/sender"
)

// mails reports whether the server can send links.
func (s *Service) mails() bool { return s.Mail != nil && s.PublicURL != "" }

// maxAttempts is how often a mail is tried. The tries take two days, so that the link of the last one is of use too.
const maxAttempts = 12

var pause = jobs.Backoff{Min: time.Minute, Max: 6 * time.Hour}

// invite sends the invitation that has waited longest, of an account that may send one more in this minute. Each attempt
// has a link of its own, so that no token is stored that could be read again.
func (s *Service) invite(ctx context.Context, now time.Time) (again time.Time, err error) {
	if s.Held() != "" {
		return time.Time{}, nil
	}
	var i credential.Invitation
	var to string
	var m sender.Message
	found := false
	err = s.DB.Read(ctx, func(tx *db.Tx) (err error) {
		i, found, err = credential.DueInvitation(tx, now)
		return err
	})
	if err != nil || !found {
		return time.Time{}, err
	}
	if v := s.mailed.Allow(i.AccountID, s.MailRate, now); !v.OK { // all of the account wait, and no others
		next := now.Add(v.RetryAfter + time.Second)
		return now, s.DB.WriteOf(ctx, i.AccountID, func(tx *db.Tx) error { return credential.PostponeInvitations(tx, i.AccountID, now, next) })
	}
	waits := i
	err = s.DB.WriteOf(ctx, i.AccountID, func(tx *db.Tx) (err error) {
		i, found, err = credential.DueInvitation(tx, now)
		if err != nil || !found || i != waits { // another process was faster
			return err
		}
		p, known, err := person.Find(tx, i.AccountID, i.PersonID)
		if err != nil {
			return err
		}
		may, err := mayMail(tx, i, p)
		if err != nil {
			return err
		}
		if !known || !may || p.Status == "deleted" || p.Email == "" || !s.mails() || i.Attempt >= maxAttempts {
			return credential.EndInvitation(tx, i.AccountID, i.PersonID)
		}
		a, _, err := person.DumpAccount(tx, i.AccountID)
		if err != nil {
			return err
		}
		token, err := credential.NewLink(tx, credential.Link{
			AccountID: i.AccountID, PersonID: i.PersonID, Kind: i.Kind, MakerID: i.MakerID, MailedTo: p.Email,
			EndsAt: now.Add(credential.LinkLasts).Unix(),
		}, now)
		if err != nil {
			return err
		}
		to, m = p.Email, letter(p, i.Kind, a.AccountName, s.PublicURL+credential.LinkPath(token), now)
		return credential.DelayInvitation(tx, i, now.Add(pause.Wait(time.Minute<<i.Attempt, 0.5)))
	})
	if err != nil || !found {
		return time.Time{}, err
	}
	if to == "" {
		return now, nil
	}
	return now, s.mail(ctx, i, to, m)
}

// mayMail reports whether a mail may be sent: one with a link that sets a password only while who asked for it may make one.
func mayMail(tx *db.Tx, i credential.Invitation, p person.Record) (bool, error) {
	if i.Kind != credential.LinkPassword {
		return true, nil
	}
	return stillLetsIn(tx, i.MakerID, i.AccountID, p)
}

// mail sends an invitation. One that the mail server will never take ends; another attempt follows others by itself.
func (s *Service) mail(ctx context.Context, i credential.Invitation, to string, m sender.Message) error {
	err := s.Mail(ctx, to, m)
	var failure *sender.Error
	if err != nil {
		s.Log.Warn("an invitation was not sent", "account", i.AccountID, "person", i.PersonID, "error", err)
		if !errors.As(err, &failure) || failure.Retry {
			return nil
		}
	}
	return s.DB.WriteOf(context.WithoutCancel(ctx), i.AccountID, func(tx *db.Tx) error {
		return credential.EndInvitation(tx, i.AccountID, i.PersonID)
	})
}

// letter returns the mail with a link, in the person's language.
func letter(p person.Record, kind, account, link string, now time.Time) sender.Message {
	subject, ask := "Set your password for Tocsin: ", "open this link to set a password and sign in. It works once, for three days:"
	if kind == credential.LinkEmail {
		subject, ask = "Prove your e-mail address for Tocsin: ", "open this link in the browser in which you are signed in, to prove that this "+
			"address is yours. It works once, for three days:"
	}
	lines := []string{"Hello " + p.PersonName + ",", ask, link, "If you did not expect this mail, do nothing."}
	if strings.HasPrefix(p.Locale, "zh") {
		subject, ask = "设置你的 Tocsin 密码：", "请打开以下链接设置密码并登录。链接仅可使用一次，三天内有效："
		if kind == credential.LinkEmail {
			subject, ask = "验证你的 Tocsin 邮箱：", "请在已登录的浏览器中打开以下链接，以证明此邮箱属于你。链接仅可使用一次，三天内有效："
		}
		lines = []string{p.PersonName + "，你好：", ask, link, "如果这不是你预期的邮件，请忽略。"}
	}
	subject += account
	return sender.Message{
		Key: "invitation/" + id.Object(now), Subject: subject, Title: subject, Text: render.Plain.Escape(strings.Join(lines, "\n\n")), Link: link,
	}
}
