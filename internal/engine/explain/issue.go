package explain

import (
	"sync"

	"tocsin/internal/alert"
	"tocsin/internal/core/rumerror"
	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/fault"
	"tocsin/internal/rum"
)

// noise are the sentences about issues that open no alert, by the reason that is stored with them.
var noise = sync.OnceValue(func() map[string]sentence.Value {
	return map[string]sentence.Value{
		rumerror.NoiseLoop: sentence.New("issue_loop"), rumerror.NoiseScript: sentence.New("issue_script"),
		rumerror.NoiseExtension: sentence.New("issue_extension"),
	}
})

// ofIssue reads the verdicts on the alerts of an issue in its application's channels, or states why it has none.
func (x *Explanation) ofIssue(id string) error {
	issue, err := rum.ReadableIssue(x.c.Tx, x.c.Who, id)
	if err != nil {
		return err
	}
	application, found, err := rum.FindApplication(x.c.Tx, x.c.Who.AccountID, issue.ApplicationID)
	if err != nil {
		return err
	}
	for _, channel := range application.Alerting.ChannelIDs {
		a, known, err := alert.Latest(x.c.Tx, x.c.Who.AccountID, channel, issue.IssueID)
		if err != nil {
			return err
		}
		if !known {
			continue
		}
		if err := readable(x.c, channel, 0); fault.KindOf(err) == fault.AccessDenied {
			continue
		} else if err != nil {
			return err
		}
		all, err := lastOfAlert(x.c, a.ID)
		if err != nil {
			return err
		}
		x.Verdicts = append(x.Verdicts, all...)
		if len(all) > 0 {
			if err := x.present(a.ID); err != nil {
				return err
			}
		}
	}
	switch {
	case issue.NoAlert != "":
		x.silent = noise()[issue.NoAlert]
	case len(x.Verdicts) > 0:
		return nil
	case !issue.Open():
		x.silent = sentence.New("issue_closed", issue.Status)
	case !found || !application.Alerting.Enabled:
		x.silent = sentence.New("issue_alerting_off", issue.ApplicationName)
	default:
		x.silent = sentence.New("issue_shares_alert", issue.ApplicationName)
	}
	x.addNow(sentence.New("issue_silent", x.silent))
	return nil
}
