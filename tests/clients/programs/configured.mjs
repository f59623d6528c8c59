// Calls a tool as a program of Node does that is given an address and headers: node configured.mjs URL HEADERS TOOL
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(join(process.env.NODE_PACKAGES, "configured.mjs"));
const { Client, StreamableHTTPClientTransport } = await import(
  pathToFileURL(require.resolve("@modelcontextprotocol/client")).href
);
const [url, headers, tool] = process.argv.slice(2);
const requestInit = { headers: JSON.parse(headers) };
const client = new Client({ name: "configured", version: "1.0.0" });
await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
const { isError = false } = await client.callTool({ name: tool, arguments: {} });
console.log(JSON.stringify({ failed: isError }));
await client.close();
