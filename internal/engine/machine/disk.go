package machine

import (
	"context"
	"fmt"
	"sync"
	"time"

	"tocsin/internal/core/event"
	"tocsin/internal/engine/selfalert"
	"tocsin/internal/platform/jobs"
)

// room is what the disk of the database took at a moment, in bytes.
type room struct {
	at   time.Time
	free int64
}

// The windows over which the use of the disk is measured. What lasted for a window is taken to go on for three times as
// long: a burst of minutes proves nothing about a day.
var diskWindows = []time.Duration{5 * time.Minute, 20 * time.Minute, 80 * time.Minute, 6 * time.Hour, 8 * time.Hour}

const (
	diskEvery   = time.Minute
	diskHorizon = 24 * time.Hour
	diskAhead   = 3        // how many windows are foretold
	diskNone    = 64 << 20 // the free bytes of a disk that counts as full
	diskKept    = 8*time.Hour + 2*diskEvery
)

// fullIn returns after how long the disk will be full, by samples in the order of time. within is false if that is not
// foreseen within a day.
func fullIn(samples []room) (left time.Duration, within bool) {
	if len(samples) == 0 {
		return 0, false
	}
	last := samples[len(samples)-1]
	if last.free < diskNone {
		return 0, true
	}
	left = diskHorizon + 1
	for _, window := range diskWindows {
		if each, known := fullAtRate(samples, last, window); known && each <= min(diskAhead*window, diskHorizon) {
			left = min(left, each)
		}
	}
	return left, left <= diskHorizon
}

// fullAtRate returns after how long the disk is full if its use goes on as in a window. known is false if the disk was not
// used up throughout the window, or the samples do not reach back.
func fullAtRate(samples []room, last room, window time.Duration) (left time.Duration, known bool) {
	const parts = 3
	first, known := roomAt(samples, last.at.Add(-window))
	if !known || first.free <= last.free {
		return 0, false
	}
	used, before := first.free-last.free, first
	for n := 1; n <= parts; n++ {
		next, _ := roomAt(samples, last.at.Add(-window*time.Duration(parts-n)/parts))
		if before.free-next.free < used/(2*parts) {
			return 0, false // it came at once, not steadily
		}
		before = next
	}
	return time.Duration(float64(last.free) / float64(used) * float64(last.at.Sub(first.at))), true
}

// roomAt returns the last sample that is not after a moment.
func roomAt(samples []room, at time.Time) (r room, found bool) {
	for n := len(samples) - 1; n >= 0; n-- {
		if !samples[n].at.After(at) {
			return samples[n], true
		}
	}
	return room{}, false
}

// disk follows how much the disk of the database takes.
type disk struct {
	alert    selfalert.Condition
	severity int // of the alert, see event.Rank; 0: it is not raised

	mu      sync.Mutex
	samples []room
}

// Free returns how many bytes the database may still grow; -1: not known. Of a database server the operator knows it alone.
func (s *Service) Free(ctx context.Context) int64 {
	if s.Measured != nil {
		return s.Measured()
	}
	if free := s.DB.Free(); free >= 0 || s.MaxBytes == 0 {
		return free
	}
	size, _, err := s.DB.Size(ctx)
	if err != nil {
		return -1
	}
	return max(0, s.MaxBytes-size)
}

// add adds a sample and forgets old ones.
func (d *disk) add(now time.Time, free int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := len(d.samples); n > 0 && now.Before(d.samples[n-1].at) {
		d.samples = nil // the clock was set back
	}
	d.samples = append(d.samples, room{now, free})
	for len(d.samples) > 1 && now.Sub(d.samples[0].at) > diskKept {
		d.samples = d.samples[1:]
	}
}

// fullIn returns after how long the disk will be full.
func (d *disk) fullIn() (left time.Duration, within bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return fullIn(d.samples)
}

// diskLasts is how long the alert stays open when the disk is used up no more.
const diskLasts = 2 * time.Hour

// diskJob measures the disk every minute, and raises an alert when it will be full within a day.
func (s *Service) diskJob() jobs.Job {
	d := &s.disk
	return jobs.Job{Name: "disk", Interval: diskEvery, Run: func(ctx context.Context, now time.Time) (time.Time, error) {
		free := s.Free(ctx)
		if free < 0 {
			return time.Time{}, nil
		}
		d.add(now, free)
		left, within := d.fullIn()
		of := s.Host
		if s.MaxBytes > 0 {
			of = "PostgreSQL" // of all nodes
		}
		alert := selfalert.Alert{
			Key: "disk/" + of, Severity: event.Warning, Lasts: diskLasts,
			Title: "The disk of " + of + " will be full within a day",
			Text: fmt.Sprintf("%d MiB are free, and at the present rate they are used up in %s. A full disk refuses events and pages no one. "+
				"See docs/operating.md, The disk.", free>>20, left.Round(time.Minute)),
		}
		if left <= time.Hour {
			alert.Severity = event.Critical
		}
		if event.Rank(alert.Severity) > d.severity {
			d.alert.Again()
		}
		d.severity = 0
		if within {
			d.severity = event.Rank(alert.Severity)
		}
		return time.Time{}, s.Alerts.Keep(ctx, &d.alert, alert, within, false, now)
	}}
}

// problem describes a disk that will be full; empty: it will not.
func (d *disk) problem() string {
	left, within := d.fullIn()
	if !within {
		return ""
	}
	return fmt.Sprintf("the disk will be full in %s at the present rate", left.Round(time.Minute))
}

// fullAt returns when the disk will be full, in Unix seconds; 0: not within a day.
func (d *disk) fullAt() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	left, within := fullIn(d.samples)
	if !within {
		return 0
	}
	return d.samples[len(d.samples)-1].at.Add(left).Unix()
}
