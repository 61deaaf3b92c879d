// Package webpushtest is a push service and the browsers that it serves, for tests: it checks who sends (RFC 8292),
// decrypts what comes (RFC 8291) by its own reading of these texts, and keeps it.
//
// The product must never import it.
package webpushtest

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
)

// Service is a push service. It takes everything unless Answer is set.
type Service struct {
	URL    string
	server *httptest.Server

	mu       sync.Mutex
	browsers map[string]*Browser
	answer   func(b *Browser) int
}

// Message is what a browser received, with the headers that came with it.
type Message struct {
	Browser, Title, Severity, Channel, Why, Text, Link, Ack, Tag string
	Quiet                                                        bool
	Urgency, TTL, Topic                                          string
	Size                                                         int // bytes of the encrypted message
}

// Browser is a browser with a subscription.
type Browser struct {
	Name     string
	Endpoint string
	private  *ecdh.PrivateKey
	auth     []byte
	got      []Message
}

// New starts a push service that ends with the test, over HTTPS.
func New(t testing.TB) *Service {
	s := &Service{browsers: map[string]*Browser{}}
	s.server = httptest.NewTLSServer(s)
	s.URL = s.server.URL
	t.Cleanup(s.server.Close)
	return s
}

// Trust makes this process trust push services of tests. It must be called before anything is trusted, because the system's
// certificates are read once. remove deletes the file.
func Trust() (remove func(), err error) {
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	f, err := os.CreateTemp("", "push-service-*.pem")
	if err != nil {
		return nil, err
	}
	block := pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}
	err = errors.Join(pem.Encode(f, &block), f.Close(), os.Setenv("SSL_CERT_FILE", f.Name()))
	return func() { _ = os.Remove(f.Name()) }, err
}

// Answer sets the status that browsers' messages are answered with; 201 takes them.
func (s *Service) Answer(with func(b *Browser) int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = with
}

// Browser returns a new browser with keys of its own.
func (s *Service) Browser(name string) *Browser {
	private, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		panic(err)
	}
	b := &Browser{Name: name, private: private, auth: make([]byte, 16)}
	rand.Read(b.auth)
	token := make([]byte, 16)
	rand.Read(token)
	path := "/send/" + text(token)
	b.Endpoint = s.URL + path
	s.mu.Lock()
	defer s.mu.Unlock()
	s.browsers[path] = b
	return b
}

// Subscription returns what the page reads of the browser, as JSON members endpoint, keys and name.
func (b *Browser) Subscription() string {
	return fmt.Sprintf(`{"endpoint": %q, "keys": {"p256dh": %q, "auth": %q}, "name": %q}`,
		b.Endpoint, text(b.private.PublicKey().Bytes()), text(b.auth), b.Name)
}

// Got returns the messages that browsers received since the last call, by browser.
func (s *Service) Got() (all []Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.browsers {
		all = append(all, b.got...)
		b.got = nil
	}
	return all
}

// ServeHTTP takes a message.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.browsers[r.URL.Path]
	if b == nil {
		http.Error(w, "unknown endpoint", http.StatusNotFound)
		return
	}
	if s.answer != nil {
		if status := s.answer(b); status != http.StatusCreated {
			w.WriteHeader(status)
			return
		}
	}
	m, err := s.read(b, r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	b.got = append(b.got, m)
	w.WriteHeader(http.StatusCreated)
}

func (s *Service) read(b *Browser, r *http.Request) (m Message, err error) {
	if r.Method != http.MethodPost || r.Header.Get("Content-Encoding") != "aes128gcm" || r.Header.Get("TTL") == "" {
		return m, errors.New("no message of RFC 8030")
	}
	if err := checkSender(r.Header.Get("Authorization"), s.URL); err != nil {
		return m, err
	}
	body, err := io.ReadAll(r.Body)
	if err != nil || len(body) > 4096 {
		return m, fmt.Errorf("%d bytes are too many: %w", len(body), err)
	}
	plain, err := b.decrypt(body)
	if err == nil {
		err = json.Unmarshal(plain, &m)
	}
	m.Browser, m.Size = b.Name, len(body)
	m.Urgency = r.Header.Get("Urgency")
	m.TTL = r.Header.Get("TTL")
	m.Topic = r.Header.Get("Topic")
	return m, err
}

// checkSender checks the signature of RFC 8292: of the key that it names, and for this service.
func checkSender(header, audience string) error {
	token, key, ok := strings.Cut(strings.TrimPrefix(header, "vapid t="), ", k=")
	parts := strings.Split(token, ".")
	public, err := base64.RawURLEncoding.DecodeString(key)
	if !ok || len(parts) != 3 || err != nil || len(public) != 65 {
		return errors.New("no authorization of RFC 8292")
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || len(signature) != 64 {
		return errors.New("no signature")
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	signer, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), public)
	if err != nil || !ecdsa.Verify(signer, sum[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])) {
		return errors.New("the signature is of another key")
	}
	claims, err := base64.RawURLEncoding.DecodeString(parts[1])
	var claimed struct {
		Aud, Sub string
		Exp      int64
	}
	if err == nil {
		err = json.Unmarshal(claims, &claimed)
	}
	named := strings.HasPrefix(claimed.Sub, "https:") || strings.HasPrefix(claimed.Sub, "mailto:")
	if err != nil || claimed.Aud != audience || claimed.Exp == 0 || !named {
		return fmt.Errorf("the claims are %s", claims)
	}
	return nil
}

// decrypt is RFC 8291 as the browser reads it.
func (b *Browser) decrypt(body []byte) ([]byte, error) {
	if len(body) < 86 || body[20] != 65 {
		return nil, errors.New("no header of RFC 8188")
	}
	salt := body[:16]
	size := binary.BigEndian.Uint32(body[16:20])
	sender := body[21:86]
	sealed := body[86:]
	if int(size) < len(sealed) {
		return nil, errors.New("more than one record")
	}
	other, err := ecdh.P256().NewPublicKey(sender)
	if err != nil {
		return nil, err
	}
	shared, err := b.private.ECDH(other)
	if err != nil {
		return nil, err
	}
	derive := func(secret, salt []byte, info string, n int) []byte {
		key, err := hkdf.Key(sha256.New, secret, salt, info, n)
		if err != nil {
			panic(err)
		}
		return key
	}
	material := derive(shared, b.auth, "WebPush: info\x00"+string(b.private.PublicKey().Bytes())+string(sender), 32)
	block, err := aes.NewCipher(derive(material, salt, "Content-Encoding: aes128gcm\x00", 16))
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	plain, err := gcm.Open(nil, derive(material, salt, "Content-Encoding: nonce\x00", 12), sealed, nil)
	if err != nil {
		return nil, err
	}
	plain = []byte(strings.TrimRight(string(plain), "\x00"))
	if len(plain) == 0 || plain[len(plain)-1] != 2 {
		return nil, errors.New("the record has no end")
	}
	return plain[:len(plain)-1], nil
}

func text(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
