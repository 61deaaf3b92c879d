package channel

import (
	"maps"
	"net/http"
	"slices"
	"strconv"

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

// severityWords is the list of words of the form, with a row for each word.
const severityWords = "severities"

// maxSeverityWords is how many words the form reads, one more than an integration may have, so that the operation refuses too many.
const maxSeverityWords = 101

// severityRows returns the words and what they mean as rows of a form, with one for a new word.
func (i integrationRow) severityRows(v *page.Visit) page.FormField {
	words := i.SeverityMap()
	if v.Request.Method == http.MethodPost {
		words = severitiesOf(v)
	}
	options := []page.Option{{Value: "", Text: v.T("Choose")}, {Value: "Critical", Text: v.T("Critical")},
		{Value: "Warning", Text: v.T("Warning")}, {Value: "Info", Text: v.T("Info")}}
	f := page.FormField{Name: severityWords, Label: v.T("Severities"), Kind: "rows",
		Hint: v.T("A word that it sends, and what it means. They precede the words that Tocsin knows.")}
	for n, word := range append(slices.Sorted(maps.Keys(words)), "") {
		at := severityWords + "." + strconv.Itoa(n) + "."
		f.Rows = append(f.Rows, []page.FormField{
			{Name: at + "word", Label: v.T("Word"), Value: word, Kind: "text"},
			{Name: at + "severity", Label: v.T("Severity"), Value: words[word], Kind: "choice", Options: options},
		})
	}
	return f
}

// severitiesOf reads the words of the form. A word without a severity is kept, so that the operation refuses it by name.
func severitiesOf(v *page.Visit) map[string]string {
	words := map[string]string{}
	for n := range maxSeverityWords {
		at := severityWords + "." + strconv.Itoa(n) + "."
		if !v.Request.PostForm.Has(at + "word") {
			break
		}
		if word := v.Field(at + "word"); word != "" {
			words[word] = v.Field(at + "severity")
		}
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
