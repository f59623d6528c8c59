// Makes a small editor of every text area with data-json-check: line numbers, a check by the service while
// somebody types, the way to each fault, a button that formats. Without this script it is a plain text area.
(() => {
  const PAUSE = 350;
  const INDENT = "  ";
  let count = 0;

  const made = (tag, className, text) => {
    const element = document.createElement(tag);
    element.className = className;
    if (text) {
      element.textContent = text;
    }
    return element;
  };

  // Goes through the browser where it can, so that it can be undone.
  const insert = (area, text) => {
    if (!document.execCommand("insertText", false, text)) {
      area.setRangeText(text, area.selectionStart, area.selectionEnd, "end");
      area.dispatchEvent(new Event("input", { bubbles: true }));
    }
  };

  class Editor {
    constructor(area) {
      this.area = area;
      this.marked = new Set();
      this.lines = 0;
      this.build();
      area.addEventListener("input", () => this.typed());
      area.addEventListener("focus", () => this.check(), { once: true });
      area.addEventListener("scroll", () => { this.gutter.scrollTop = area.scrollTop; });
      area.addEventListener("keydown", (event) => this.pressed(event));
      area.addEventListener("blur", () => { this.leaving = false; });
      this.number();
    }

    build() {
      const { area } = this;
      const root = made("div", "json-editor");
      area.before(root);
      const frame = made("div", "frame");
      this.gutter = made("pre", "gutter");
      this.gutter.setAttribute("aria-hidden", "true");
      frame.append(this.gutter, area);
      area.setAttribute("wrap", "off");
      const bar = made("div", "bar");
      const format = made("button", "format", "Format");
      format.type = "button";
      format.addEventListener("click", () => this.check(true));
      const keys = made("span", "keys", "Tab indents; Escape, then Tab, leaves the field.");
      count += 1;
      keys.id = `json-keys-${count}`;
      bar.append(format, keys);
      this.told = made("div", "told");
      this.told.id = `json-told-${count}`;
      this.told.setAttribute("role", "status");
      this.preview = made("div", "preview");
      root.append(frame, bar, this.told, this.preview);
      const before = area.getAttribute("aria-describedby") || "";
      area.setAttribute("aria-describedby", `${before} ${keys.id} ${this.told.id}`.trim());
    }

    typed() {
      this.number();
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.check(), PAUSE);
    }

    pressed(event) {
      if (event.key === "Escape") {
        this.leaving = true;
      } else if (event.key === "Tab" && !event.shiftKey && !event.ctrlKey && !event.altKey && !this.leaving) {
        event.preventDefault();
        insert(this.area, INDENT);
      } else if (event.key !== "Tab" && event.key !== "Shift") {
        this.leaving = false;
      }
    }

    number() {
      const lines = this.area.value.split("\n").length;
      if (lines === this.lines && !this.stale) {
        return;
      }
      this.lines = lines;
      this.stale = false;
      const numbers = Array.from({ length: lines }, (_, index) => {
        const line = made("span", this.marked.has(index + 1) ? "marked" : "", String(index + 1));
        return line;
      });
      this.gutter.replaceChildren(...numbers);
      this.gutter.scrollTop = this.area.scrollTop;
    }

    async check(format = false) {
      clearTimeout(this.timer);
      this.asked?.abort();
      this.asked = new AbortController();
      const { area } = this;
      const sent = area.value;
      const body = new URLSearchParams({ name: area.dataset.jsonName, text: sent });
      if (format) {
        body.set("format", "yes");
      }
      const token = area.form.querySelector("[name=csrfmiddlewaretoken]").value;
      try {
        const answer = await fetch(area.dataset.jsonCheck, {
          method: "POST",
          credentials: "same-origin",
          headers: { "X-CSRFToken": token },
          body,
          signal: this.asked.signal,
        });
        if (!answer.ok || answer.redirected) {
          throw new Error(String(answer.status));
        }
        this.show(await answer.json(), sent);
      } catch (fault) {
        if (fault.name !== "AbortError") {
          this.told.textContent = "This could not be checked now. It is checked when you save.";
        }
      }
    }

    show(answer, sent) {
      if (answer.formatted && this.area.value === sent && answer.formatted !== sent) {
        this.area.focus();
        this.area.select();
        insert(this.area, answer.formatted);
        this.area.setSelectionRange(0, 0);
        this.check();
        return;
      }
      this.marked = new Set(answer.told.filter((one) => one.grave).map((one) => one.line));
      this.stale = true;
      this.number();
      this.area.setAttribute("aria-invalid", answer.sound ? "false" : "true");
      this.told.replaceChildren(made("p", answer.sound ? "sound" : "fault", this.summary(answer)), this.list(answer.told));
      // Written by the service, which escapes what comes from the schema.
      this.preview.innerHTML = answer.preview;
    }

    summary({ sound, told }) {
      const grave = told.filter((one) => one.grave).length;
      if (!sound) {
        return grave === 0 ? "" : grave === 1 ? "One fault:" : `${grave} faults:`;
      }
      return told.length === 0 ? "This can be saved." : "This can be saved, but look at this:";
    }

    list(told) {
      const list = made("ul", "");
      for (const one of told) {
        const item = made("li", one.grave ? "fault" : "hint");
        if (one.line) {
          const jump = made("button", "jump", `Line ${one.line}, column ${one.column}`);
          jump.type = "button";
          jump.title = one.pointer;
          jump.addEventListener("click", () => this.jump(one));
          item.append(jump, " ");
        }
        item.append(one.message);
        list.append(item);
      }
      return list;
    }

    jump({ line, column }) {
      const lines = this.area.value.split("\n");
      const before = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
      // Columns count characters; positions in a text area count halves of the rarer ones.
      const within = Array.from(lines[line - 1] || "").slice(0, column - 1).join("").length;
      this.area.focus();
      this.area.setSelectionRange(before + within, before + within + 1);
      const height = parseFloat(getComputedStyle(this.area).lineHeight) || 20;
      this.area.scrollTop = Math.max(0, (line - 1) * height - this.area.clientHeight / 2);
    }
  }

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("textarea[data-json-check]").forEach((area) => new Editor(area));
  });
})();
