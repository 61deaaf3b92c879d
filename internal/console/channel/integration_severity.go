package channel

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/console/page"
	integrations "tocsin/internal/integration"
)

// freeWords are the types of sources whose severities are free words, which an integration can map.
var freeWords = []string{"prometheus", "grafana"}

// FreeWords reports whether the integration can map severities.
func (i integrationRow) FreeWords() bool { return slices.Contains(freeWords, i.IntegrationType) }

// SeverityMap returns the words that the integration maps to severities.
func (i integrationRow) SeverityMap() map[string]string {
	if i.Settings == nil {
		return nil
	}
	return i.Settings.SeverityMap
}

// severityLines returns the map as a form shows it: a word=severity on each line.
func (i integrationRow) severityLines() string {
	var b strings.Builder
	words := i.SeverityMap()
	for _, word := range slices.Sorted(maps.Keys(words)) {
		b.WriteString(word + "=" + words[word] + "\n")
	}
	return b.String()
}

// severitiesOf reads a map of severities: a word=severity on each line. The severity stands after the last =, because a word
// may contain =. A word without a severity is kept, so that the operation refuses it by name.
func severitiesOf(text string) map[string]string {
	words := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		word, severity := line, ""
		if at := strings.LastIndex(line, "="); at >= 0 {
			word, severity = strings.TrimSpace(line[:at]), strings.TrimSpace(line[at+1:])
		}
		for _, known := range []string{"Critical", "Warning", "Info"} {
			if strings.EqualFold(severity, known) {
				severity = known
			}
		}
		words[word] = severity
	}
	return words
}

// settingsWith returns the settings of a stored integration with another map of severities. The other settings stay.
func settingsWith(v *page.Visit, words func(map[string]string) map[string]string) (*integrations.Settings, error) {
	i, err := integration(v)
	if err != nil {
		return nil, err
	}
	settings, mapped := page.ValueOf(i.Settings), map[string]string{}
	maps.Copy(mapped, settings.SeverityMap)
	mapped = words(mapped)
	if len(mapped) > 0 || settings.SeverityMap != nil {
		settings.SeverityMap = mapped
	}
	return &settings, nil
}

// mapSeverity maps a word that was unknown to a severity.
func mapSeverity(v *page.Visit) (string, error) {
	id := v.ID()
	settings, err := settingsWith(v, func(words map[string]string) map[string]string {
		words[v.Field("word")] = v.Field("to")
		return words
	})
	if err == nil {
		request := integrations.UpdateRequest{IntegrationID: id, Body: integrations.Body{Settings: settings}}
		err = page.Do[api.Warnings](v, "/integration/update", request)
	}
	return "/integrations/" + strconv.FormatInt(id, 10), err
}
