// Calls tools through a generated module: node programs.mjs MODULE CLASS '{"calls": …, "codes": …, "retries": …, "refused": …}'
// or, with the same in a file, node programs.mjs MODULE CLASS @FILE
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [file, name, orders] = process.argv.slice(2);
const written = orders.startsWith("@") ? readFileSync(orders.slice(1), "utf8") : orders;
const { calls, codes, retries, refused = {} } = JSON.parse(written);
const module = await import(pathToFileURL(file).href);
const Client = module[`${name}Client`];
const Failure = module[`${name}Error`];

async function outcome(work) {
  try {
    return { data: await work() };
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    const { code, status, requestId, retryAfter, message, envelope } = failure;
    return { code, status, requestId, retryAfter, message, envelope };
  }
}

const once = new Client({ retry: false });
// What JavaScript does with every object, whatever tools are called.
const used = { awaited: (await (async () => once)()) === once, shown: `${once}`, json: JSON.stringify({ once }) };
const seen = { used, calls: {}, codes: {}, retries: {}, refused: {} };

// How long an attempt may take is seen in its signal alone.
const limits = new WeakMap();
const { timeout: timed } = AbortSignal;
AbortSignal.timeout = (milliseconds) => {
  const signal = timed.call(AbortSignal, milliseconds);
  limits.set(signal, milliseconds / 1000);
  return signal;
};
for (const [tool, args] of Object.entries(calls)) seen.calls[tool] = await outcome(() => once[tool](args));
for (const [code, [tool, args]] of Object.entries(codes)) seen.codes[code] = await outcome(() => once[tool](args));
for (const [label, answers] of Object.entries(retries)) {
  const waits = [];
  const timeouts = [];
  const left = [...answers];
  const client = new Client({
    timeout: 10,
    sleep: async (seconds) => void waits.push(seconds),
    fetch: async (_url, init) => {
      timeouts.push(limits.get(init.signal));
      const [status, body, headers] = left.shift();
      return new Response(JSON.stringify(body), { status, headers });
    },
  });
  const found = await outcome(() => client.call("x", {}));
  seen.retries[label] = { waits, timeouts, ...found };
}
for (const [label, options] of Object.entries(refused)) {
  const waits = [];
  const client = new Client({ ...options, sleep: async (seconds) => void waits.push(seconds) });
  seen.refused[label] = { waits, ...(await outcome(() => client.call("x", {}))) };
}
console.log(JSON.stringify(seen));
