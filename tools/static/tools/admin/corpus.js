// The page of a corpus: files are dropped or chosen, sent a few at a time with a bar that tells how far it is,
// and what the service would refuse for its size is told before it is sent. Without this the form sends itself.
(() => {
  const MOST_FILES = 50;
  const MOST_BYTES = 16 << 20;
  const MOST_TOLD = 20;
  // A service that is busy is asked again as often as this.
  const MOST_TRIES = 30;
  const LOGGED_OUT = "You are logged out. Log in again, then go on.";
  const NOT_ALLOWED = "You may not do this any more, or have logged in again since. Reload the page. What was sent before is kept.";
  const STOPPED = "Stopped. What was sent before is kept.";

  const size = (bytes) => {
    if (bytes < 1 << 20) {
      return `${Math.max(1, Math.round(bytes / 1024))} KB`;
    }
    return `${(bytes / (1 << 20)).toFixed(1)} MB`;
  };
  const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

  // Files in the order they came, as many at a time as one request takes.
  const batches = (files, largest) => {
    const most = Math.min(largest, MOST_BYTES);
    const found = [];
    let room = 0;
    for (const file of files) {
      const last = found[found.length - 1];
      if (!last || last.length === MOST_FILES || file.size > room) {
        found.push([file]);
        room = most - file.size;
      } else {
        last.push(file);
        room -= file.size;
      }
    }
    return found;
  };

  const explained = (request) => {
    if (new URL(request.responseURL).pathname.endsWith("/login/")) {
      throw new Error(LOGGED_OUT);
    }
    let told = null;
    try {
      told = JSON.parse(request.responseText);
    } catch {
      // A page, which says what its status says.
    }
    if (request.status === 200 && told) {
      return told;
    }
    const meant = request.status === 403 ? NOT_ALLOWED : `The service answered with ${request.status}.`;
    const fault = new Error((told && told.error) || meant);
    fault.again = request.status === 503 ? Number(request.getResponseHeader("Retry-After")) || 0 : 0;
    throw fault;
  };

  // fetch does not tell how far an upload is.
  const send = (address, data, progress, started) => new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", address);
    request.setRequestHeader("Accept", "application/json");
    request.upload.addEventListener("progress", (event) => progress(event.loaded / (event.total || 1)));
    request.addEventListener("load", () => {
      try {
        resolve(explained(request));
      } catch (fault) {
        reject(fault);
      }
    });
    request.addEventListener("error", () => reject(new Error("The service cannot be reached. What was sent before is kept.")));
    request.addEventListener("abort", () => reject(new Error(STOPPED)));
    started(request);
    request.send(data);
  });

  const wait = (seconds, started) => new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, 1000 * seconds);
    started({
      abort: () => {
        clearTimeout(timer);
        reject(new Error(STOPPED));
      },
    });
  });

  // A service that has no place for it now says when to ask again.
  const sendPatiently = async (address, data, { progress, started, busy }) => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await send(address, data, progress, started);
      } catch (fault) {
        if (!fault.again || tries === MOST_TRIES) {
          throw fault;
        }
        busy(fault.again);
        await wait(fault.again, started);
      }
    }
  };

  const watch = (form) => {
    const input = form.querySelector("input[type='file']");
    const area = form.querySelector("[data-drop]");
    const note = form.querySelector("[data-upload-note]");
    const bar = form.querySelector("[role='progressbar']");
    const result = form.querySelector("[data-upload-result]");
    const submit = form.querySelector("button[type='submit']");
    const stop = form.querySelector("[data-stop]");
    const largest = Number(form.dataset.upload);
    const token = form.querySelector("[name='csrfmiddlewaretoken']").value;
    let running = null;

    const sendable = () => [...input.files].filter((file) => file.size > 0 && file.size <= largest);
    const refusals = () => [...input.files].filter((file) => !(file.size > 0 && file.size <= largest)).map((file) => ({
      name: file.name,
      reason: file.size === 0
        ? "It is empty, or a folder. Put a folder into a zip archive first."
        : `It has ${size(file.size)}; the largest file has ${size(largest)}.`,
    }));

    const list = (told) => {
      const items = document.createElement("ul");
      for (const one of told.slice(0, MOST_TOLD)) {
        const item = document.createElement("li");
        const name = document.createElement("strong");
        name.textContent = one.name;
        item.append(name, `: ${one.reason}`);
        items.append(item);
      }
      if (told.length > MOST_TOLD) {
        const item = document.createElement("li");
        item.textContent = `… and ${told.length - MOST_TOLD} more`;
        items.append(item);
      }
      return items;
    };
    const tell = (lines, refused) => {
      result.replaceChildren();
      for (const line of lines) {
        const paragraph = document.createElement("p");
        paragraph.textContent = line;
        result.append(paragraph);
      }
      if (refused.length) {
        const lead = document.createElement("p");
        lead.className = "text-red-700 dark:text-red-400";
        lead.textContent = `${plural(refused.length, "file")} not taken:`;
        result.append(lead, list(refused));
      }
    };
    const chosen = () => {
      const files = sendable();
      const total = files.reduce((sum, file) => sum + file.size, 0);
      note.textContent = files.length ? `${plural(files.length, "file")}, ${size(total)}` : "";
      submit.disabled = input.files.length > 0 && files.length === 0;
      tell([], refusals());
    };
    const show = (share) => {
      const percent = Math.round(100 * Math.min(1, share));
      bar.setAttribute("aria-valuenow", String(percent));
      bar.firstElementChild.style.width = `${percent}%`;
    };

    const upload = async () => {
      const files = sendable();
      const total = files.reduce((sum, file) => sum + file.size, 0);
      const outcomes = new Map();
      const refused = refusals();
      const lines = [];
      let bytes = 0;
      let count = 0;
      submit.disabled = true;
      show(0);
      bar.hidden = false;
      stop.hidden = false;
      result.replaceChildren();
      try {
        for (const batch of batches(files, largest)) {
          const data = new FormData();
          data.append("csrfmiddlewaretoken", token);
          batch.forEach((file) => data.append("files", file, file.name));
          const weight = batch.reduce((sum, file) => sum + file.size, 0);
          const told = await sendPatiently(form.action, data, {
            progress(share) {
              show((bytes + share * weight) / total);
              note.textContent = `Sending ${plural(files.length, "file")}: ${size(bytes + share * weight)} of ${size(total)}`;
              if (share >= 1) {
                note.textContent = `Taking in ${count + batch.length} of ${plural(files.length, "file")}`;
              }
            },
            started(request) { running = request; },
            busy(seconds) {
              note.textContent = `The service is busy. Sending goes on in ${seconds} s.`;
            },
          });
          bytes += weight;
          count += batch.length;
          show(bytes / total);
          Object.entries(told.outcomes).forEach(([word, number]) => outcomes.set(word, (outcomes.get(word) || 0) + number));
          refused.push(...told.refused);
        }
      } catch (fault) {
        lines.push(fault.message);
      }
      running = null;
      stop.hidden = true;
      const documents = [...outcomes.values()].reduce((sum, number) => sum + number, 0);
      if (documents) {
        lines.unshift(`${plural(documents, "document")}: ${[...outcomes].map(([word, number]) => `${number} ${word}`).join(", ")}.`);
      }
      const changed = documents - (outcomes.get("unchanged") || 0);
      if (changed && form.querySelector("[name='build']").checked) {
        const data = new FormData();
        data.append("csrfmiddlewaretoken", token);
        try {
          const ways = { progress() {}, started() {}, busy() {} };
          lines.push((await sendPatiently(form.dataset.build, data, ways)).told);
        } catch (fault) {
          lines.push(fault.message);
        }
      }
      input.value = "";
      note.textContent = "";
      bar.hidden = true;
      submit.disabled = false;
      tell(lines, refused);
      document.getElementById("corpus-versions").dispatchEvent(new Event("renew"));
    };

    // The theme's script follows every file input and fails on one that is not its own.
    form.addEventListener("change", (event) => {
      event.stopPropagation();
      if (event.target === input) {
        chosen();
      }
    }, { capture: true });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (sendable().length) {
        upload();
      }
    });
    stop.addEventListener("click", () => running && running.abort());
    for (const name of ["dragenter", "dragover"]) {
      area.addEventListener(name, (event) => {
        event.preventDefault();
        area.classList.add("corpus-drop-over");
      });
    }
    for (const name of ["dragleave", "drop"]) {
      area.addEventListener(name, () => area.classList.remove("corpus-drop-over"));
    }
    area.addEventListener("drop", (event) => {
      event.preventDefault();
      if (!running) {
        input.files = event.dataTransfer.files;
        chosen();
      }
    });
  };

  // A search shows what it found below its box; without this the form leads to a page with the same.
  const search = (form) => {
    const found = document.getElementById(form.dataset.search);
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const address = `${form.action}?${new URLSearchParams(new FormData(form))}&part=1`;
      const note = document.createElement("p");
      note.textContent = "Searching…";
      found.replaceChildren(note);
      try {
        const answer = await fetch(address, { credentials: "same-origin" });
        if (answer.ok && !answer.redirected) {
          found.innerHTML = await answer.text();
        } else if ((answer.headers.get("Content-Type") || "").startsWith("text/plain")) {
          note.textContent = await answer.text();
        } else {
          note.textContent = answer.redirected ? LOGGED_OUT : `The service answered with ${answer.status}.`;
        }
      } catch {
        note.textContent = "The service cannot be reached.";
      }
    });
  };

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("form[data-upload]").forEach(watch);
    document.querySelectorAll("form[data-search]").forEach(search);
  });
})();
