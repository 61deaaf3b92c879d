package webhook

import (
	"slices"
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/console/page"
	webhooks "tocsin/internal/engine/webhook"
)

// maxReplayedHooks is how many webhooks one replay takes.
const maxReplayedHooks = 50

// replayFailed counts the messages that failed for good in the days of the page, or sends again what was counted. Webhooks that are
// disabled, or whose replay goes on, are left out.
func replayFailed(v *page.Visit) (string, error) {
	w := replayWindow{From: v.Number("from"), To: v.Number("to"), Status: "failed"}
	if w.To == 0 {
		w.To = v.Now.UnixMilli()
		w.From = w.To - min(max(v.Number("days"), 1), 30)*86_400_000
	}
	hooks, err := replayable(v)
	if err != nil || len(hooks) == 0 {
		v.Made = &w
		return "", err
	}
	request := w.request(0)
	request.IntegrationIDs = hooks
	count, err := strconv.ParseInt(v.Field("count"), 10, 64)
	if err == nil {
		request.Count = &count
		return "/deliveries?done=replay", page.Do[webhooks.ReplayStarted](v, "/webhook/replay", request)
	}
	request.DryRun = page.DryRun
	reply, err := page.Call[webhooks.ReplayStarted](v, "/webhook/replay", request)
	w.Count = reply.Count
	v.Made = &w
	return "", err
}

// replayable returns the webhooks that can send again now.
func replayable(v *page.Visit) (ids []int64, err error) {
	hooks, err := readWebhooks(v)
	if err != nil {
		return nil, err
	}
	replays, err := page.Call[api.Items[webhooks.Replay]](v, "/webhook/replay/list", webhooks.ReplayListRequest{})
	if err != nil {
		return nil, err
	}
	chosen := v.Number("hook")
	for _, h := range hooks {
		runs := slices.ContainsFunc(replays.Items, func(r webhooks.Replay) bool {
			return r.IntegrationID == h.IntegrationID && r.Status == "running"
		})
		if h.Status == "enabled" && !runs && (chosen == 0 || chosen == h.IntegrationID) && len(ids) < maxReplayedHooks {
			ids = append(ids, h.IntegrationID)
		}
	}
	return ids, nil
}
