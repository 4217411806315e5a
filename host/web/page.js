// Live lists and keys. Every decision works without this.
(() => {
  "use strict";
  const base = document.body.dataset.base;
  const byScript = { redirect: "manual", credentials: "same-origin" };

  if (!base) return;
  const byId = (id) => document.getElementById(id);

  // A list is loaded anew when writes change, and keeps what has the focus; a write is not replaced under one's hands.
  let loading = false, again = false;
  const say = (sentence) => {
    let bar = byId("changed");
    if (!bar) {
      bar = document.createElement("p");
      bar.id = "changed";
      bar.className = "notice look";
      bar.setAttribute("role", "alert");
      document.querySelector("main").prepend(bar);
    }
    bar.textContent = sentence;
  };
  const look = async () => {
    if (loading) { again = true; return; }
    loading = true;
    try {
      const here = new URL(location.href);
      here.searchParams.set("live", "1");
      const answer = await fetch(here, byScript);
      if (answer.type === "opaqueredirect") { location.assign("/"); return; }
      if (!answer.ok) return;
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      const live = byId("live"), shown = byId("shown");
      if (live && fresh.getElementById("live")) {
        const focused = document.activeElement && document.activeElement.getAttribute("href");
        live.replaceChildren(...fresh.getElementById("live").childNodes);
        if (focused) for (const link of live.querySelectorAll("a")) if (link.getAttribute("href") === focused) link.focus();
        const waiting = fresh.querySelector("#approvals .count");
        document.title = (waiting ? waiting.textContent + " " : "") + "What waits - KruxOS";
      } else if (shown && fresh.getElementById("shown")) {
        const now = fresh.getElementById("shown").dataset;
        if (now.hash !== shown.dataset.hash || now.state !== shown.dataset.state)
          say("This has changed meanwhile. Load the page again before you decide.");
      }
    } catch {
      // The host has gone, or the network: the stream tells when it is back.
    } finally {
      loading = false;
      if (again) { again = false; look(); }
    }
  };
  const events = new EventSource(base + "events");
  events.addEventListener("changed", look);
  events.addEventListener("open", look);

  // Keys, which somebody who speaks to his computer can turn off.
  const kOff = "kruxos-keys-off";
  const off = () => localStorage.getItem(kOff) === "1";
  const button = byId("keys-off");
  const name = () => { button.textContent = off() ? "Turn these keys on" : "Turn these keys off"; };
  if (button) {
    button.hidden = false;
    name();
    button.addEventListener("click", () => { localStorage.setItem(kOff, off() ? "0" : "1"); name(); });
  }
  const go = (by) => {
    const links = [...document.querySelectorAll(".write > a")];
    if (!links.length) return;
    const at = links.indexOf(document.activeElement);
    links[at < 0 ? (by > 0 ? 0 : links.length - 1) : Math.min(links.length - 1, Math.max(0, at + by))].focus();
  };
  const keys = {
    j: () => go(1),
    k: () => go(-1),
    a: () => byId("accept") && byId("accept").focus(),
    r: () => (byId("reason") || byId("cancel") || byId("discard"))?.focus(),
    e: () => {
      const edit = byId("edit");
      if (!edit) return;
      edit.open = true;
      edit.querySelector("textarea").focus();
    },
    u: () => byId("back") && byId("back").click(),
    "?": () => {
      const list = byId("keys");
      list.open = !list.open;
      list.querySelector("summary").focus();
    },
  };
  document.addEventListener("keydown", (event) => {
    if (off() || event.ctrlKey || event.altKey || event.metaKey || event.isComposing) return;
    if (event.target.matches("input, textarea, select")) return;
    const run = keys[event.key];
    if (!run) return;
    event.preventDefault();
    run();
  });
})();
