// CodeMirror over the SQL box. The text area keeps the text: it is what the form sends and what nowiser.js watches.
// In a shadow root its style needs no leave of the Content-Security-Policy.
import { autocompletion, completionKeymap, closeBrackets, closeBracketsKeymap, ifNotIn } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { PostgreSQL } from "@codemirror/lang-sql";
import { HighlightStyle, bracketMatching, syntaxHighlighting } from "@codemirror/language";
import { EditorState, StateEffect, StateField } from "@codemirror/state";
import { Decoration, EditorView, drawSelection, keymap, placeholder } from "@codemirror/view";
import { tags } from "@lezer/highlight";

function dress(area) {
  const form = area.form, label = area.labels[0];
  const host = document.createElement("div");
  const root = host.attachShadow({ mode: "open" });
  const mark = StateEffect.define();
  const marked = StateField.define({
    create: () => Decoration.none,
    update(found, change) {
      for (const effect of change.effects) if (effect.is(mark)) return effect.value;
      return change.docChanged ? Decoration.none : found;
    },
    provide: (field) => EditorView.decorations.from(field),
  });
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: area.value,
      extensions: [
        keymap.of([
          { key: "Mod-Enter", run: () => { form.requestSubmit(form.querySelector("button.primary")); return true; } },
          ...closeBracketsKeymap, ...completionKeymap, ...defaultKeymap, ...historyKeymap,
        ]),
        history(), drawSelection(), bracketMatching(), closeBrackets(), PostgreSQL.extension,
        autocompletion({ icons: false, override: [ifNotIn(TEXTS, offered(JSON.parse(form.dataset.tables)))] }),
        syntaxHighlighting(COLOURS), LOOK, EditorView.lineWrapping, placeholder(area.placeholder), marked,
        EditorView.contentAttributes.of({ "aria-label": label.textContent, "aria-multiline": "true" }),
        EditorView.updateListener.of((update) => {
          if (!update.docChanged) return;
          area.value = update.state.doc.toString();
          area.dispatchEvent(new Event("input"));
        }),
      ],
    }),
  });
  area.addEventListener("marked", show);
  label.addEventListener("click", () => view.focus());
  area.hidden = true;
  area.required = false; // a hidden field cannot be pointed at
  area.closest(".box").append(host);
  show();

  function show() {
    const place = area.marked, length = view.state.doc.length;
    const from = place ? Math.min(place.from, Math.max(0, length - 1)) : 0, to = place ? Math.min(place.to, length) : 0;
    const found = from < to ? Decoration.set(Decoration.mark({ class: "wrong" }).range(from, to)) : Decoration.none;
    view.dispatch({ effects: mark.of(found) });
  }
}

// Words of the language, tables and columns; after a dot those of its table. Nothing where a whole word stands: Enter
// then begins a line.
function offered(tables) {
  const columns = [...new Set(Object.values(tables).flat())];
  return (context) => {
    const typed = context.matchBefore(/(\w+\.)?\w*/), dot = typed.text.indexOf(".");
    const word = typed.text.slice(dot + 1);
    const names = dot < 0 ? [...columns, ...Object.keys(tables), ...WORDS] : tables[typed.text.slice(0, dot)] || columns;
    if (!word && dot < 0 && !context.explicit) return null;
    if (names.some((name) => name.toLowerCase() === word.toLowerCase())) return null;
    const spelled = names.map((name) => /^[a-z_]\w*$/i.test(name) ? name : `"${name.replaceAll('"', '""')}"`);
    return { from: typed.from + dot + 1, options: spelled.map((label) => ({ label })) };
  };
}

const TEXTS = ["String", "LineComment", "BlockComment", "QuotedIdentifier"];
const WORDS = (
  "SELECT FROM WHERE GROUP BY HAVING ORDER LIMIT AS AND OR NOT IN BETWEEN LIKE IS NULL CASE WHEN THEN ELSE END " +
  "WITH JOIN ON DESC DISTINCT COUNT SUM AVG MEDIAN MIN MAX"
).split(" ");

const COLOURS = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword], color: "var(--blue)", fontWeight: "600" },
  { tag: [tags.string, tags.number, tags.bool, tags.null], color: "var(--red-text)" },
  { tag: tags.comment, color: "var(--quiet)", fontStyle: "italic" },
]);

const LOOK = EditorView.theme({
  "&": { background: "var(--field)", color: "var(--ink)", border: "1px solid var(--edge)", borderRadius: "6px", fontSize: ".97rem" },
  "&.cm-focused": { outline: "3px solid var(--blue)", outlineOffset: "2px" },
  ".cm-scroller": { fontFamily: "var(--code)", lineHeight: "1.55", maxHeight: "36rem" },
  ".cm-content": { padding: ".8rem 1rem", minHeight: "7.5rem", caretColor: "var(--ink)" },
  ".cm-line": { padding: "0" },
  ".cm-placeholder": { color: "var(--quiet)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": { background: "var(--room)" },
  "&.cm-focused .cm-matchingBracket": { background: "var(--room)" },
  ".wrong": { textDecoration: "underline wavy var(--red) 2px", textUnderlineOffset: "3px", textDecorationSkipInk: "none" },
  ".cm-tooltip": { background: "var(--page)", color: "var(--ink)", border: "1px solid var(--edge)", borderRadius: "6px" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { background: "var(--blue)", color: "var(--on-blue)" },
  ".cm-tooltip-autocomplete > ul": { fontFamily: "var(--code)" },
  ".cm-completionDetail": { color: "inherit" },
});

dress(document.getElementById("sql"));
