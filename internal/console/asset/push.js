// Turns push on in this browser, on the page of one's settings. Removing a browser and testing it need no script.
const form = document.getElementById('push-on'), at = id => document.getElementById(id);
const hex = bytes => [...new Uint8Array(bytes)].map(b => b.toString(16).padStart(2, '0')).join('');
const digest = async text => hex(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));

// listed returns the row of the subscription that this browser has; nothing when it has none that the person knows of.
async function listed(subscription) {
  return subscription && document.querySelector(`[data-browser="${await digest(subscription.endpoint)}"]`);
}

async function begin() {
  const worker = await navigator.serviceWorker.ready;
  const row = await listed(await worker.pushManager.getSubscription());
  at('push-unable').hidden = true;
  if (row) { row.querySelector('[data-here]').hidden = false; return; }
  form.hidden = false;
  form.addEventListener('submit', event => { event.preventDefault(); turnOn(worker); });
}

async function turnOn(worker) {
  at('push-denied').hidden = at('push-failed').hidden = true;
  form.setAttribute('aria-busy', 'true');
  try {
    if (await Notification.requestPermission() !== 'granted') { at('push-denied').hidden = false; return; }
    // A subscription that the person does not have is of someone who used this browser before, or of an old key.
    await (await worker.pushManager.getSubscription())?.unsubscribe();
    const key = Uint8Array.from(atob(form.dataset.key.replaceAll('-', '+').replaceAll('_', '/')), c => c.charCodeAt(0));
    const { endpoint, keys } = (await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key })).toJSON();
    form.elements.endpoint.value = endpoint;
    form.elements.p256dh.value = keys.p256dh;
    form.elements.auth.value = keys.auth;
    form.submit();
  } catch { at('push-failed').hidden = false; } finally { form.removeAttribute('aria-busy'); }
}

if (form && 'serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window) begin();
