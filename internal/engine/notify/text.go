package notify

import (
	"context"
	"strings"
	"sync"

	"tocsin/internal/core/render"
	"tocsin/internal/platform/fair"
)

// text renders the account's template for this method, or the preset. A template that fails must not stop a
// notification: the preset is used then. An account renders one template at a time, and few accounts do, so that neither
// memory nor processors are used up by those that take long.
//
// The text of a notification whose last attempt was lost is the preset's, and is rendered while nothing else is: it may be
// what ended the process. So a template or an incident that does cannot end it again and again.
func (r *Service) text(ctx context.Context, n *Notification, lost bool, d *draft) (render.Markup, error) {
	if lost {
		r.alone.Lock()
		defer r.alone.Unlock()
	} else {
		r.alone.RLock()
		defer r.alone.RUnlock()
	}
	kind, to := kindOf(n.Method), target(n)
	if d.template != "" && !lost {
		leave, err := r.rendering.Enter(ctx, fair.Of(n.Account), 0)
		if err != nil {
			return "", err
		}
		text, ok := rendered(d.template, to, d.about)
		leave()
		if ok {
			return text, nil
		}
	}
	if text, ok := rendered(render.Preset[kind], to, d.about); ok {
		return text, nil
	}
	return plain(d.about, to), nil
}

// rendered renders a template; ok is false when it has no source, fails, or results in no text.
func rendered(source string, to *render.Target, about render.Incident) (render.Markup, bool) {
	if source == "" {
		return "", false
	}
	t, err := templates.parsed(templateKey{to, source})
	if err != nil {
		return "", false
	}
	text, err := t.Render(about)
	return text, err == nil && strings.TrimSpace(string(text)) != ""
}

// templateKey identifies a parsed template.
type templateKey struct {
	target *render.Target
	source string
}

// maxParsed is how many bytes of sources the cache holds, of all accounts. A parsed template takes about a hundred times as
// much memory as its source.
const maxParsed = 1 << 20

// templateCache holds parsed templates: the same few texts make thousands of messages.
type templateCache struct {
	mu    sync.Mutex
	ready map[templateKey]*render.Template
	bytes int
}

var templates = templateCache{ready: map[templateKey]*render.Template{}}

// parsed returns a parsed template, from the cache if it is there. It parses without the lock, which others wait for.
func (c *templateCache) parsed(key templateKey) (*render.Template, error) {
	c.mu.Lock()
	t := c.ready[key]
	c.mu.Unlock()
	if t != nil {
		return t, nil
	}
	t, err := render.Parse(key.source, key.target)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ready[key] != nil {
		return t, nil
	}
	if c.bytes += len(key.source); c.bytes > maxParsed { // those in use are parsed again
		clear(c.ready)
		c.bytes = len(key.source)
	}
	c.ready[key] = t
	return t, nil
}
