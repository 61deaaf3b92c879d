package datasource

import (
	"tocsin/internal/api"
	"tocsin/internal/core/evaluate"
	"tocsin/internal/platform/fault"
	"tocsin/internal/querier"
)

type projectsRequest struct {
	ID     uint64 `json:"id" minimum:"1" doc:"A datasource of the type sls."`
	Query  string `json:"query,omitzero" maxLength:"255" doc:"Only projects whose names have this text; empty: all."`
	Offset int64  `json:"offset,omitzero" minimum:"0" maximum:"100000" doc:"How many are left out before the first."`
	Size   int64  `json:"size,omitzero" minimum:"0" maximum:"500" doc:"How many are returned at most; 0: 100."`
}

type storesRequest struct {
	ID      uint64 `json:"id" minimum:"1" doc:"A datasource of the type sls."`
	Project string `json:"project" minLength:"1" maxLength:"255" doc:"The project."`
	Offset  int64  `json:"offset,omitzero" minimum:"0" maximum:"100000" doc:"How many are left out before the first."`
	Size    int64  `json:"size,omitzero" minimum:"0" maximum:"500" doc:"How many are returned at most; 0: 100."`
}

func (r *Service) projects(c *api.Call, in projectsRequest) ([]string, error) {
	return r.listed(c, in.ID, "", in.Query, in.Offset, in.Size)
}

func (r *Service) stores(c *api.Call, in storesRequest) ([]string, error) {
	return r.listed(c, in.ID, in.Project, "", in.Offset, in.Size)
}

// listed calls a datasource for a page of names, without a transaction.
func (r *Service) listed(c *api.Call, id uint64, project, text string, offset, size int64) ([]string, error) {
	to, err := r.tests(c, TestRequest{ID: id})
	if err != nil {
		return nil, err
	}
	if to.Type != "sls" {
		return nil, fault.Invalid("id", "must be that of a datasource of type sls, got one of type %s", to.Type)
	}
	open, failed := r.Open(c.Ctx, c.Who.AccountID, to)
	if failed != nil {
		return nil, unavailable(failed)
	}
	defer open.Close()
	lister, can := open.(querier.Lister)
	if !can {
		return nil, unavailable(querier.Unsupported("projects can be listed by the server alone, not by an edge"))
	}
	if size == 0 {
		size = 100
	}
	names, failed := lister.List(c.Ctx, project, text, offset, size)
	if failed != nil {
		return nil, unavailable(failed)
	}
	return names, nil
}

func unavailable(f *evaluate.Failure) error {
	return fault.New(fault.Unavailable, "the datasource has no answer: %s", f.Message)
}
