package schedule_test

import (
	"math/rand/v2"
	"testing"

	"tocsin/internal/api/apitest"
)

// random makes valid bodies of /schedule/create. Each optional member is present about half the time; a member with two
// names is sent under one or both.
type random struct{ *rand.Rand }

func newRandom(t testing.TB) random {
	const seed = 20260413
	t.Logf("seed %d", seed)
	return random{rand.New(rand.NewPCG(seed, 1))}
}

func (r random) chance() bool { return r.IntN(2) == 0 }

func pick[T any](r random, from ...T) T { return from[r.IntN(len(from))] }

// either sets a member under one of its names or under both.
func (r random) unify(o object, newer, older string, value any) {
	if n := r.IntN(3); n == 0 {
		o[newer] = value
	} else if n == 1 {
		o[older] = value
	} else {
		o[newer], o[older] = value, value
	}
}

func (r random) name() string {
	return pick(r, "Primary", "值班", "Ночь & день", `<"quoted">`, "🔥 fire", "Ⅷ ß İ", " spaced ", "a%b_c\\d")
}

func (r random) body() object {
	o := object{}
	r.unify(o, "schedule_name", "name", r.name())
	if r.chance() {
		o["description"] = r.name()
	}
	if r.chance() {
		r.unify(o, "team_id", "group_id", pick[int64](r, apitest.TeamA, 7, 0))
	}
	if r.chance() {
		r.unify(o, "status", "disabled", r.IntN(2))
	}
	if r.chance() {
		o["time_zone"] = r.zone()
	}
	if r.IntN(5) > 0 {
		layers := []any{}
		for range r.IntN(4) {
			layers = append(layers, r.layer())
		}
		o["layers"] = layers
	}
	if r.chance() {
		o["notify"] = r.notify()
	}
	return o
}

func (r random) zone() string {
	return pick(r, "America/New_York", "Asia/Shanghai", "Australia/Lord_Howe", "UTC")
}

func (r random) layer() object {
	o := object{"groups": r.groups()}
	start := 1775000000 + r.Int64N(2_000_000)
	r.unify(o, "layer_start", "enable_time", start)
	override := r.IntN(4) == 0
	if override {
		o["mode"] = 1
	}
	if override || r.IntN(4) == 0 {
		r.unify(o, "layer_end", "expire_time", start+1+r.Int64N(3_000_000))
	} else if r.chance() {
		o["layer_end"], o["expire_time"] = nil, 0
	}
	r.rotation(o, override)
	if r.chance() {
		r.unify(o, "layer_name", "name", r.name())
	}
	if r.chance() {
		o["hidden"] = r.IntN(2)
	}
	if r.chance() {
		o["weight"] = r.IntN(7) - 3
	}
	if r.chance() {
		o["handoff_time"] = r.IntN(604800)
	}
	if r.chance() {
		o["fair_rotation"] = r.chance()
	}
	if r.chance() {
		o["mask_continuous_enabled"] = r.chance()
	}
	if r.chance() {
		days := []int{}
		for range r.IntN(5) {
			days = append(days, r.IntN(7))
		}
		o["day_mask"] = object{"repeat": days}
	}
	if r.chance() {
		o["time_zone"] = r.zone()
	}
	if r.chance() {
		r.restriction(o)
	}
	return o
}

func (r random) rotation(o object, override bool) {
	seconds := map[string]int{"hour": 3600, "day": 86400, "week": 604800, "month": 2592000}
	unit, value := pick(r, "hour", "day", "week", "month"), 1+r.IntN(30)
	switch r.IntN(3) {
	case 0:
		o["rotation_unit"], o["rotation_value"] = unit, value
	case 1:
		o["rotation_unit"] = unit
		o["rotation_value"] = value
		o["rotation_duration"] = value * seconds[unit]
	case 2:
		if override {
			return
		}
		o["rotation_duration"] = (1 + r.IntN(4)) * pick(r, 604800, 86400, 3600)
	}
}

func (r random) restriction(o object) {
	mode := r.IntN(3)
	o["restrict_mode"] = mode
	most := 604801
	if mode == 1 {
		most = 86401
	}
	if r.chance() {
		o["restrict_start"], o["restrict_end"] = r.IntN(most), r.IntN(most)
	}
	periods := []any{}
	for range r.IntN(3) {
		periods = append(periods, object{"restrict_start": r.IntN(most), "restrict_end": r.IntN(most)})
	}
	o["restrict_periods"] = periods
}

func (r random) groups() []any {
	groups := []any{}
	for i := range 1 + r.IntN(4) {
		g := object{}
		r.unify(g, "group_name", "name", r.name())
		members := []any{}
		for role := range 1 + r.IntN(2) {
			m := object{"person_ids": []int64{pick[int64](r, A, B, Z, 77)}}
			if role > 0 || r.chance() {
				m["role_id"] = role
			}
			if i > 0 && r.IntN(5) == 0 {
				m["person_ids"] = []int64{} // a shift without persons
			}
			members = append(members, m)
		}
		g["members"] = members
		groups = append(groups, g)
	}
	return groups
}

func (r random) notify() object {
	o := object{}
	if r.chance() {
		o["advance_in_time"] = r.IntN(3600)
	}
	if r.chance() {
		o["fixed_time"] = object{"cycle": "day", "start": "08:30"}
	}
	if r.chance() {
		o["by"] = object{"follow_preference": r.chance(), "personal_channels": pick[any](r, nil, []string{}, []string{"email", "feishu_app:5"})}
	}
	if r.chance() {
		hooks := []any{}
		for range r.IntN(3) {
			settings := object{}
			for _, name := range []string{"token", "alias", "verify_token", "sign_secret", "other"} {
				if r.chance() {
					settings[name] = r.name()
				}
			}
			if r.chance() {
				settings[pick(r, "webhook_url", "auth", "apiKey", "mode")] = pick[any](r, "https://h.example.com/x", 12.5, true, nil, "s1.k1.AAAA",
					object{"token": "t", "list": []any{1, nil, true}}, []any{object{"at": "http://y"}, "z"}, object{}, []any{})
			}
			if r.chance() {
				settings["data_source_id"] = r.Int64N(1 << 53)
			}
			if r.chance() {
				settings["chat_ids"] = []string{r.name()}
			}
			hooks = append(hooks, object{"type": pick(r, "feishu", "zoom", "slack_app"), "settings": settings})
		}
		o["webhooks"] = hooks
	}
	return o
}
