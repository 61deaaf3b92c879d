// The service worker of the console. The server writes three lines before this one: version, shell and words.
// It shows messages that are pushed, keeps the files of the pages, and keeps what Now, incidents and one's shifts showed
// last. A kept page is only ever shown with the mark that it is old. Nothing else is kept: no answer to a form, nothing of
// the API, and no page after a sign-out.

const say = text => (navigator.language.startsWith('zh') && words[text]) || text;
const files = 'files-' + version, pages = 'pages', maxPages = 40;
const mark = 'id="kept" hidden';
// A page is kept under its path: what it shows after a form was sent is the same page. Lists that are filtered are not kept.
const isKept = ({ pathname: path, search }) => /^(\?done=[\w-]*)?$/.test(search) && (path === '/' || path === '/incidents' || /^\/incidents\/[0-9a-f]{24}$/.test(path) || /^\/people\/\d+\/shifts$/.test(path));
const keyOf = url => url.origin + url.pathname;

self.addEventListener('install', event => event.waitUntil(
  caches.open(files).then(cache => cache.addAll(shell)).then(() => self.skipWaiting())));

self.addEventListener('activate', event => event.waitUntil((async () => {
  const old = (await caches.keys()).filter(name => name.startsWith('files-') && name !== files);
  for (const name of old.slice(0, -1)) await caches.delete(name); // kept pages may still need the files of the last version
  await self.clients.claim();
})()));

// What was fetched before a sign-out must not be kept after it.
let reader = 0;
function forget() {
  reader++;
  return caches.delete(pages);
}

self.addEventListener('fetch', event => {
  const request = event.request, url = new URL(request.url);
  if (url.origin !== location.origin) return;
  if (/^\/(sign-in|sign-out|link)(\/|$)/.test(url.pathname)) { event.waitUntil(forget()); return; }
  if (request.method !== 'GET') return;
  if (url.pathname.startsWith('/assets/')) event.respondWith(caches.match(request).then(hit => hit ?? fetch(request)));
  else if (isKept(url)) event.respondWith(page(event, url));
  else if (request.mode === 'navigate') event.respondWith(fetch(request).catch(nothing));
});

async function page(event, url) {
  const mine = reader, shown = event.request.mode === 'navigate';
  let answer;
  try {
    answer = await fetch(event.request);
  } catch (failed) {
    if (!shown) throw failed; // the page that asks shows since when it is old
    return await lastSeen(url) ?? nothing();
  }
  if (answer.type === 'opaqueredirect' || answer.redirected) event.waitUntil(forget()); // the session is over
  else if (shown && answer.status >= 502 && answer.status <= 504) return await lastSeen(url) ?? answer;
  else if (answer.ok) event.waitUntil(keep(url, answer.clone(), mine));
  return answer;
}

// keep keeps a page that can be marked, and drops those that were seen longest ago.
async function keep(url, answer, mine) {
  const html = await answer.text();
  if (mine !== reader || !html.includes(mark)) return;
  const cache = await caches.open(pages);
  await cache.put(keyOf(url), new Response(html, { headers: answer.headers }));
  if (mine !== reader) { await caches.delete(pages); return; }
  for (const old of (await cache.keys()).slice(0, -maxPages)) await cache.delete(old);
}

// lastSeen returns a kept page with its mark shown.
async function lastSeen(url) {
  const old = await (await caches.open(pages)).match(keyOf(url));
  if (!old) return undefined;
  const html = await old.text();
  return new Response(html.replace(mark, 'id="kept" role="status"'), { headers: headers(old.headers.get('Content-Security-Policy')) });
}

const headers = policy => ({ 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store', 'Content-Security-Policy': policy });

// nothing is the page for what was not kept.
async function nothing() {
  const seen = (await (await caches.open(pages)).keys()).map(r => new URL(r.url).pathname);
  const link = (path, text) => seen.includes(path) ? `<li><a href="${path}">${say(text)}</a></li>` : '';
  return new Response(`<!doctype html><html lang="${navigator.language.startsWith('zh') ? 'zh-Hans' : 'en'}"><meta charset="utf-8">` +
    `<meta name="viewport" content="width=device-width,initial-scale=1"><title>${say('No connection')} · Tocsin</title>` +
    `<link rel="stylesheet" href="${shell.find(file => file.includes('.css'))}"><main id="main"><h1>${say('No connection')}</h1>` +
    `<p>${say('This page cannot be loaded, and it was not kept.')}</p><ul>${link('/', 'Now')}${link('/incidents', 'Incidents')}</ul>` +
    `<p><a class="btn" href="">${say('Try again')}</a></p></main></html>`,
    { status: 503, headers: headers("default-src 'none'; style-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'") });
}

// own returns an address of a message at this server: a message leads nowhere else.
const own = link => new URL(new URL(link || '/', location.origin).pathname, location.origin).href;

self.addEventListener('push', event => {
  let m = {};
  try { m = event.data.json(); } catch { /* a message that cannot be read is shown as well */ }
  event.waitUntil(show(m.title || say('Something happened. Open Tocsin.'), m.text || [m.channel, m.why].filter(Boolean).join('\n'), m,
    { renotify: Boolean(m.tag) && !m.quiet, requireInteraction: m.severity === 'Critical' }));
});

const show = (title, body, m, more) => self.registration.showNotification(title, {
  body, data: m, tag: m.tag || undefined, icon: shell.find(file => file.includes('icon-192')), badge: shell.find(file => file.includes('badge')),
  actions: m.ack ? [{ action: 'ack', title: say(m.asks ? 'Still on it' : 'Acknowledge') }, { action: 'open', title: say('Open') }] : [], ...more,
});

self.addEventListener('notificationclick', event => {
  const m = event.notification.data ?? {};
  event.notification.close();
  event.waitUntil(event.action === 'ack' && m.ack ? acknowledge(m) : open(m));
});

// acknowledge acknowledges by the link of a message, which needs no session, and shows what came of it.
async function acknowledge(m) {
  let outcome = { problem: say('There is no connection.') };
  try {
    const answer = await fetch(own(m.ack), { method: 'POST', headers: { Accept: 'application/json' }, credentials: 'omit' });
    outcome = await answer.json();
  } catch { /* the button stays */ }
  const done = { ack: 'Acknowledged', used: 'It was acknowledged before', over: 'It is over' }[outcome.done];
  if (done) await show(say(done), outcome.title || m.title, { ...m, ack: '' }, { silent: true });
  else await show(say('Not acknowledged'), [outcome.problem, m.title].filter(Boolean).join('\n'), m, { requireInteraction: true });
}

// open shows the page of a message: the console's, or to a reader who is not signed in the one of the signed link.
async function open(m) {
  let to = own(m.link);
  if (m.ack) try {
    if ((await fetch(to, { redirect: 'manual' })).type === 'opaqueredirect') to = own(m.ack);
  } catch { /* the kept page is shown */ }
  const there = (await self.clients.matchAll({ type: 'window' })).find(c => c.url === to);
  return there ? there.focus() : self.clients.openWindow(to);
}

// A browser may replace its subscription by itself.
self.addEventListener('pushsubscriptionchange', event => event.waitUntil((async () => {
  const fresh = event.newSubscription ?? (event.oldSubscription && await self.registration.pushManager.subscribe(event.oldSubscription.options));
  if (!fresh) return;
  const { endpoint, keys } = fresh.toJSON();
  await fetch('/me/push', { method: 'POST', body: new URLSearchParams({ endpoint, p256dh: keys.p256dh, auth: keys.auth }) });
})()));
