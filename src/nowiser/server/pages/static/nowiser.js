// The pages work without this. With it: questions are explained while they are written, drafts outlive a session.
"use strict";

const form = document.querySelector("[data-asking]");
if (form) asking(form);

for (const button of document.querySelectorAll("[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => window.print());
}

for (const box of document.querySelectorAll("[data-copy]")) {
  if (!navigator.clipboard) break;
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(box.textContent.trim());
    button.textContent = "Copied";
  });
  box.after(button);
}

// A job says how far it is; when it is over, the page is drawn anew.
for (const item of document.querySelectorAll("[data-job]")) {
  const told = new EventSource("/api/v1/jobs/" + item.dataset.job + "/events");
  item.querySelector("[data-again]").hidden = true;
  told.addEventListener("progress", (event) => {
    const job = JSON.parse(event.data);
    item.querySelector("progress").value = job.share;
    item.querySelector(".tag").textContent = job.state;
    item.querySelector("[data-said]").textContent = job.message;
  });
  told.addEventListener("over", () => { told.close(); location.reload(); });
  told.addEventListener("error", () => { item.querySelector("[data-again]").hidden = false; });
}

// Drafts stay in this tab only, and go with whoever logs out.
for (const leaving of document.querySelectorAll("[data-forget]"))
  leaving.addEventListener("submit", () => sessionStorage.clear());

function asking(form) {
  const sql = form.elements.sql, mirror = form.querySelector(".mirror");
  const told = document.getElementById("explained");
  const draft = "draft of " + form.dataset.account;
  let timer = 0, latest = 0;

  if (document.querySelector("[data-answered]")) sessionStorage.removeItem(draft);
  else if (!sql.value) sql.value = sessionStorage.getItem(draft) || "";

  const failed = form.querySelector(".failed"), place = form.querySelector("[data-start]");
  if (place) underline(place);
  if (sql.value && !failed && !told.querySelector(".foretold") && !document.querySelector("[data-answered]")) explain();
  grow();

  for (const field of [sql, form.elements.spend, form.elements.error])
    field.addEventListener("input", () => {
      sessionStorage.setItem(draft, sql.value);
      if (failed) failed.remove(); // it was about another text
      clear();
      grow();
      clearTimeout(timer);
      timer = setTimeout(explain, 450);
    });
  sql.addEventListener("scroll", () => { mirror.scrollTop = sql.scrollTop; });
  sql.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      form.requestSubmit(form.querySelector("button.primary"));
    }
  });
  form.addEventListener("submit", () => clearTimeout(timer));

  async function explain() {
    const mine = ++latest;
    const fields = new URLSearchParams(new FormData(form));
    let text = "";
    try {
      const answer = await fetch("/ask/explain", { method: "POST", body: fields });
      text = await answer.text();
      if (answer.status === 403) text = "<p class=\"note\">This page is out of date. Load it again: your question is kept.</p>";
    } catch {
      return; // no connection: what was said last stays
    }
    if (mine !== latest) return; // somebody writes faster than we answer
    told.innerHTML = text; // from our own templates, where everything is escaped
    clear();
    const place = told.querySelector("[data-start]");
    if (place) underline(place);
  }

  function underline(place) {
    const text = Array.from(sql.value); // offsets count characters, not halves of them
    const start = Number(place.dataset.start), end = Math.max(start + 1, Number(place.dataset.end));
    const mark = document.createElement("mark");
    mark.textContent = text.slice(start, end).join("") || " ";
    tell({ from: text.slice(0, start).join("").length, to: text.slice(0, end).join("").length });
    mirror.replaceChildren(text.slice(0, start).join(""), mark, text.slice(end).join(""));
    mirror.scrollTop = sql.scrollTop;
  }

  function clear() { mirror.replaceChildren(); tell(null); }

  function tell(place) { sql.marked = place; sql.dispatchEvent(new Event("marked")); } // to the editor, if there is one

  function grow() { sql.rows = Math.min(24, Math.max(5, sql.value.split("\n").length + 1)); }
}
