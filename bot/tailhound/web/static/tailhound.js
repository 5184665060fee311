// Keeps the page up to date. Without this file everything still works: reload to see what is new.
"use strict";
(() => {
  const live = document.getElementById("live");
  const filled = new WeakMap(); // an opened row -> the HTML that was fetched for it
  const old = new WeakSet(); // a filled row of which something may have changed since
  let current = Number(document.body.dataset.revision);
  let wanted = current;
  let loading = false;
  let source = null;
  let lostAt = null;

  const utc = (at) => `${at.toISOString().slice(11, 16)} UTC`;

  function say(text, lost) {
    if (!live) return;
    if (live.textContent !== text) live.textContent = text;
    live.classList.toggle("lost", lost);
  }

  function lost() {
    lostAt ??= new Date();
    say(`Not live since ${utc(lostAt)}, reconnecting`, true);
  }

  // Where a reader looks must not move: what has the focus stays where it is on the screen, else
  // the first thing there, if it is still there afterwards.
  function anchors() {
    const focused = document.activeElement.closest("main [id]");
    return [...(focused ? [focused] : []), ...document.querySelectorAll("main [id]")]
      .map((element) => ({ id: element.id, box: element.getBoundingClientRect() }))
      .filter(({ box }) => box.height > 0 && box.top >= 0 && box.top < window.innerHeight)
      .map(({ id, box }) => ({ id, top: box.top }));
  }

  function put(part, html) {
    const open = new Map([...part.querySelectorAll("details[id]")].map((d) => [d.id, d.open]));
    const rows = [...part.querySelectorAll("details[id] > [data-from]")]
      .filter((inside) => filled.get(inside))
      .map((inside) => [inside.parentElement.id, inside]);
    const focused = part.contains(document.activeElement) ? document.activeElement : null;
    const path = focused && (focused.id || focused.closest("[id]")?.id);
    const kept = part.querySelector("#live");
    const word = part.querySelector("#word");
    part.innerHTML = html;
    for (const [id, was] of rows) {
      // What somebody reads in an opened row stays while it is fetched anew.
      const now = document.getElementById(id)?.querySelector(":scope > [data-from]");
      if (now?.dataset.from === was.dataset.from) now.replaceWith(was);
    }
    offerCopy();
    if (kept) part.querySelector("#live")?.replaceWith(kept);
    const next = word && part.querySelector("#word");
    if (next) {
      // The live region itself stays, so that a screen reader tells the change.
      const said = next.textContent;
      next.replaceWith(word);
      if (word.textContent !== said) word.textContent = said;
    }
    for (const details of part.querySelectorAll("details[id]")) {
      if (open.has(details.id)) details.open = open.get(details.id);
    }
    if (path) {
      const again = document.getElementById(path);
      (again?.matches("a, input, summary") ? again : again?.querySelector("summary, a"))?.focus({
        preventScroll: true,
      });
    }
  }

  function hold(before) {
    const same = before.find(({ id }) => document.getElementById(id));
    if (!same) return;
    window.scrollBy(0, document.getElementById(same.id).getBoundingClientRect().top - same.top);
  }

  function replace(fresh) {
    for (const part of document.querySelectorAll("[data-live]")) {
      const next = fresh.getElementById(part.id);
      if (next.dataset.live === part.dataset.live) continue; // the server left it out
      put(part, next.innerHTML);
      part.className = next.className;
      part.dataset.live = next.dataset.live;
    }
    document.title = fresh.title;
    tick();
  }

  async function page(address, headers = {}) {
    const answer = await fetch(address, { cache: "no-store", headers });
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    return new DOMParser().parseFromString(await answer.text(), "text/html");
  }

  function tellOld(inside, isOld) {
    const told = inside.querySelector(":scope > .stale");
    if (!isOld) told?.remove();
    if (!isOld || told) return;
    const note = document.createElement("p");
    note.className = "note stale";
    note.textContent = `Not read anew at ${utc(new Date())}: what stands here may be old`;
    inside.prepend(note);
  }

  // No digest of the page covers what stands behind its rows: opened ones are fetched anew with
  // every revision, closed ones when they are opened again.
  function refill() {
    for (const inside of document.querySelectorAll("details[id] > [data-from]")) {
      if (!filled.has(inside)) continue;
      old.add(inside);
      if (inside.parentElement.open) fill(inside);
    }
  }

  // What stands behind an address of its own is fetched when its row is opened; the link to it
  // stays when that fails.
  async function fill(inside) {
    const again = old.delete(inside);
    if (filled.has(inside) && !again) return;
    if (!again) filled.set(inside, "");
    try {
      const html = (await page(inside.dataset.from)).getElementById("body").innerHTML;
      tellOld(inside, false);
      if (filled.get(inside) === html) return;
      const before = anchors();
      put(inside, html);
      filled.set(inside, html);
      hold(before);
    } catch {
      if (!again) filled.delete(inside);
      else {
        old.add(inside);
        tellOld(inside, true);
      }
    }
  }

  async function load() {
    if (loading || wanted === current) return;
    if (!getSelection().isCollapsed) {
      setTimeout(load, 2000); // someone is copying: later
      return;
    }
    loading = true;
    const asked = wanted;
    try {
      const structure = (page) => [...page.querySelectorAll("[data-live]")].map((p) => p.id).join();
      const shown = structure(document);
      const have = [...document.querySelectorAll("[data-live]")]
        .map((p) => `${p.id}=${p.dataset.live}`)
        .join(" ");
      let fresh = await page(location.href, { "x-have": have });
      const isOther = structure(fresh) !== shown;
      if (isOther) fresh = await page(location.href);
      const before = window.scrollY > 0 ? anchors() : [];
      if (isOther) {
        const main = document.getElementById("main");
        put(main, fresh.getElementById("main").innerHTML);
        document.title = fresh.title;
      } else {
        replace(fresh);
      }
      hold(before);
      refill();
      current = asked;
    } catch {
      lost();
      setTimeout(load, 3000);
    } finally {
      loading = false;
    }
    if (wanted !== current && asked === current) setTimeout(load, 500);
  }

  function connect() {
    source?.close();
    source = new EventSource("/api/stream");
    source.addEventListener("revision", (event) => {
      lostAt = null;
      say("live", false);
      wanted = Number(event.data);
      load();
    });
    source.addEventListener("full", (event) => {
      source.close();
      source = null;
      say(`Not live: ${event.data}; reload to see what is new`, true);
      setTimeout(() => {
        if (!source && !document.hidden) connect();
      }, 60000);
    });
    source.onerror = () => {
      lost();
      source.close();
      source = null;
      setTimeout(() => {
        if (!source && !document.hidden) connect();
      }, 3000);
    };
  }

  function words(seconds) {
    if (seconds < 1) return "now";
    if (seconds < 120) return `${Math.round(seconds)}\u00a0s ago`;
    const minutes = Math.round(seconds / 60);
    if (minutes < 60) return `${minutes}\u00a0min ago`;
    if (minutes < 2880) {
      const rest = minutes % 60;
      return `${Math.floor(minutes / 60)}\u00a0h${rest ? `\u00a0${rest}\u00a0min` : ""} ago`;
    }
    return null; // days change slowly: what the server wrote stays true
  }

  function tick() {
    for (const time of document.querySelectorAll("time[data-ago]")) {
      const text = words((Date.now() - Date.parse(time.dateTime)) / 1000);
      if (text && time.textContent !== text) time.textContent = text;
    }
  }

  async function reveal() {
    const id = decodeURIComponent(location.hash.slice(1));
    const row = document.getElementById(id.split(".")[0]);
    const behind = row?.querySelector(":scope > [data-from]");
    if (id && behind && !document.getElementById(id)) await fill(behind); // a claim of that row
    const target = id && (document.getElementById(id) ?? (behind && row));
    if (!target) return;
    for (let up = target; up; up = up.parentElement) if (up.matches("details")) up.open = true;
    target.scrollIntoView();
  }

  function step(by) {
    const wanted = ".list .cause a, #causes summary, .runbook .rows summary";
    const links = [...document.querySelectorAll(wanted)].filter((link) => link.checkVisibility());
    const at = links.indexOf(document.activeElement);
    links[Math.min(Math.max(at + by, 0), links.length - 1)]?.focus();
  }

  // Copying needs a script, so the script brings the button.
  function offerCopy() {
    if (!navigator.clipboard) return;
    for (const block of document.querySelectorAll("pre.question")) {
      copyButton(block, "Copy", async () => block.textContent);
    }
    for (const link of document.querySelectorAll("a[data-copy]")) {
      copyButton(link, `Copy ${link.textContent}`, async () => (await fetch(link.href)).text());
    }
  }

  function copyButton(beside, label, text) {
    if (beside.nextElementSibling?.matches(".copy")) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = label;
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(await text());
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(beside);
        button.textContent = "Selected";
      }
      setTimeout(() => (button.textContent = label), 2000);
    });
    beside.after(button);
  }

  function help() {
    const keys = document.getElementById("keys");
    if (!keys) return;
    keys.open = !keys.open;
    if (keys.open) keys.querySelector("summary").focus();
  }

  document.addEventListener(
    "toggle",
    (event) => {
      const inside = event.target.open && event.target.querySelector(":scope > [data-from]");
      if (inside) fill(inside);
    },
    true,
  );
  document.addEventListener("change", (event) => {
    if (event.target.matches(".filters select")) event.target.form.requestSubmit();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && event.target.matches("#search")) event.target.blur();
    if (event.target.matches("input, select") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "?") help();
    if (event.key === "/") {
      const search = document.getElementById("search");
      if (search) {
        event.preventDefault();
        search.focus();
      }
    }
    if (event.key === "j") step(1);
    if (event.key === "k") step(-1);
  });
  document.addEventListener("visibilitychange", () => {
    if (!live) return;
    if (document.hidden) {
      source?.close();
      source = null;
    } else if (!source) {
      connect();
    }
  });
  window.addEventListener("hashchange", reveal);

  // On a phone filters that filter nothing leave the room to the list.
  const idle = document.querySelector("#filters[data-idle]");
  if (idle && matchMedia("(max-width: 48rem)").matches) idle.open = false;

  offerCopy();
  reveal();
  tick();
  setInterval(tick, 10000);
  if (live && !Number.isNaN(current)) connect();
})();
