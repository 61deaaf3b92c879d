package querier

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
)

// TLS is the group of TLS settings of a datasource's payload.
type TLS struct {
	CA         string `json:"tls_ca"`
	Cert       string `json:"tls_cert"`
	Key        string `json:"tls_key"`
	KeyPwd     string `json:"tls_key_pwd"`
	SkipVerify bool   `json:"tls_skip_verify"`
	ServerName string `json:"tls_server_name"`
	MinVersion string `json:"tls_min_version"`
	MaxVersion string `json:"tls_max_version"`
}

var versions = map[string]uint16{"1.0": tls.VersionTLS10, "1.1": tls.VersionTLS11, "1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13}

// Mode returns the settings for the mode of a database; nil: no TLS. The empty mode goes by the other settings.
func (t TLS) Mode(mode string) (*tls.Config, error) {
	if mode == "disable" || mode == "" && t == (TLS{}) {
		return nil, nil
	}
	t.SkipVerify = t.SkipVerify && mode == "" || mode == "require"
	c, err := t.Config()
	if err == nil && mode == "verify-ca" {
		c.InsecureSkipVerify = true // and its chain is verified here
		c.VerifyConnection = func(s tls.ConnectionState) error {
			o := x509.VerifyOptions{Roots: c.RootCAs, Intermediates: x509.NewCertPool()}
			for _, cert := range s.PeerCertificates[1:] {
				o.Intermediates.AddCert(cert)
			}
			_, err := s.PeerCertificates[0].Verify(o)
			if err != nil {
				return &tls.CertificateVerificationError{UnverifiedCertificates: s.PeerCertificates, Err: err}
			}
			return nil
		}
	}
	return c, err
}

// Config returns the settings as the library has them. Its errors repeat nothing of them.
func (t TLS) Config() (*tls.Config, error) {
	c := &tls.Config{
		MinVersion: tls.VersionTLS12, ServerName: t.ServerName,
		InsecureSkipVerify: t.SkipVerify, // the person who manages the datasource chose it
	}
	if v := versions[t.MinVersion]; v != 0 {
		c.MinVersion = v
	}
	if v := versions[t.MaxVersion]; v != 0 {
		c.MaxVersion = v
		c.MinVersion = min(c.MinVersion, v)
	}
	if t.CA != "" {
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM([]byte(t.CA)) {
			return nil, errors.New("tls_ca holds no certificate in PEM")
		}
	}
	if t.Cert == "" && t.Key == "" {
		return c, nil
	}
	key, err := t.key()
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair([]byte(t.Cert), key)
	if err != nil {
		return nil, errors.New("tls_cert and tls_key are not a certificate and its key in PEM")
	}
	c.Certificates = []tls.Certificate{pair}
	return c, nil
}

// key returns the key in PEM, without encryption.
func (t TLS) key() ([]byte, error) {
	block, _ := pem.Decode([]byte(t.Key))
	switch {
	case block == nil:
		return nil, errors.New("tls_key is not a key in PEM")
	case block.Type == "ENCRYPTED PRIVATE KEY":
		return nil, errors.New("tls_key is encrypted in a form (PKCS #8) that cannot be read: give it without encryption; it is stored sealed")
	case block.Headers["DEK-Info"] == "":
		return []byte(t.Key), nil
	}
	plain, err := x509.DecryptPEMBlock(block, []byte(t.KeyPwd)) //nolint:staticcheck // the payload has a password for keys of this form
	if err != nil {
		return nil, errors.New("tls_key_pwd does not open tls_key")
	}
	return pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: plain}), nil
}
