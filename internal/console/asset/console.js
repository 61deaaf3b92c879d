// The console works without this file: it only shortens the way. Forms and links then change the page in place, the page
// follows what happens, and keys move through it.

// All HTML comes from this server's own pages. The policy is the one place where text becomes HTML.
const policy = window.trustedTypes?.createPolicy('tocsin', { createHTML: html => html, createScriptURL: () => '/service-worker.js' });
// The positions in its nonced style are taken out first: in a document without the answer's policy they would be refused.
const parse = html => {
  const styled = /<style nonce="[^"]*">([^<]*)<\/style>/, bare = html.replace(styled, '');
  const page = new DOMParser().parseFromString(policy ? policy.createHTML(bare) : bare, 'text/html');
  page.positions = html.match(styled)?.[1];
  return page;
};

// A person who signs in for the first time reads times in the time zone of this browser.
if (!document.querySelector('.self')) document.cookie = `tocsin-zone=${Intl.DateTimeFormat().resolvedOptions().timeZone}; path=/; samesite=lax; max-age=3600`;

const main = () => document.getElementById('main');

// isTyped reports whether a control holds something else than the page came with. Only controls with an id can be found
// again in another answer.
const controls = () => [...main().querySelectorAll('input:not([type=hidden]), textarea, select')];
const isTyped = c => c.matches('select') ? [...c.options].some(o => o.selected !== o.defaultSelected) && c.selectedIndex > 0
  : c.matches('[type=checkbox], [type=radio]') ? c.checked !== c.defaultChecked : c.value !== c.defaultValue;

// show replaces the page's content with that of an answer and keeps what the reader has: focus, scroll, open details and,
// unless a form was sent, what is being typed.
function show(html, path, sent) {
  const next = parse(html), from = next.getElementById('main');
  if (!from) return false;
  const active = document.activeElement, at = active?.selectionStart;
  const open = [...document.querySelectorAll('details[open][id]')].map(d => d.id);
  const typed = sent ? [] : controls().filter(c => c.id && isTyped(c)).map(c => [c.id, c.value, c.checked]);
  const loaded = [...main().querySelectorAll('[data-load] > [data-loaded]')];
  adopt(next);
  document.title = next.title;
  main().replaceWith(document.adoptNode(from));
  const nav = next.querySelector('.bar nav');
  if (nav) document.querySelector('.bar nav')?.replaceWith(document.adoptNode(nav));
  open.forEach(id => document.getElementById(id)?.setAttribute('open', ''));
  for (const [id, value, checked] of typed) {
    const c = document.getElementById(id);
    if (c?.matches('[type=checkbox], [type=radio]')) c.checked = checked; else if (c) c.value = value;
  }
  for (const part of loaded) main().querySelector(`[data-load="${CSS.escape(part.dataset.loaded)}"]`)?.replaceChildren(part);
  const focus = active?.id && document.getElementById(active.id);
  if (focus) { focus.focus({ preventScroll: true }); if (at != null) try { focus.setSelectionRange(at, at); } catch { /* it has no text */ } }
  else if (active?.matches?.('a[href]')) main().querySelector(`a[href="${CSS.escape(active.getAttribute('href'))}"]`)?.focus({ preventScroll: true });
  const old = kept();
  if (old) old.hidden = true;
  if (path) history.replaceState(null, '', path);
  load();
  tally();
  if (!stream && stale() && !document.hidden && live()) listen(); // a form may lead to a page that is live
  return true;
}

// adopt takes over the positions of an answer: an added style element would need the nonce of this page.
function adopt(next) {
  const sheet = new CSSStyleSheet();
  if (next.positions) sheet.replaceSync(next.positions);
  document.adoptedStyleSheets = [sheet];
}

// load fills in parts that are slow to make: the part of the page at their address that is marked as loaded.
async function load() {
  for (const part of document.querySelectorAll('[data-load]:not(:has([data-loaded]))')) {
    const path = part.dataset.load;
    try {
      const answer = await fetch(path);
      const found = answer.ok && parse(await answer.text()).getElementById('loaded');
      if (!found || !part.isConnected) continue;
      const box = document.createElement('div');
      box.dataset.loaded = path;
      box.append(...document.adoptNode(found).childNodes);
      part.replaceChildren(box);
      if (box.querySelector('h2')) box.querySelector('h2').id = part.getAttribute('aria-labelledby') ?? '';
    } catch { /* the link to it stays */ }
  }
}

