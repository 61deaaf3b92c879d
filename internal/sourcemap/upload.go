package sourcemap

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"

	"tocsin/internal/api"
	"tocsin/internal/audit"
	"tocsin/internal/auth"
	"tocsin/internal/core/symbols"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fair"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/id"
)

// maxBody is the largest request of an upload, inflated, in bytes: a map, which may have symbols.MaxSize, and what the
// build's program sends beside it.
const maxBody = symbols.MaxSize

// maxParts bounds the parts of a request. The public program sends at most five.
const maxParts = 20

// opUpload names an upload in the audit log.
const opUpload = "sourcemap:write:upload"

// Uploads accepts source maps: POST /sourcemap/upload, as the command line of the public product sends them, with an app
// key in the header DD-API-KEY.
//
// A client token is not enough: it is in every page of the application, so anyone could replace the maps.
func (s *Service) Uploads() api.Endpoint {
	return api.Endpoint{Path: "/sourcemap/upload", Methods: []string{http.MethodPost}, MaxBody: maxBody, Do: s.upload}
}

// upload stores the source map of a request.
func (s *Service) upload(c *api.Call, r *http.Request, header http.Header, body *api.Body) (any, error) {
	if err := s.identify(c, r, header); err != nil {
		return nil, err
	}
	text, err := body.Read(c.Who.AccountID, c.Who.KeyID)
	if err != nil {
		return nil, err
	}
	m, stored, err := s.examined(c, r.Header.Get("Content-Type"), text)
	if err != nil {
		return nil, err
	}
	detail, err := json.Marshal(m.Metadata)
	if err != nil {
		return nil, err
	}
	object := id.Object(c.Now)
	err = s.DB.WriteOf(c.Ctx, c.Who.AccountID, func(tx *db.Tx) error {
		if err := put(tx, c.Who.AccountID, object, m, stored, c.Unix()); err != nil {
			return err
		}
		return audit.Record(tx, api.AuditEntry{
			At: c.Now, AccountID: c.Who.AccountID, PersonID: c.Who.PersonID, PersonName: c.Who.PersonName, RequestID: c.RequestID, IP: c.IP,
			Operation: opUpload, Body: string(detail), Write: true,
			Touched: []fault.Ref{{Kind: "source_map", ID: object, Name: m.Service + " " + m.Version + " " + m.Metadata.MinifiedURL}},
		})
	})
	return api.Empty{}, err
}

// identify finds the caller of an app key and checks that it may upload, within the rate of its account.
func (s *Service) identify(c *api.Call, r *http.Request, header http.Header) error {
	key := keyOf(r)
	if key == "" {
		return fault.New(fault.Unauthorized, "an app key is needed, in the header DD-API-KEY")
	}
	who, err := s.Keys.Find(c.Ctx, key)
	if err != nil {
		if fault.KindOf(err) == fault.Unauthorized {
			if err := s.Guesses.Guessed(c); err != nil {
				return err
			}
		}
		return err
	}
	c.Who = who
	may, counted := who.May(auth.ApplicationsManage), who.AccountID
	if !may { // a key without the permission must not use up the rate of the others
		counted = -who.KeyID
	}
	if v := s.rates.Allow(counted, s.Rate, c.Now); !v.OK {
		return api.Limited(header, v, "uploads of source maps")
	}
	if !may {
		return fault.New(fault.AccessDenied, "needs the permission %s", auth.ApplicationsManage)
	}
	return nil
}

// keyOf returns the key from the header that the public program sends, else from where other operations have it.
func keyOf(r *http.Request) string {
	if key := strings.TrimSpace(r.Header.Get("DD-API-KEY")); key != "" {
		return key
	}
	if key := r.URL.Query().Get("app_key"); key != "" {
		return key
	}
	scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(key)
	}
	return ""
}

// examined returns the map of a form, and its text as it is stored, when it is the account's turn. A map that is of no use is
// refused.
func (s *Service) examined(c *api.Call, contentType string, form []byte) (m Sourcemap, stored string, err error) {
	leave, err := s.Pace.Enter(c.Ctx, fair.Of(c.Who.AccountID), 0)
	if errors.Is(err, fair.ErrFull) {
		return m, "", fault.New(fault.Unavailable, "too many source maps wait to be read")
	}
	if err != nil {
		return m, "", err
	}
	defer leave()
	meta, source, err := parts(contentType, form)
	if err != nil {
		return m, "", err
	}
	m, err = meta.sourcemap()
	if err != nil {
		return m, "", err
	}
	if _, err := symbols.Parse(source); err != nil {
		return m, "", fault.Invalid("source_map", "%s", err.Error())
	}
	m.Size = int64(len(source))
	stored, err = packed(source)
	return m, stored, err
}

