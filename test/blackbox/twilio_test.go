package blackbox

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"tocsin/internal/sender/twiliotest"
)

// twilioFlags returns the flags of an account at Twilio; the last one of a name counts.
func twilioFlags(more string) string {
	return "--public-url https://tocsin.example.com --twilio-account " + twiliotest.SID + " --twilio-token-file token.txt --twilio-from " + twiliotest.From + " " + more
}

func TestServeTakesSignedCallbacksOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "token.txt", twiliotest.Token+"\n")
	s := serve(t, dir, append([]string{"serve", "--listen", "127.0.0.1:0", "--log-level", "debug"}, strings.Fields(twilioFlags(""))...)...)
	form := url.Values{"AccountSid": {twiliotest.SID}, "From": {"+15550100"}, "Body": {"4"}, "MessageSid": {"SM1"}}
	for token, want := range map[string]int{twiliotest.Token: http.StatusOK, "another": http.StatusForbidden} {
		r, err := http.NewRequest(http.MethodPost, s.url+"/phone/twilio/sms", strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Twilio-Signature", twiliotest.Sign("https://tocsin.example.com/phone/twilio/sms", form, token))
		reply, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		reply.Body.Close()
		if reply.StatusCode != want {
			t.Errorf("signed with %s: %d, want %d", token, reply.StatusCode, want)
		}
	}
	s.stop()
	if log := s.log.String(); strings.Contains(log, twiliotest.Token) || strings.Count(log, "not signed by the Twilio account") != 1 || strings.Contains(log, "can send nothing") {
		t.Errorf("the log is %s", log)
	}
}