// A refresh waits while it would take something from the reader: an open dialog, text that an input method composes, and
// what is typed into a control that cannot be found again.
let composing = false;
document.addEventListener('compositionstart', () => composing = true);
document.addEventListener('compositionend', () => composing = false);
const busy = () => composing || document.querySelector('dialog[open]') || document.activeElement?.matches('select')
  || controls().some(c => !c.id && isTyped(c));

// The order of rows stays while the reader is at one of them or has chosen some: a link leads to what is new.
const order = page => [...page.querySelectorAll('#main [data-row]')].map(row => row.dataset.row);
function held(html) {
  const fresh = document.getElementById('fresh');
  if (!fresh || !main().querySelector('[data-row] :focus, input[form=many]:checked')) return false;
  const now = order(document), next = order(parse(html)), added = next.filter(row => !now.includes(row)).length;
  fresh.hidden = next.join() === now.join();
  fresh.textContent = added ? fresh.dataset.new.replace('%d', added) : fresh.dataset.other;
  return !fresh.hidden;
}
document.addEventListener('click', event => {
  if (event.target.id !== 'fresh' || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  refresh(true); // what is chosen stays
});

const drawn = Date.now();
let last = 0, due = 0, version = 0;
async function refresh(wanted) {
  due = 0;
  if (!wanted && busy()) { later(2000); return; }
  const mine = ++version;
  last = Date.now();
  try {
    const answer = await fetch(location.href, { headers: { 'Accept-Language': navigator.language } });
    if (answer.redirected && !answer.url.startsWith(location.origin + location.pathname)) { location.reload(); return; } // signed out
    const html = await answer.text();
    if (answer.ok && mine === version && (wanted || !busy() && !held(html))) show(html);
  } catch { /* the stream says when the connection is gone */ }
}
// Changes come in storms: the page is read again soon after the first, and once in a second at most.
const later = (wait = 100) => due ||= setTimeout(refresh, Math.max(wait, last + 1000 - Date.now()));

document.addEventListener('submit', async event => {
  const form = event.target, by = event.submitter;
  if (form.getAttribute('method') !== 'post' || !form.matches('[data-swap]') || by?.getAttribute('formmethod')) return;
  event.preventDefault();
  const target = by?.hasAttribute('formaction') ? by.formAction : form.getAttribute('action');
  if (form.dataset.sending) return; // one tap is one action
  form.dataset.sending = '1';
  by?.setAttribute('aria-busy', 'true');
  version++; // an answer that is older than this action must not be shown after it
  try {
    const answer = await fetch(target, { method: 'POST', body: new URLSearchParams(new FormData(form, by)) });
    version++; // a refresh that began meanwhile does not know what this action led to
    if (!show(await answer.text(), answer.redirected ? answer.url : undefined, true)) { location.assign(answer.url); return; }
    (main().querySelector('[role=alert], [role=status]') ?? main()).scrollIntoView({ block: 'nearest' });
    if (document.activeElement === document.body) main().focus({ preventScroll: true });
  } catch {
    delete form.dataset.sending;
    by?.removeAttribute('aria-busy');
    cut(); // nothing was lost: the button can be pressed again
  }
});

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

// A name that is taken from the list of a picker is added at once. Its button, which works without this, does the same.
function pick(input, whole) {
  const chosen = [...input.list?.options ?? []].find(o => o.value.toLowerCase() === input.value.trim().toLowerCase());
  if (!chosen || !whole) return false;
  const box = input.closest('.picked'), id = chosen.dataset.id;
  let tick = box.querySelector(`input[value="${CSS.escape(id)}"]`);
  if (!tick) {
    const chip = box.querySelector('template').content.cloneNode(true);
    tick = chip.querySelector('input');
    tick.value = id;
    chip.querySelector('bdi').textContent = chosen.value;
    input.closest('.pick').before(chip);
  }
  tick.checked = true;
  input.value = '';
  tick.dispatchEvent(new Event('change', { bubbles: true }));
  return true;
}
const picks = target => target.matches?.('.pick > input');
document.addEventListener('input', event => {
  if (picks(event.target)) pick(event.target, !event.inputType || event.inputType === 'insertReplacementText');
});
document.addEventListener('change', event => { if (picks(event.target)) pick(event.target, true); });
document.addEventListener('keydown', event => {
  if (event.key !== 'Enter' || event.isComposing || !picks(event.target) || !event.target.value) return;
  event.preventDefault();
  if (!pick(event.target, true)) event.target.nextElementSibling.click();
});

// A click into the picture of a schedule asks who is on call at the very moment under the pointer. Its links, which keys
// follow, ask about a moment of their shift.
document.addEventListener('click', event => {
  const track = event.target.closest?.('[data-why] :is([data-day], [data-from] .lane > .track)');
  if (!track || !event.detail || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const picture = track.closest('[data-why]').dataset, box = track.getBoundingClientRect();
  const part = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
  const query = new URLSearchParams({ tz: picture.zone });
  if (track.dataset.day) { // the hours of its clock, also on a day of a clock change
    const minute = Math.min(1439, Math.floor(part * 1440)), two = n => String(n).padStart(2, '0');
    query.set('moment', `${track.dataset.day}T${two(Math.floor(minute / 60))}:${two(minute % 60)}`);
  } else {
    const { from, to } = track.closest('[data-from]').dataset;
    query.set('at', Math.min(to - 1, Math.floor(+from + part * (to - from))));
  }
  event.preventDefault();
  location.assign(`${picture.why}?${query}`);
});

// The page follows what happens in the account while it can be seen. When the stream is cut, the page says since when it
// is old, and what it shows stays.
const stale = () => document.getElementById('stale');
// A page without a connection is the one that was seen last, and says so by itself.
const kept = () => document.querySelector('#kept:not([hidden])');
const live = () => document.querySelector('[data-live]');
let stream, heard = 0, retry;
function cut() {
  const s = stale();
  if (!s?.hidden || kept()) return;
  s.querySelector('time').textContent = new Date().toLocaleTimeString(document.documentElement.lang);
  s.hidden = false;
}
function listen() {
  clearTimeout(retry);
  stream?.close();
  stream = new EventSource('/live?seen=' + encodeURIComponent(stale().dataset.seen));
  heard = Date.now();
  stream.addEventListener('changed', () => { heard = Date.now(); later(); });
  stream.addEventListener('alive', () => heard = Date.now());
  stream.onopen = () => { heard = Date.now(); const s = stale(); if (s && !s.hidden || kept()) { s.hidden = true; later(0); } };
  stream.onerror = () => { cut(); if (stream.readyState === EventSource.CLOSED) { retry = setTimeout(listen, 5000); later(); } }; // refused: the session may be over
}
function deaf() {
  clearTimeout(retry);
  stream?.close();
  stream = undefined;
}
if (stale()) {
  if (live() && !document.hidden) listen();
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) deaf(); // browsers allow few connections: a tab that no one sees keeps none
    else if (live()) { listen(); later(0); }
  });
  addEventListener('offline', cut);
  addEventListener('online', () => { if (live()) listen(); else if (kept()) location.reload(); });
  navigator.serviceWorker?.register(policy ? policy.createScriptURL('') : '/service-worker.js', { updateViaCache: 'none' }).catch(() => {});
  const part = document.querySelector('[data-module]');
  if (part) import(part.dataset.module);
  addEventListener('pagehide', deaf);
  addEventListener('pageshow', event => { if (event.persisted && live()) { listen(); later(0); } });
  setInterval(() => {
    if (!stream || document.hidden) return;
    if (Date.now() - heard > 45000) { cut(); listen(); } // three heartbeats are missing
    else if (Date.now() - (last || drawn) > 60000) later(); // some things change with time alone, such as who is on call
  }, 5000);
}

