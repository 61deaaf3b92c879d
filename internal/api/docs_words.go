package api

import (
	"fmt"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// inWords describes a field's type in words. ref is the structure that the words end with, which the page links to.
func inWords(s *huma.Schema) (words, ref string) {
	switch {
	case s.AnyOf != nil:
		return "null or", s.AnyOf[0].Ref
	case s.OneOf != nil:
		list, ref := inWords(s.OneOf[0])
		one, _ := inWords(s.OneOf[1])
		if ref != "" {
			return one + ", or " + list, ref
		}
		return one + " or " + list, ""
	case s.Ref != "":
		return "", s.Ref
	case s.Type == huma.TypeArray:
		words, ref = inWords(s.Items)
		words = "array of " + words
	case s.Type == huma.TypeObject:
		words = "object"
		if values, ok := s.AdditionalProperties.(*huma.Schema); ok {
			words, ref = inWords(values)
			words = "object of " + words
		}
	case s.Type == huma.TypeInteger:
		words = s.Format
	case s.Type == "":
		words = "any JSON"
	case s.Format == "date-time":
		words = "time (RFC 3339)"
	default:
		words = s.Type
	}
	if s.Nullable {
		words = "null or " + words
	}
	return strings.TrimSpace(words), ref
}

// bounds returns what is checked besides the type, one phrase for each bound.
func bounds(s *huma.Schema) []string {
	list := []string{}
	add := func(words string) {
		if words != "" {
			list = append(list, words)
		}
	}
	if s.OneOf != nil {
		return bounds(s.OneOf[0])
	}
	add(counted(s.MinItems, s.MaxItems, "item"))
	if s.Items != nil {
		for _, b := range bounds(s.Items) {
			add("each " + b)
		}
	}
	add(counted(s.MinLength, s.MaxLength, "character"))
	add(ranged(s))
	switch {
	case s.PatternDescription != "":
		add(s.PatternDescription)
	case s.Pattern != "":
		add("matches " + s.Pattern)
	}
	if len(s.Enum) > 0 {
		values := []string{}
		for _, v := range s.Enum {
			values = append(values, literal(v))
		}
		add("one of " + strings.Join(values, ", "))
	}
	return list
}

func counted(least, most *int, unit string) string {
	plural := func(n int) string {
		if n == 1 {
			return unit
		}
		return unit + "s"
	}
	switch {
	case least != nil && most != nil && *least == *most:
		return fmt.Sprintf("%d %s", *most, plural(*most))
	case least != nil && most != nil:
		return fmt.Sprintf("%d to %d %s", *least, *most, plural(*most))
	case least != nil:
		return fmt.Sprintf("at least %d %s", *least, plural(*least))
	case most != nil:
		return fmt.Sprintf("at most %d %s", *most, plural(*most))
	}
	return ""
}

func ranged(s *huma.Schema) string {
	unsigned := strings.HasPrefix(s.Format, "uint") && s.Minimum != nil && *s.Minimum == 0
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		return literal(*s.Minimum) + " to " + literal(*s.Maximum)
	case s.Minimum != nil && !unsigned: // an unsigned type implies it
		return "at least " + literal(*s.Minimum)
	case s.Maximum != nil:
		return "at most " + literal(*s.Maximum)
	}
	return ""
}
