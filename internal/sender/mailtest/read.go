package mailtest

import (
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"strings"
)

// Read decodes a mail as a mail program does. It returns the subject, the headers, and the texts by their type, such
// as text/plain, with lines that end in CRLF.
func (m Mail) Read() (subject string, header mail.Header, texts map[string]string, err error) {
	message, err := mail.ReadMessage(strings.NewReader(m.Data))
	if err != nil {
		return "", nil, nil, err
	}
	header, texts = message.Header, map[string]string{}
	subject, err = new(mime.WordDecoder).DecodeHeader(header.Get("Subject"))
	if err != nil {
		return "", nil, nil, err
	}
	keep := func(kind string, r io.Reader) error {
		text, err := io.ReadAll(r)
		texts[kind] = string(text)
		return err
	}
	kind, parameters, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil {
		return "", nil, nil, err
	}
	if kind != "multipart/alternative" {
		return subject, header, texts, keep(kind, quotedprintable.NewReader(message.Body))
	}
	for parts := multipart.NewReader(message.Body, parameters["boundary"]); ; {
		part, err := parts.NextPart()
		if err == io.EOF {
			return subject, header, texts, nil
		}
		if err != nil {
			return "", nil, nil, err
		}
		kind, _, _ := strings.Cut(part.Header.Get("Content-Type"), ";")
		if err := keep(kind, part); err != nil {
			return "", nil, nil, err
		}
	}
}
