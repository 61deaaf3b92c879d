package render

import (
	"errors"
	"strings"

	"github.com/tidwall/gjson"
)

// labelValues returns the values that a label has in the alerts of an incident.
func (b *budget) labelValues(of any, name string) (LabelValues, error) {
	if err := b.spend(len(name)); err != nil {
		return LabelValues{}, err
	}
	i, ok := of.(Incident)
	if !ok {
		return LabelValues{}, errors.New("the first argument must be the incident: write $ for it")
	}
	if v, found := i.LabelValues[name]; found {
		return v, nil
	}
	if value := i.Labels[name]; value != "" { // a person made it: there is no alert
		return LabelValues{All: []string{OneLine(value)}}, nil
	}
	return LabelValues{}, nil
}

func (b *budget) joinAlertLabels(of any, name, separator string) (string, error) {
	v, err := b.labelValues(of, name)
	if err != nil {
		return "", err
	}
	return b.join(separator, v.All)
}

// imageURL returns the address of an image; empty for the key of an upload, which has none.
func imageURL(src string) string {
	if isLink(src) {
		return src
	}
	return ""
}

// imageAltToURL returns the address of the image of an incident with this description.
func imageAltToURL(of any, alt string) (string, error) {
	i, ok := of.(Incident)
	if !ok {
		return "", errors.New("the first argument must be the incident: write $ for it")
	}
	for _, image := range i.Images {
		if image.Alt == alt && imageURL(image.Src) != "" {
			return image.Src, nil
		}
	}
	return "", nil
}

const maxPath = 256 // bytes of a path of jsonGet

// jsonGet returns the value at a path in a text of JSON, by the rules of gjson; empty when the text is no JSON or has no
// such value. Modifiers and paths that build new JSON are rejected: a short path of these writes gigabytes.
func (b *budget) jsonGet(text, path string) (string, error) {
	if len(path) > maxPath {
		return "", errors.New("the path of jsonGet has more than 256 bytes")
	}
	before := byte('.')
	for i := range len(path) {
		if strings.IndexByte(".|(", before) >= 0 && strings.IndexByte("@!{[", path[i]) >= 0 {
			return "", errors.New("the path of jsonGet must have no modifiers and build no JSON")
		}
		if path[i] != ' ' {
			before = path[i]
		}
	}
	parts := 1 + strings.Count(path, ".") + strings.Count(path, "|") + strings.Count(path, "#")
	if err := b.take(jsonCost * parts * len(text)); err != nil {
		return "", err
	}
	if !gjson.Valid(text) {
		return "", nil
	}
	return b.made(Clean(gjson.Get(text, path).String()))
}
