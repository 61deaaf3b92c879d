package cli

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"tocsin/internal/app"
	"tocsin/internal/signin"
)

// openID holds the flags of signing in at an OpenID Connect provider.
type openID struct {
	Issuer     string   `name:"oidc-issuer" help:"OpenID Connect provider at which persons sign in to the console; needs --public-url." placeholder:"URL"`
	ClientID   string   `name:"oidc-client-id" help:"Client ID at the provider." placeholder:"ID"`
	SecretFile string   `name:"oidc-client-secret-file" help:"File with the client secret; without it only PKCE protects the sign-in." placeholder:"FILE"`
	Name       string   `name:"oidc-name" help:"Name of the provider on the button (default: its host)." placeholder:"NAME"`
	Scopes     []string `name:"oidc-scopes" help:"Scopes besides openid." default:"email,profile"`
	Claim      string   `name:"oidc-claim" help:"Claim whose values decide roles and teams." default:"groups"`
	Roles      []string `name:"oidc-role" help:"Role of persons with a value of the claim; repeatable. Others lose the role when they sign in." sep:"none" placeholder:"VALUE=ROLE"`
	Teams      []string `name:"oidc-team" help:"Team, likewise." sep:"none" placeholder:"VALUE=TEAM"`
	Provision  bool     `name:"oidc-provision" help:"Create persons on their first sign-in."`
	TrustEmail bool     `name:"oidc-trust-email" help:"Take addresses as verified although the provider does not confirm them."`
	Account    int64    `name:"oidc-account" help:"Account in which persons sign in (default: the only one)." placeholder:"ID"`
}

func (o openID) apply(c *app.Config) (err error) {
	if o.Issuer == "" {
		return nil
	}
	u, err := url.Parse(o.Issuer)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return misuseError{fmt.Errorf("--oidc-issuer %q: want an https URL", o.Issuer)}
	}
	if o.ClientID == "" || c.PublicURL == "" {
		return misuseError{errors.New("--oidc-issuer needs --oidc-client-id, and --public-url, to which the provider sends persons back")}
	}
	c.OpenID = signin.OpenID{
		Name: cmp.Or(o.Name, u.Hostname()), Issuer: o.Issuer, ClientID: o.ClientID, Scopes: o.Scopes, Claim: o.Claim,
		Provision: o.Provision, TrustEmail: o.TrustEmail, Account: o.Account,
	}
	c.OpenID.ClientSecret, err = secretFile(o.SecretFile)
	if err != nil {
		return err
	}
	c.OpenID.Roles, err = pairs("--oidc-role", o.Roles)
	if err != nil {
		return err
	}
	c.OpenID.Teams, err = pairs("--oidc-team", o.Teams)
	return err
}

// pairs reads texts such as admins=Administrator. A value may contain =, as those of directories do, so the last one counts.
func pairs(flag string, texts []string) (map[string]string, error) {
	all := map[string]string{}
	for _, text := range texts {
		i := strings.LastIndexByte(text, '=')
		if i < 1 || i == len(text)-1 {
			return nil, misuseError{fmt.Errorf("%s %q: want VALUE=NAME", flag, text)}
		}
		if other := all[text[:i]]; other != "" {
			return nil, misuseError{fmt.Errorf("%s %q: the value leads to %q already", flag, text, other)}
		}
		all[text[:i]] = text[i+1:]
	}
	return all, nil
}
