package monitor

import (
	"crypto/hpke"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/api"
	"tocsin/internal/edge"
	"tocsin/internal/engine/evaluator/remote"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/moved"
)

// edgeCall answers a call of an edge with a key.
type edgeCall func(c *api.Call, key edge.Key, body []byte) (any, error)

// Edges returns the endpoints that edges call, by path.
func (r *Service) Edges() map[string]api.Endpoint {
	calls := map[string]edgeCall{
		remote.PathJoin: r.edgeJoin, remote.PathSync: ofMember(r, r.edgeSync), remote.PathWatches: ofMember(r, r.edgeWatches),
		remote.PathState: ofMember(r, r.edgeState), remote.PathSave: ofMember(r, r.edgeSave), remote.PathSend: ofMember(r, r.edgeSend),
		remote.PathRequests: ofMember(r, r.edgeRequests), remote.PathAnswer: ofMember(r, r.edgeAnswer),
	}
	all := map[string]api.Endpoint{}
	for path, call := range calls {
		all[path] = api.Endpoint{
			Path: path, Methods: []string{http.MethodPost}, MaxBody: remote.MaxBytes,
			Do: func(c *api.Call, q *http.Request, header http.Header, body *api.Body) (any, error) {
				key, err := r.edgeKey(c, q, header)
				if err != nil {
					return nil, err
				}
				text, err := body.Read(key.Account, key.KeyID)
				if err != nil {
					return nil, err
				}
				reply, err := call(c, key, text)
				if err != nil {
					return nil, err
				}
				encoded, err := remote.Marshal(reply)
				return jsontext.Value(encoded), err
			},
		}
	}
	return all
}

// edgeKey returns the key of a call. A held server answers no edge: it goes on by itself, as in any other cut. An edge whose
// account was moved is answered where it is served now.
func (r *Service) edgeKey(c *api.Call, q *http.Request, header http.Header) (edge.Key, error) {
	if r.Held != nil && r.Held() != "" {
		return edge.Key{}, fault.New(fault.Unavailable, "the server is held: it evaluates nothing")
	}
	scheme, text, _ := strings.Cut(q.Header.Get("Authorization"), " ")
	text = strings.TrimSpace(text)
	if !strings.EqualFold(scheme, "Bearer") || text == "" {
		return edge.Key{}, fault.New(fault.Unauthorized, "a key of an edge is needed, in the header Authorization: Bearer")
	}
	var key edge.Key
	found := false
	err := r.DB.Read(c.Ctx, func(tx *db.Tx) (err error) {
		key, found, err = edge.FindKey(tx, text)
		if err != nil || found {
			return err
		}
		address, gone, err := moved.AddressOf(tx, text)
		if err == nil && gone {
			header.Set(remote.HeaderMoved, address)
			err = moved.ByKey(tx, text)
		}
		return err
	})
	if err != nil || found {
		c.Ctx = db.For(c.Ctx, key.Account)
		return key, err
	}
	if err := r.Guesses.Guessed(c); err != nil {
		return key, err
	}
	return key, fault.New(fault.Unauthorized, "the key of the edge is unknown or disabled")
}

// errBody is the error of a body that is none of the call.
func errBody(err error) error {
	return fault.New(fault.BadRequest, "the body cannot be read: %.200s", err)
}

// ofMember returns a call with the member that sends it: the process that joined last as this edge.
func ofMember[In any, P interface {
	*In
	Self() remote.Member
}](r *Service, do func(*api.Call, *sender, *In) (any, error)) edgeCall {
	return func(c *api.Call, key edge.Key, body []byte) (any, error) {
		in := new(In)
		if err := remote.Unmarshal(body, in); err != nil {
			return nil, errBody(err)
		}
		self := P(in).Self()
		from := &sender{
			group:  group{key.Account, key.ClusterName},
			Member: edge.Member{Account: key.Account, Cluster: key.ClusterName, ID: self.EdgeID, Run: self.Run},
		}
		if err := r.DB.Read(c.Ctx, from.present); err != nil {
			return nil, err
		}
		return do(c, from, in)
	}
}

// Bounds of what a member reports of itself.
const (
	maxEdgeName = 255
	maxVersion  = 64
	maxTypes    = 20
	maxSecrets  = 64 << 10
)

var runs = regexp.MustCompile(`^[0-9A-Za-z_-]{1,64}$`)

func (r *Service) edgeJoin(c *api.Call, key edge.Key, body []byte) (any, error) {
	var in remote.JoinRequest
	if err := remote.Unmarshal(body, &in); err != nil {
		return nil, errBody(err)
	}
	if err := checkJoin(&in); err != nil {
		return nil, err
	}
	m := edge.Member{
		Account: key.Account, Cluster: key.ClusterName, ID: remote.EdgeID(in.PublicKey), Run: in.Run, Started: c.Now, Seen: c.Now,
		Details: edge.Details{PublicKey: in.PublicKey, SecretEnv: in.SecretEnv, Shown: edge.Shown{
			Name: in.Name, Address: c.IP, Version: in.Version, Types: in.Types, OffsetMS: in.At - c.Now.UnixMilli(),
		}},
	}
	err := r.DB.WriteOf(c.Ctx, key.Account, func(tx *db.Tx) error {
		if err := edge.Join(tx, m, c.Now); err != nil {
			return err
		}
		return edge.UsedKey(tx, key, c.Now.UnixMilli())
	})
	return remote.JoinReply{EdgeID: m.ID, Account: key.Account, Cluster: key.ClusterName, Now: r.Clock.Now().UnixMilli()}, err
}

// checkJoin checks what a member reports of itself.
func checkJoin(in *remote.JoinRequest) error {
	long := func(text string, most int) bool {
		return len(text) > most || strings.ContainsFunc(text, unicode.IsControl)
	}
	switch {
	case in.Name == "" || long(in.Name, maxEdgeName):
		return fault.Invalid("name", "must be 1 to %d bytes without control characters", maxEdgeName)
	case long(in.Version, maxVersion):
		return fault.Invalid("version", "must be at most %d bytes without control characters", maxVersion)
	case len(in.Types) > maxTypes || slices.ContainsFunc(in.Types, func(t string) bool { return long(t, maxVersion) }):
		return fault.Invalid("types", "must be at most %d names of at most %d bytes", maxTypes, maxVersion)
	case len(fmt.Sprint(in.SecretEnv)) > maxSecrets:
		return fault.Invalid("secret_env", "must be at most %d bytes", maxSecrets)
	case !runs.MatchString(in.Run):
		return fault.Invalid("run", "must be 1 to 64 letters and digits")
	}
	if _, err := hpke.MLKEM768X25519().NewPublicKey(in.PublicKey); err != nil {
		return fault.Invalid("public_key", "must be a public key of MLKEM768-X25519")
	}
	return nil
}
