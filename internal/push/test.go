package push

import (
	"tocsin/internal/api"
)

func (r *Service) test(c *api.Call, in OneRequest) (api.Empty, error) {
	s, err := in.own(c)
	if err != nil {
		return api.Empty{}, err
	}
	return api.Empty{}, r.Test(c.Tx, s, c.Now)
}
