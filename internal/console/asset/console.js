// The console works without this file: it only shortens the way. Forms and links then change the page in place, the page
// follows what happens, and keys move through it.

// All HTML comes from this server's own pages. The policy is the one place where text becomes HTML.
const policy = window.trustedTypes?.createPolicy('tocsin', { createHTML: html => html });
const parse = html => new DOMParser().parseFromString(policy ? policy.createHTML(html) : html, 'text/html');

const main = () => document.getElementById('main');

// show replaces the page's content with that of an answer and keeps what the reader has: focus, scroll, open details and
// what is being typed.
function show(html, path) {
  const next = parse(html), from = next.getElementById('main');
  if (!from) return false;
  const focused = document.activeElement?.id, open = new Set([...document.querySelectorAll('details[open][id]')].map(d => d.id));
  adopt(next);
  document.title = next.title;
  main().replaceWith(document.adoptNode(from));
  const nav = next.querySelector('.bar nav');
  if (nav) document.querySelector('.bar nav')?.replaceWith(document.adoptNode(nav));
  open.forEach(id => document.getElementById(id)?.setAttribute('open', ''));
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  if (path) history.replaceState(null, '', path);
  return true;
}

// adopt takes over the positions that the page's nonced style holds: an added style element would need the old nonce.
function adopt(next) {
  const text = next.querySelector('head style')?.textContent;
  const sheet = new CSSStyleSheet();
  if (text) sheet.replaceSync(text);
  document.adoptedStyleSheets = [sheet];
}

const busy = () => document.activeElement?.matches('input:not([type=checkbox]), textarea, select') || document.querySelector('dialog[open], form[data-dirty]');

async function refresh() {
  if (busy()) return;
  const answer = await fetch(location.href, { headers: { 'Accept-Language': navigator.language } });
  if (answer.ok && !busy()) show(await answer.text());
}

document.addEventListener('submit', async event => {
  const form = event.target;
  if (form.method !== 'post' || !form.matches('[data-swap]')) return;
  event.preventDefault();
  try {
    const answer = await fetch(form.action, { method: 'POST', body: new URLSearchParams(new FormData(form, event.submitter)) });
    if (!show(await answer.text(), answer.url)) location.assign(answer.url);
    main().focus({ preventScroll: true });
  } catch { form.submit(); }
});
document.addEventListener('input', event => event.target.form?.method === 'post' && event.target.form.setAttribute('data-dirty', ''));

// A form with a preview shows it as it is being filled in. Only the preview is replaced: what is typed stays.
let soon, latest = 0;
document.addEventListener('change', event => {
  const form = event.target.form;
  if (!form?.matches('[data-preview]')) return;
  clearTimeout(soon);
  soon = setTimeout(async () => {
    const body = new URLSearchParams(new FormData(form)), mine = ++latest;
    body.set('do', 'preview');
    try {
      const answer = await fetch(form.action, { method: 'POST', body }), next = parse(await answer.text());
      const preview = next.getElementById('preview');
      if (!preview || mine !== latest) return;
      adopt(next);
      document.getElementById('preview').replaceWith(document.adoptNode(preview));
    } catch { /* the button does the same */ }
  }, 500);
});

// The page follows what happens in the account. When the stream is cut, the page says since when it is old.
if (document.querySelector('[data-live]')) {
  const stream = new EventSource('/live');
  let due;
  stream.addEventListener('changed', () => { clearTimeout(due); due = setTimeout(refresh, 150); });
  stream.onerror = () => { const s = document.getElementById('stale'); if (s?.hidden) { s.querySelector('time').textContent = new Date().toLocaleTimeString(document.documentElement.lang); s.hidden = false; } };
  stream.onopen = () => { const s = document.getElementById('stale'); if (s && !s.hidden) { s.hidden = true; refresh(); } };
}