// A menu that hangs over the page closes when the reader goes on elsewhere.
document.addEventListener('click', event => {
  for (const open of document.querySelectorAll('.menu[open], .confirm[open]')) if (!open.contains(event.target)) open.open = false;
});

// Boxes of rows: Shift chooses the rows between two, a box of several rows chooses each of them, and the number is shown.
let anchor;
const boxes = () => [...main().querySelectorAll('input[form=many]')].filter(b => b.checkVisibility());
function tally() {
  const all = [...main().querySelectorAll('input[form=many]')], count = main().querySelector('.chosen output');
  if (!count) return;
  const on = new Set(all.filter(b => b.checked).flatMap(b => b.value.split(',')));
  for (const b of all) if (b.value.includes(',')) b.checked = b.value.split(',').every(id => on.has(id));
  count.value = on.size;
}
document.addEventListener('click', event => {
  const box = event.target.closest?.('input[form=many]');
  if (!box) return;
  const all = boxes(), ends = [all.indexOf(anchor), all.indexOf(box)].sort((a, b) => a - b);
  const by = event.shiftKey && ends[0] >= 0 ? all.slice(ends[0], ends[1] + 1) : [box];
  const ids = new Set(by.flatMap(b => b.value.split(',')));
  for (const b of main().querySelectorAll('input[form=many]')) {
    const its = b.value.split(',');
    if (box.checked ? its.every(id => ids.has(id)) : its.some(id => ids.has(id))) b.checked = box.checked;
  }
  anchor = box;
  tally();
});

