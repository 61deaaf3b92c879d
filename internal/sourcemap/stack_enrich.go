package sourcemap

import (
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/core/stack"
	"tocsin/internal/core/symbols"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fair"
	"tocsin/internal/platform/fault"
)

// maxRead is how much of maps one call reads, in bytes. Stacks that need more are those of no real application.
const maxRead = 2 * symbols.MaxSize

// near is how many lines of code are returned before and after a frame unless the caller states it.
const near = 5

// EnrichRequest asks for a stack in original code.
type EnrichRequest struct {
	Type    string        `json:"type" enum:"browser,android,ios,react native,flutter" doc:"The kind of application. Only stacks of browser are converted."`
	Service string        `json:"service" minLength:"1" maxLength:"255" doc:"The service whose error it is."`
	Version string        `json:"version,omitzero" maxLength:"255" doc:"The application's version; absent or empty: that of the newest map."`
	Stack   string        `json:"stack,omitzero" maxLength:"262144" doc:"The stack as the browser or the SDK wrote it. Required unless frames are sent."`
	Frames  []stack.Frame `json:"frames,omitzero" maxItems:"100" doc:"The frames of the stack, the innermost call first, in place of its text."`
	Near    int64         `json:"near,omitzero" minimum:"1" maximum:"20" doc:"How many lines of code before and after each frame that are not blank; absent: 5."`
	URL     string        `json:"url,omitzero" maxLength:"8192" doc:"The address of the page. Frames of other origins without a map then count as third party."`
	BuildID string        `json:"build_id,omitzero" maxLength:"255" doc:"Not used: of type android."`
	Variant string        `json:"Variant,omitzero" maxLength:"255" doc:"Not used: of type android."`
}

// Check returns a fault if there is no stack, or if there are two.
func (in EnrichRequest) Check() error {
	switch {
	case in.Stack == "" && in.Frames == nil:
		return fault.Invalid("stack", "is required, or frames in its place")
	case in.Stack != "" && in.Frames != nil:
		return fault.Invalid("frames", "must not be given together with stack")
	}
	return nil
}

// Enriched is the reply of /sourcemap/stack/enrich.
type Enriched struct {
	Frames  []Frame  `json:"frames" doc:"The frames, the innermost call first."`
	Missing []string `json:"missing_files" doc:"The files of the application in the stack that no map is stored of."`
}

// Frame is a frame of a stack, in original code if it is converted.
type Frame struct {
	File       string             `json:"file" doc:"The file: its path in the project if converted, else its address."`
	Line       int                `json:"line" doc:"The line, from 1; 0: not known."`
	Column     int                `json:"column" doc:"The column: from 0 if converted, as source maps count, else from 1, as stacks do."`
	Function   string             `json:"function" doc:"The function; empty if it has no name."`
	Converted  bool               `json:"converted" doc:"A map has its place."`
	ThirdParty bool               `json:"third_party" doc:"It is not code of the application itself."`
	Snippets   []symbols.CodeLine `json:"code_snippets,omitempty" doc:"The code around the line, if the map has it."`
	Minified   *stack.Frame       `json:"minified,omitempty" doc:"The frame as it was in the stack, if converted."`
}

// enrich answers /sourcemap/stack/enrich. Large maps are read outside of a transaction.
func (s *Service) enrich(c *api.Call, in EnrichRequest) (reply Enriched, err error) {
	frames := in.Frames
	if frames == nil {
		frames = stack.Parse(in.Stack)
	}
	maps := map[string]*symbols.Map{}
	if in.Type == "browser" {
		leave, err := s.seats.Enter(c.Ctx, fair.Of(c.Who.AccountID), 0)
		if err != nil {
			return reply, err
		}
		defer leave()
		maps, err = s.maps(c, in, frames)
		if err != nil {
			return reply, err
		}
	}
	if in.Near == 0 {
		in.Near = near
	}
	all := symbols.Frames(frames, symbols.Options{
		Map: func(file string) *symbols.Map { return maps[file] }, Origin: symbols.Origin(in.URL), Near: int(in.Near),
	})
	reply = Enriched{Frames: make([]Frame, len(all)), Missing: []string{}}
	for i, f := range all {
		reply.Frames[i] = Frame{f.File, f.Line, f.Column, f.Function, f.Converted, f.Library, f.Code, f.Minified}
	}
	for _, f := range without(all) {
		if _, known := maps[f.File]; !known && !slices.Contains(reply.Missing, f.File) {
			reply.Missing = append(reply.Missing, f.File)
		}
	}
	return reply, nil
}

// without returns the frames of the application that a map should have converted. If all frames seem to be of libraries,
// as those of a page whose code is on another host, it is the innermost with an address.
func without(all []symbols.Frame) (list []symbols.Frame) {
	var first *symbols.Frame
	own := false
	for i, f := range all {
		own = own || !f.Library
		if f.Converted || symbols.Origin(f.File) == "" {
			continue
		}
		if !f.Library {
			list = append(list, f)
		} else if first == nil {
			first = &all[i]
		}
	}
	if !own && first != nil {
		list = append(list, *first)
	}
	return list
}

// maps returns the stored maps of the files of a stack, up to maxRead. One that cannot be read is left out, so that the
// frames of the other files are converted all the same; it is in the result as nil, because it is not missing.
func (s *Service) maps(c *api.Call, in EnrichRequest, frames []stack.Frame) (map[string]*symbols.Map, error) {
	maps := map[string]*symbols.Map{}
	read := int64(0)
	asked := map[string]bool{}
	for _, f := range frames {
		if f.Line == 0 || asked[f.File] {
			continue
		}
		asked[f.File] = true
		var stored found
		var known bool
		err := c.Read(func() (err error) {
			stored, known, err = find(c.Tx, c.Who.AccountID, in.Service, in.Version, f.File)
			return err
		})
		if err != nil {
			return nil, err
		}
		if !known {
			continue
		}
		maps[f.File] = nil
		if read += stored.size; read > maxRead {
			continue
		}
		maps[f.File], err = s.read(c, stored.id)
		if err != nil {
			return nil, err
		}
	}
	return maps, nil
}

// read returns a map from the cache or the database; nil: it was replaced meanwhile, or cannot be read.
func (s *Service) read(c *api.Call, id string) (*symbols.Map, error) {
	key := cacheKey{c.Who.AccountID, id}
	if m := s.cache.get(key); m != nil {
		return m, nil
	}
	var text string
	var known bool
	err := c.Read(func() (err error) {
		text, known, err = db.One(c.Tx, db.Column[string], `SELECT text FROM source_map WHERE account_id = $1 AND map_id = $2`,
			c.Who.AccountID, id)
		return err
	})
	if err != nil || !known {
		return nil, err
	}
	plain, err := unpacked(text)
	var m *symbols.Map
	if err == nil {
		m, err = symbols.Parse(plain)
	}
	if err != nil {
		c.Report(err)
		return nil, nil
	}
	s.cache.put(key, m)
	return m, nil
}