// metadata is the part of an upload that identifies the map.
type metadata struct {
	Type             string `json:"type"`
	Service          string `json:"service"`
	Version          string `json:"version"`
	MinifiedURL      string `json:"minified_url"`
	CLIVersion       string `json:"cli_version"`
	ProjectPath      string `json:"project_path"`
	GitRepositoryURL string `json:"git_repository_url"`
	GitCommitSHA     string `json:"git_commit_sha"`
}

// sourcemap checks the metadata and returns the map that it describes.
func (m metadata) sourcemap() (Sourcemap, error) {
	if m.Type != "js_sourcemap" {
		return Sourcemap{}, fault.Invalid("event.type", "must be js_sourcemap, the only type that is supported, got %.60q", m.Type)
	}
	for _, f := range []struct {
		name, value   string
		least, length int
	}{
		{"service", m.Service, 1, 255}, {"version", m.Version, 1, 255}, {"minified_url", m.MinifiedURL, 1, 2048},
		{"cli_version", m.CLIVersion, 0, 255}, {"project_path", m.ProjectPath, 0, 1024},
		{"git_repository_url", m.GitRepositoryURL, 0, 1024}, {"git_commit_sha", m.GitCommitSHA, 0, 255},
	} {
		if n := len(f.value); n < f.least || n > f.length || strings.ContainsAny(f.value, "\r\n\x00") {
			return Sourcemap{}, fault.Invalid("event."+f.name, "must have %d to %d bytes and no line end, got %.60q of %d bytes",
				f.least, f.length, f.value, n)
		}
	}
	return Sourcemap{
		Type: "browser", Service: m.Service, Version: m.Version, GitRepositoryURL: m.GitRepositoryURL, GitCommitSHA: m.GitCommitSHA,
		Metadata: Metadata{MinifiedURL: m.MinifiedURL, CLIVersion: m.CLIVersion, ProjectPath: m.ProjectPath},
	}, nil
}

// parts returns the parts of a form: which map it is, and the map. Others, such as the minified file, are not needed.
func parts(contentType string, body []byte) (m metadata, source []byte, err error) {
	media, params, err := mime.ParseMediaType(contentType)
	if err != nil || media != "multipart/form-data" || params["boundary"] == "" {
		return m, nil, fault.New(fault.InvalidContentType, "must be multipart/form-data with a boundary, got %.60q", contentType)
	}
	seen := map[string]bool{}
	form := multipart.NewReader(bytes.NewReader(body), params["boundary"])
	for range maxParts {
		part, err := form.NextRawPart()
		if err == io.EOF { //nolint:errorlint // one that is wrapped is of a form that was cut
			return m, source, missing(seen)
		}
		if err != nil {
			return m, nil, fault.New(fault.BadRequest, "the form cannot be read")
		}
		name := part.FormName()
		if name != "event" && name != "source_map" {
			continue
		}
		if seen[name] {
			return m, nil, fault.Invalid(name, "must be sent once")
		}
		seen[name] = true
		text, err := io.ReadAll(part)
		if err != nil {
			return m, nil, fault.New(fault.BadRequest, "the part %s cannot be read", name)
		}
		if name == "source_map" {
			source = text
		} else if err := m.decode(text); err != nil {
			return m, nil, err
		}
	}
	return m, nil, fault.New(fault.BadRequest, "the form must have at most %d parts", maxParts)
}

// missing returns a fault if the form lacks a part.
func missing(seen map[string]bool) error {
	for _, name := range []string{"event", "source_map"} {
		if !seen[name] {
			return fault.Invalid(name, "is required, as a part of the form")
		}
	}
	return nil
}

// decode reads the part event: a JSON object, or a JSON text that holds one.
func (m *metadata) decode(text []byte) error {
	var inner string
	if json.Unmarshal(text, &inner) == nil {
		text = []byte(inner)
	}
	if err := json.Unmarshal(text, m); err != nil {
		return fault.Invalid("event", "must be a JSON object of texts, got %s", shown(text))
	}
	return nil
}

func shown(text []byte) string { return fmt.Sprintf("%.60q", text) }
