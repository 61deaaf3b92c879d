
"use strict";
(() => {
  const make = (name, text, parent) => {
    const e = document.createElement(name);
    if (text) e.textContent = text;
    if (parent) parent.append(e);
    return e;
  };
  const all = (selector, root) => [...(root || document).querySelectorAll(selector)];
  const byId = id => document.getElementById(id);

  // The page is the same for all servers, as its bytes are shared by all who read it: only the browser knows the address.
  byId("address").textContent = location.origin;

  // Filter: every word must be in an operation's path, sentences or fields; examples do not count.
  const articles = all("article").map(e => ({ e, text: all("h3, p, dl, table", e).map(part => part.textContent).join(" ").toLowerCase() }));
  const entries = new Map(all("nav [data-op]").map(e => [e.dataset.op, e]));
  const filter = () => {
    const words = byId("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    for (const { e, text } of articles) {
      const match = words.every(w => text.includes(w));
      e.hidden = entries.get(e.id).hidden = !match;
      found += match;
    }
    for (const s of all(".noun, .group")) s.hidden = all("article, [data-op]", s).every(e => e.hidden);
    for (const s of all(".chapter, .chapters")) s.hidden = words.length > 0;
    byId("none").hidden = found > 0;
    byId("found").textContent = words.length ? found + " of " + articles.length : "";
  };
  byId("tools").hidden = false;
  byId("filter").addEventListener("input", filter);
  document.addEventListener("keydown", event => {
    if (event.key === "/" && !/INPUT|TEXTAREA/.test(event.target.tagName)) {
      event.preventDefault();
      byId("filter").focus();
    }
  });

  // On a narrow page the contents stand before everything else: closed, until asked for or filtered.
  const contents = document.querySelector(".contents");
  const narrow = matchMedia("(max-width: 50rem)");
  const fold = () => { contents.open = !narrow.matches; };
  narrow.addEventListener("change", fold);
  byId("filter").addEventListener("input", () => { contents.open = true; });
  fold();

  // A link to a type opens it.
  const reveal = () => {
    const target = byId(decodeURIComponent(location.hash.slice(1)));
    if (target && target.tagName === "DETAILS") target.open = true;
  };
  addEventListener("hashchange", reveal);
  document.addEventListener("click", event => {
    const link = event.target.closest("a[href^='#']");
    const target = link && byId(link.getAttribute("href").slice(1));
    if (target && target.tagName === "DETAILS") target.open = true;
  });
  reveal();

  // Copy, or where the browser does not let us, select.
  for (const pre of all("pre.curl")) {
    const button = make("button", "Copy", pre.parentElement);
    button.type = "button";
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(pre.textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(pre);
        button.textContent = "Selected";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
  }

  // Indents JSON without reading its numbers: identifiers have more digits than a script's numbers.
  const indented = json => {
    let out = "", depth = 0;
    const line = () => "\n" + "  ".repeat(depth);
    for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+/g)) {
      if (token === "{" || token === "[") { depth++; out += token + line(); }
      else if (token === "}" || token === "]") {
        depth--;
        const open = token === "}" ? "{" : "[", bare = out.trimEnd();
        out = bare.endsWith(open) ? bare + token : out + line() + token;
      }
      else if (token === ",") out += token + line();
      else if (token === ":") out += ": ";
      else out += token;
    }
    return out;
  };

  // Trial calls.
  for (const place of all(".try")) {
    const box = make("details", "", place);
    make("summary", "Try it", box);
    const body = make("textarea", "", box);
    body.value = indented(place.dataset.body);
    body.spellcheck = false;
    body.setAttribute("aria-label", "Request body for " + place.dataset.path);
    body.rows = Math.min(20, body.value.split("\n").length + 1);
    const send = make("button", "Send", box);
    send.type = "button";
    const status = make("p", "", box);
    status.setAttribute("role", "status");
    const reply = make("pre", "", box);
    reply.tabIndex = 0;
    reply.hidden = true;
    send.addEventListener("click", async () => {
      const key = byId("key");
      if (!key.value) {
        status.textContent = "Enter an app key first, at the top of the list of operations.";
        key.focus();
        return;
      }
      send.disabled = true;
      status.className = "";
      status.textContent = "Sending…";
      reply.hidden = true;
      try {
        const answer = await fetch(location.origin + place.dataset.path, {
          method: "POST", credentials: "omit", cache: "no-store", redirect: "error",
          headers: { "Authorization": "Bearer " + key.value, "Content-Type": "application/json" },
          body: body.value,
        });
        status.className = answer.ok ? "" : "failed";
        status.textContent = "Status " + answer.status + ", request " + answer.headers.get("Service-Request-Id");
        reply.textContent = indented(await answer.text());
        reply.hidden = false;
      } catch (e) {
        status.className = "failed";
        status.textContent = "No answer: " + e.message;
      }
      send.disabled = false;
    });
  }
})();
