"use strict";
// The controls of the cards: search, sort, time, words, and edits that are saved as a list.
// Without this script the page shows all cards, the most important first.
(() => {
  const find = (id) => document.getElementById(id);
  const state = JSON.parse(find("state").textContent);
  const list = find("atoms");
  const cards = [...list.children];
  const byNumber = new Map(cards.map((card) => [Number(card.dataset.number), card]));
  let edits = new Map(); // number of an atom -> what was decided
  document.documentElement.classList.add("js");

  const percent = (share) => `${(100 * share).toPrecision(3)} %`;
  const course = (card) => card.querySelector(".course")?.dataset.course.split(" ").map(Number);
  const edit = (card) => edits.get(Number(card.dataset.number)) ?? {};

  // -- edits

  function change(card, name, value) {
    const number = Number(card.dataset.number);
    const made = { ...edits.get(number), [name]: value };
    for (const key of Object.keys(made)) if (made[key] === "" || made[key] === false) delete made[key];
    if (Object.keys(made).length) edits.set(number, made); else edits.delete(number);
    show(card);
    told(`${edits.size} edited, not saved yet`);
  }

  function show(card) {
    const made = edit(card);
    card.querySelector(".name").textContent = made.name ?? "";
    const input = card.querySelector(".rename");
    if (document.activeElement !== input) input.value = made.name ?? "";
    card.querySelector(".merge").value = made.into ?? "";
    for (const [name, on] of [["accept", made.state === "accepted"],
      ["reject", made.state === "rejected"], ["hide", Boolean(made.hidden)]]) {
      card.querySelector(`.${name}`).setAttribute("aria-pressed", String(on));
    }
    const words = [made.state, made.hidden && "hidden", made.into !== undefined && `in ${made.into}`];
    card.querySelector(".state").textContent = words.filter(Boolean).join(", ");
  }

  function asList() {
    const sorted = [...edits].sort(([a], [b]) => a - b);
    return { ...state.origin, edits: sorted.map(([atom, made]) => ({ atom, ...made })) };
  }

  function take(saved) {
    if (!Array.isArray(saved?.edits)) throw new Error("it holds no edits");
    if (saved.atoms !== state.origin.atoms) throw new Error("it is of a model with other atoms");
    const listed = saved.edits.map(({ atom, ...made }) => [atom, made]);
    edits = new Map(listed.filter(([atom]) => byNumber.has(atom)));
    cards.forEach(show);
    filter();
  }

  function save() {
    const blob = new Blob([JSON.stringify(asList(), null, 1)], { type: "application/json" });
    const link = Object.assign(document.createElement("a"), { download: "edits.json" });
    link.href = URL.createObjectURL(blob);
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    told("saved as edits.json; apply it with: atomstream edit RUN edits.json");
  }

  function merge(card, text) {
    const into = text && Number(text);
    const other = byNumber.get(into);
    if (text === "" || (other && other !== card)) {
      change(card, "into", into);
    } else {
      show(card);
      told(`${text} is no other ${state.noun}`);
    }
  }

  // -- what is shown, and in which order

  function told(text) {
    const n = cards.filter((card) => !card.hidden).length;
    find("told").textContent = `${n} of ${cards.length} shown. ${text}`;
  }

  function textOf(card) {
    const parts = [...card.children].filter((part) => !part.matches(".tools"));
    return parts.map((part) => part.textContent).join(" ").toLowerCase();
  }

  function filter() {
    const words = find("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = find("show").value;
    for (const card of cards) {
      const made = edit(card);
      const text = textOf(card);
      const shown = { "all but hidden": !made.hidden, hidden: made.hidden, all: true,
        undecided: !made.state && !made.hidden }[wanted] ?? made.state === wanted;
      card.hidden = !shown || !words.every((word) => text.includes(word));
    }
    told(edits.size ? `${edits.size} edited` : "");
  }

  function sort() {
    const by = find("sort").value;
    const at = Number(find("time")?.value ?? 0);
    const value = (card) => by === "number" ? -card.dataset.number
      : by === "share at the time" ? course(card)[at] : Number(card.dataset[by] ?? -1);
    const valued = cards.map((card) => [value(card), card]).sort(([a], [b]) => b - a);
    list.append(...valued.map(([, card]) => card));
  }

  function atTime() {
    const at = Number(find("time").value);
    const x = 120 * at / Math.max(state.times.length - 1, 1);
    find("when").textContent = state.times[at];
    for (const card of cards) {
      const line = card.querySelector("line.now");
      line.setAttribute("x1", x);
      line.setAttribute("x2", x);
      line.style.visibility = "visible";
      card.querySelector("p.now").textContent = `share ${percent(course(card)[at])} at ${state.times[at]}`;
      card.querySelectorAll(".look").forEach((look, place, all) =>
        look.toggleAttribute("hidden", all.length > 1 && place !== state.frames[at]));
    }
    if (find("sort").value === "share at the time") sort();
  }

  function words() {
    const weight = Number(find("relevance").value);
    find("how").textContent = String(weight);
    const relevance = (item) => weight * Math.log(item.dataset.share)
      + (1 - weight) * Math.log(item.dataset.lift);
    for (const terms of document.querySelectorAll(".terms")) {
      const items = [...terms.children].sort((a, b) => relevance(b) - relevance(a));
      items.forEach((item, place) => item.classList.toggle("shown", place < 10));
      terms.append(...items);
    }
  }

  // -- linked views: the chosen atom, and wherever a sample uses it

  function choose() {
    const number = location.hash.match(/^#atom-(\d+)$/)?.[1];
    for (const card of cards) card.classList.toggle("chosen", card.dataset.number === number);
    for (const item of document.querySelectorAll(".samples li")) {
      item.classList.toggle("linked", item.dataset.uses.split(" ").includes(number));
    }
    const card = byNumber.get(Number(number));
    if (number === undefined || !card) return;
    card.hidden = false;
    card.querySelector("details")?.setAttribute("open", "");
    const n = document.querySelectorAll(".samples li.linked").length;
    told(`${n} of the samples listed use ${state.noun} ${number}; they are marked`);
  }

  // -- the controls

  for (const card of cards) {
    const on = (name, event, act) => card.querySelector(name).addEventListener(event, act);
    const toggle = (value) => change(card, "state", edit(card).state === value ? "" : value);
    on(".rename", "input", (event) => change(card, "name", event.target.value.trim()));
    on(".accept", "click", () => toggle("accepted"));
    on(".reject", "click", () => toggle("rejected"));
    on(".hide", "click", () => { change(card, "hidden", !edit(card).hidden); filter(); });
    on(".merge", "change", (event) => merge(card, event.target.value));
  }
  find("search").addEventListener("input", filter);
  find("show").addEventListener("change", filter);
  find("sort").addEventListener("change", sort);
  find("time")?.addEventListener("input", atTime);
  find("relevance")?.addEventListener("input", words);
  find("save").addEventListener("click", save);
  find("reset").addEventListener("click", () => take(state.saved));
  find("load").addEventListener("change", async ({ target }) => {
    try {
      take(JSON.parse(await target.files[0].text()));
    } catch (error) {
      told(`This list of edits cannot be read: ${error.message}`);
    }
    target.value = ""; // the same file can be loaded again
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || /INPUT|SELECT/.test(event.target.tagName)) return;
    event.preventDefault();
    find("search").focus();
  });
  addEventListener("hashchange", choose);
  take(state.saved);
  choose();
})();
