package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v3"
)

// settings is the configuration file: flag names and values.
type settings map[string]any

// yamlFile reads the configuration file. A member that is no flag of any command is refused, because a misspelt
// setting that is silently ignored is noticed only during an incident.
func yamlFile(r io.Reader) (kong.Resolver, error) {
	s := settings{}
	if err := yaml.NewDecoder(r).Decode(&s); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("configuration file: %w", err)
	}
	return s, nil
}

// Validate implements kong.Resolver.
func (s settings) Validate(app *kong.Application) error {
	known := []string{}
	err := kong.Visit(app, func(node kong.Visitable, next kong.Next) error {
		if f, ok := node.(*kong.Flag); ok {
			known = append(known, f.Name)
		}
		return next(nil)
	})
	if err != nil {
		return err
	}
	for name := range s {
		if !slices.Contains(known, name) {
			return fmt.Errorf("configuration file: there is no setting %q", name)
		}
	}
	return nil
}

// Resolve implements kong.Resolver. The flag's environment variable takes precedence over a setting, and the flag
// over both. A list is passed on in the form that the flag has on the command line.
func (s settings) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	for _, name := range flag.Envs {
		if _, set := os.LookupEnv(name); set {
			return nil, nil
		}
	}
	if list, ok := s[flag.Name].([]any); ok {
		items := make([]string, len(list))
		for i, item := range list {
			items[i] = fmt.Sprint(item)
		}
		return strings.Join(items, ","), nil
	}
	if v, ok := s[flag.Name]; ok {
		return fmt.Sprint(v), nil
	}
	return nil, nil
}