// Ctrl K opens the page that finds things as a dialog, above the buttons of this page that have keys. Without this it is a link.
const finder = document.getElementById('find');
let asked = 0;
function find() {
  const [, page] = finder.children, input = finder.querySelector('input');
  const near = [...main().querySelectorAll('[data-key]')].filter(b => b.checkVisibility() && !b.disabled);
  page.replaceChildren(...near.map(b => {
    const item = document.createElement('li'), button = document.createElement('button');
    button.className = 'btn sm';
    button.textContent = b.textContent.trim();
    button.addEventListener('click', () => { finder.close(); b.click(); });
    item.append(button);
    return item;
  }));
  finder.showModal();
  input.select();
}
async function suggest(text) {
  const mine = ++asked, answer = await fetch('/find?q=' + encodeURIComponent(text)).catch(() => undefined);
  const next = answer?.ok && parse(await answer.text()).getElementById('found');
  if (!next || mine !== asked) return;
  finder.children[1].hidden = text !== '';
  finder.children[2].replaceChildren(...document.adoptNode(next).childNodes);
}
finder?.addEventListener('input', event => {
  clearTimeout(soon);
  soon = setTimeout(suggest, 150, event.target.value.trim());
});
finder?.addEventListener('keydown', event => {
  if (event.key === 'Escape') { event.preventDefault(); finder.close(); return; } // a field of this kind would be emptied first
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key], all = [...finder.querySelectorAll('input, button, a')].filter(e => e.checkVisibility());
  if (!step || event.isComposing) return;
  event.preventDefault();
  all.at((all.indexOf(document.activeElement) + step) % all.length).focus();
});
document.addEventListener('click', event => {
  if (!event.target.closest?.('[data-find]') || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  find();
});
document.addEventListener('keydown', event => {
  if (!finder || finder.open || event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
  event.preventDefault();
  find();
});

// Single keys, unless they are switched off. None works while a field has the focus.
let going = 0;
const rows = () => [...main().querySelectorAll('.rows > li > :is(a:first-child, label + a), .inc > details > summary, .schedules > li h2 a, tbody tr a:first-of-type')];
function move(step) {
  const all = rows(), now = all.findIndex(a => a.closest('li, tr')?.contains(document.activeElement));
  all[Math.min(all.length - 1, Math.max(0, now + step))]?.focus();
}
// On a page that stands in a list, the keys for rows lead to the pages beside it.
function beside(rel, step) {
  const path = main().querySelector('.incident-head p:has(> [rel=prev], > [rel=next])');
  if (path) path.querySelector(`[rel=${rel}]`)?.click(); else move(step);
}
document.addEventListener('keydown', event => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const field = event.target.matches?.('input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]');
  if (event.key === 'Escape' && field) { event.target.blur(); return; }
  if (field || document.documentElement.dataset.keys === 'off' || document.querySelector('dialog[open]')) return;
  const key = event.key, go = going && Date.now() - going < 1500;
  going = 0;
  if (go) { const to = document.querySelector(`[data-go="${CSS.escape(key)}"]`); if (to) { event.preventDefault(); to.click(); } return; }
  if (key === 'g') { going = Date.now(); return; }
  const known = {
    '?': () => document.getElementById('keys')?.showModal(), j: () => beside('next', 1), k: () => beside('prev', -1),
    x: () => { const b = document.activeElement?.closest('li')?.querySelector('input[form=many]'); b?.click(); return b ?? null; },
    '/': () => { const s = main().querySelector('input[type=search]'); s?.closest('details')?.setAttribute('open', ''); if (s) s.focus(); else find(); },
  }[key] ?? (() => { const b = main().querySelector(`[data-key="${CSS.escape(key)}"]`); b?.click(); return b; });
  if (known() !== null) event.preventDefault();
});

// The entry of the history keeps which link was followed: Back leads to its place in the list.
addEventListener('click', event => {
  const href = event.target.closest?.('main a[href]')?.getAttribute('href');
  if (href) history.replaceState({ followed: href }, '');
});
const followed = history.state?.followed;
if (followed) main().querySelector(`a[href="${CSS.escape(followed)}"]`)?.focus({ preventScroll: true });

load();
