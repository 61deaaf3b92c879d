package browser

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/oauth2-proxy/mockoidc"

	"tocsin/internal/app"
	"tocsin/internal/platform/clock"
	"tocsin/internal/signin"
	"tocsin/test/browser/page"
	"tocsin/test/browser/world"
)

// provider starts an OpenID Connect provider and a program that trusts it. The provider has no clock but the real one.
func provider(t *testing.T) (*mockoidc.MockOIDC, *world.World) {
	t.Helper()
	m, err := mockoidc.NewServer(nil)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Start(listener, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Shutdown() })
	w := world.BeginWith(t, t.TempDir(), func(c *app.Config) {
		c.Clock = clock.At(time.Now().Truncate(time.Second))
		c.OpenID = signin.OpenID{
			Name: "Example", Issuer: m.Issuer(), ClientID: m.ClientID, ClientSecret: m.ClientSecret, Scopes: []string{"email", "profile", "groups"},
			Claim: "groups", Provision: true, Roles: map[string]string{"admins": "Auditor"}, Teams: map[string]string{"engineering": "Engineering"},
		}
	})
	ended(t, w)
	w.Do(t, "/role/upsert", map[string]any{"role_name": "Auditor", "permission_ids": permissionIDs(t, w, "Read")}, nil)
	w.Do(t, "/team/upsert", map[string]any{"team_name": "Engineering", "person_ids": []int64{}}, nil)
	return m, w
}

// permissionIDs returns the ids of the permissions whose name contains a word.
func permissionIDs(t *testing.T, w *world.World, word string) (ids []int64) {
	t.Helper()
	var all struct {
		Items []struct {
			ID   int64  `json:"id"`
			Name string `json:"permission_name"`
		}
	}
	w.Do(t, "/role/permission/list", map[string]any{"with_all": true}, &all)
	for _, p := range all.Items {
		if strings.Contains(p.Name, word) {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

func jane() *mockoidc.MockUser {
	return &mockoidc.MockUser{Subject: "jane-1", Email: "jane@example.com", EmailVerified: true, PreferredUsername: "Jane", Groups: []string{"admins", "engineering"}}
}

// forged is a user whose tokens are of another sign-in.
type forged struct{ *mockoidc.MockUser }

func (f forged) Claims(scopes []string, c *mockoidc.IDTokenClaims) (jwt.Claims, error) {
	c.Nonce = "another"
	return f.MockUser.Claims(scopes, c)
}

// A person who is new signs in at the provider and has the role and the team of the claim. A token or a state of another
// sign-in is refused, and the owner needs no provider.
func TestSignInAtProvider(t *testing.T) {
	m, w := provider(t)
	p := open(t, w)
	m.QueueUser(jane())
	p.Open("/alerts?show=all")
	p.At("/sign-in")
	p.Click("Sign in with Example")
	p.At("/alerts?show=all")
	p.Open("/people")
	p.See("Jane")
	p.See("Auditor")
	p.Open("/teams")
	p.Follow("Engineering")
	p.See("Jane")
	p.Open("/me/sessions")
	p.See("With OpenID Connect")
	if jar := page.Eval[string](p, "document.cookie"); strings.Contains(jar, "tocsin=") || strings.Contains(jar, "oidc") {
		t.Errorf("scripts can read %s", jar)
	}
	p.Open("/channels")
	p.Lacks("New channel")

	other := open(t, w)
	m.QueueUser(forged{jane()})
	other.Open("/sign-in")
	other.Click("Sign in with Example")
	other.See("The provider does not answer as it should.")
	other.Open(signin.OpenIDPath + "?code=c&state=of-another-sign-in")
	other.See("This sign-in has ended, or began in another browser.")
	other.Messages()
	other.Open("/incidents")
	other.At("/sign-in")
	other.SignIn(w.Keys.All)
	other.At("/")
}
