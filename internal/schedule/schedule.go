package schedule

import "tocsin/internal/core/sentence"

// Stamps are the identity of a schedule or a layer, and who created and changed it when. A layer has those of its
// schedule; in a preview all are 0.
type Stamps struct {
	AccountID  int64 `json:"account_id" doc:"Owning account."`
	ScheduleID int64 `json:"schedule_id" doc:"Identifier of the schedule."`
	CreateAt   int64 `json:"create_at" doc:"When it was created, Unix seconds."`
	CreateBy   int64 `json:"create_by" doc:"The person who created it."`
	UpdateAt   int64 `json:"update_at" doc:"When it was last changed, Unix seconds."`
	UpdateBy   int64 `json:"update_by" doc:"The person who last changed it."`
}

// Schedule is a schedule as the operations show it (specification 2.2). Members that an operation does not show are null.
type Schedule struct {
	Stamps
	ID             *int64           `json:"id" doc:"The same as schedule_id; null in a preview."`
	Name           *string          `json:"name" doc:"The same as schedule_name."`
	ScheduleName   *string          `json:"schedule_name" doc:"Name of the schedule; null in a preview."`
	Description    *string          `json:"description" doc:"Description; null in a preview."`
	GroupID        *int64           `json:"group_id" doc:"The same as team_id."`
	TeamID         *int64           `json:"team_id" doc:"Owning team, 0 when there is none; null in a preview."`
	Revision       int64            `json:"revision,omitzero" doc:"1 when it was created, more with every change of it or its overrides; absent in a preview."`
	Disabled       *int64           `json:"disabled" doc:"The same as status."`
	Status         *int64           `json:"status" doc:"0 enabled, 1 disabled: it is computed as usual and no person is paged from it; null in a preview."`
	TimeZone       string           `json:"time_zone,omitzero" doc:"IANA zone of layers that have none of their own; absent: the account's."`
	WhenAbsent     string           `json:"when_absent" enum:"next,gap" doc:"What rotations do when everyone of a group is absent: next: the next group that has a person present takes the time; gap: no one is on call."`
	SelfService    bool             `json:"self_service" doc:"Whether persons of the schedule may take shifts of others, hand over their own and ask for cover."`
	Layers         *[]Layer         `json:"layers" nullable:"true" doc:"What is configured, in the order sent; null when not requested."`
	ScheduleLayers *[]ComputedLayer `json:"schedule_layers" nullable:"true" doc:"Who is on call by each layer alone, rotations first and overrides after them; null when no window was requested."`
	LayerSchedules *[]ComputedLayer `json:"layer_schedules" nullable:"true" doc:"The same as schedule_layers; null in a preview."`
	FinalSchedule  ComputedLayer    `json:"final_schedule" doc:"Who is on call once layers and overrides are combined; its names are empty."`
	Start          *int64           `json:"start,omitzero" doc:"Start of the window, Unix seconds; in a preview only."`
	End            *int64           `json:"end,omitzero" doc:"End of the window, Unix seconds; in a preview only."`
	Overrides      *[]Override      `json:"overrides,omitzero" doc:"The overrides that overlap the window, oldest first; absent when no window was requested, and in a preview."`
	NextAfter      *int64           `json:"next_after,omitzero" doc:"With page_days: where the next page begins; absent in the last page."`
	Notify         *Notify          `json:"notify" doc:"Who is notified about shifts, and how; null in a preview."`
	CurOncall      *OncallEntry     `json:"cur_oncall" doc:"Who is on call at the time of the call; null when no one is, or when not requested."`
	NextOncall     *OncallEntry     `json:"next_oncall" doc:"Who is on call after that, or next when no one is now; null when no one will be within 400 days, or when not requested."`
	Warnings       []sentence.Words `json:"warnings,omitempty" doc:"What is accepted but probably not meant; absent when there are no warnings."`
}

// Layer is a configured layer as it is shown.
type Layer struct {
	LayerConfig
	Stamps
}

// ComputedLayer is the timeline of one layer, or the final one.
type ComputedLayer struct {
	LayerName string   `json:"layer_name" doc:"Name of the layer; empty for the final timeline."`
	Name      string   `json:"name" doc:"The same as layer_name."`
	Mode      int64    `json:"mode" doc:"Mode of the layer: 0 rotation, 1 override."`
	Schedules *[]Entry `json:"schedules" nullable:"true" doc:"Periods in which someone is on call, in order; null when no window was requested."`
}

// Entry is a period of a timeline in which one group is on call.
type Entry struct {
	Start int64 `json:"start" doc:"First second, Unix seconds."`
	End   int64 `json:"end" doc:"First second after it, Unix seconds."`
	Group Group `json:"group" doc:"Who is on call."`
	Index int   `json:"index" doc:"Position of the group in its layer, from 0."`

	CutStart bool `json:"cut_start,omitzero" doc:"With page_days: it goes on from the page before, which has its beginning; absent: no."`
	CutEnd   bool `json:"cut_end,omitzero" doc:"With page_days: it goes on in the next page; absent: no."`
}

// OncallEntry is a period of the final timeline with its full bounds, not clipped by a window.
type OncallEntry struct {
	Start    int64 `json:"start" doc:"First second, Unix seconds."`
	End      int64 `json:"end" doc:"First second after it, Unix seconds."`
	Group    Group `json:"group" doc:"Who is on call."`
	UpdateAt int64 `json:"update_at" doc:"Always 0."`
	Weight   int64 `json:"weight" doc:"Weight of the layer it comes from."`
	Index    int   `json:"index" doc:"Position of the group in its layer, from 0."`
}
