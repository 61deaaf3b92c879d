package warroom

import (
	"cmp"
	"context"

	"tocsin/internal/api"
	"tocsin/internal/core/sentence"
	"tocsin/internal/sender"
)

// Detail is the reply to /incident/war-room/detail: {} when the group no longer exists.
type Detail struct {
	ChatID    string  `json:"chat_id,omitzero" doc:"The group at the service; absent, with all other members, when it no longer exists."`
	ChatName  string  `json:"chat_name,omitzero" doc:"Its name."`
	ShareLink *string `json:"share_link,omitzero" doc:"Where to join it; empty where the service has no link."`
	api.Warnings
}

// readGroup reads the group from the service. When the service does not answer it returns the stored group with a warning.
func (r *Service) readGroup(c *api.Call, in ChatRequest) (d Detail, err error) {
	var w Record
	var app sender.App
	var why string
	err = c.Read(func() (err error) {
		w, _, err = in.permit(c)
		if err == nil {
			app, why, err = r.currentApp(c, &w)
		}
		return err
	})
	if err != nil {
		return d, err
	}
	d = Detail{ChatID: w.ChatID, ChatName: w.ChatName, ShareLink: &w.ShareLink}
	if app == nil {
		return d.asStored(why), nil
	}
	ctx, cancel := context.WithTimeout(c.Ctx, timeout)
	defer cancel()
	group, found, err := app.FindGroup(ctx, r.Out, w.ChatID)
	switch {
	case err != nil:
		return d.asStored(w.PluginType + ": " + publicMessage(err)), nil
	case !found:
		return Detail{}, nil
	}
	link := cmp.Or(group.Link, w.ShareLink)
	return Detail{ChatID: w.ChatID, ChatName: cmp.Or(group.Name, w.ChatName), ShareLink: &link}, nil
}

// asStored adds the warning that the group is shown as it was stored.
func (d Detail) asStored(why string) Detail {
	d.Warnings.Warnings = []sentence.Words{sentence.Words(sentence.Raw("this is the group as it was when it was opened: " + why))}
	return d
}

func detail(_ *api.Call, d Detail) (Detail, error) { return d, nil }
