package browser

import (
	"os/exec"
	"strings"
	"testing"

	"tocsin/test/browser/page"
)

// The command line of an integration's page works as it is copied, and a test event shows what came of it.
func TestIntegrationPage(t *testing.T) {
	w := begin(t)
	in := newInlet(t, w)
	p := signedIn(t, w)
	p.Open("/integrations")
	p.Type("input[name=q]", "Trials")
	p.Enter()
	p.See("standard")
	p.Follow(".rows a[href^='/integrations/']")
	p.Unseen(in.key)
	p.Follow("Show the key")
	p.See(w.URL + "/event/push/alert/standard?integration_key=" + in.key)
	command := page.Eval[string](p, "[...document.querySelectorAll('pre')].map(e => e.textContent).find(t => t.startsWith('curl '))")
	out, err := exec.Command("sh", "-c", command).CombinedOutput() // as a person pastes it into a shell
	if err != nil || !strings.Contains(string(out), "event_id") {
		t.Fatalf("%s: %v %s", command, err, out)
	}
	w.Pass(t, 0)
	fill(p, "select[name=status]", "Critical")
	p.Follow("Send a test event")
	p.See("What became of the test event")
	w.Pass(t, 0)
	p.See("Open the incident")
	o := once(t)
	o.note(p.Axe(), "a test event")
	p.Follow("End the test alert")
	w.Pass(t, 0)
	p.Open(in.path(""))
	p.Open("/alerts?show=all&q=Disk+is+full")
	p.See("Disk is full")
}

// A person pages themselves, and the page shows by which way and what came of it.
func TestPageMeNow(t *testing.T) {
	w := begin(t)
	p := signedIn(t, w)
	p.Open("/me")
	fill(p, "form[action='/me/page'] select", "Critical")
	p.Follow("Page me")
	w.Pass(t, 0)
	p.Follow("Look again")
	p.See("Sent")
	if sent := strings.Join(w.Sent(), "\n"); sent == "" {
		t.Error("nothing was sent")
	}
	o := once(t)
	o.note(p.Axe(), "/me")
}

// A role is made and changed, and stands in the table, an app key is shown once, and the audit log shows both with what changed.
func TestRolesKeysAndAudit(t *testing.T) {
	w := begin(t)
	p := signedIn(t, w)
	p.Open("/roles")
	p.Type("form[action='/roles'] [name=name]", "Night watch")
	p.Follow("Make the role")
	p.See("Night watch")
	fill(p, "select:has([value='1'])", "1")
	fill(p, "select:has([value='7'])", "7")
	p.Follow("Save")
	p.See("Night watch")
	p.Click("In detail")
	granted := page.Eval[int](p, `(() => { const t = document.querySelector('table'), n = [...t.tHead.rows[0].cells].findIndex(c => c.innerText.includes('Night watch'));
		return [...t.tBodies[0].rows].filter(r => r.cells[n].className === 'yes').length; })()`)
	if granted != 2 {
		t.Errorf("the matrix shows %d permissions of the new role", granted)
	}
	o := once(t)
	o.note(p.Axe(), "/roles")
	p.Follow("Night watch")
	fill(p, "select:has([value='1'])", "")
	p.Follow("Save")
	p.Open("/keys")
	p.Type("form[action='/keys'] [name=name]", "Backup job")
	p.Follow("Make the key")
	p.See("It is not shown again.")
	key := page.Eval[string](p, "document.getElementById('secret').textContent")
	c := w.Client(t)
	c.SignIn(key)
	p.Open("/keys")
	p.See("Backup job")
	p.Unseen(key)
	p.Open("/audit")
	p.Unseen(key)
	p.Open("/audit?operation=role:write:upsert")
	p.Follow("main a[href^='/audit/']")
	p.See("permission_ids")
	p.See("Night watch")
	o.note(p.Axe(), "an audit entry")
}
