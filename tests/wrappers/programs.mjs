// Calls tools through a generated module: node programs.mjs MODULE CLASS '{"calls": …, "codes": …, "retries": …, "refused": …}'
import { pathToFileURL } from "node:url";

const [file, name, orders] = process.argv.slice(2);
const { calls, codes, retries, refused = {} } = JSON.parse(orders);
const module = await import(pathToFileURL(file).href);
const Client = module[`${name}Client`];
const Failure = module[`${name}Error`];

async function outcome(work) {
  try {
    return { data: await work() };
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    const { code, status, requestId, retryAfter, message } = failure;
    return { code, status, requestId, retryAfter, message };
  }
}

const once = new Client({ retry: false });
const seen = { calls: {}, codes: {}, retries: {}, refused: {} };
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
      timeouts.push(init.method);
      const [status, body, headers] = left.shift();
      return new Response(JSON.stringify(body), { status, headers });
    },
  });
  const found = await outcome(() => client.call("x", {}));
  seen.retries[label] = { waits, tries: timeouts.length, ...found };
}
for (const [label, options] of Object.entries(refused)) {
  const waits = [];
  const client = new Client({ ...options, sleep: async (seconds) => void waits.push(seconds) });
  seen.refused[label] = { waits, ...(await outcome(() => client.call("x", {}))) };
}
console.log(JSON.stringify(seen));
