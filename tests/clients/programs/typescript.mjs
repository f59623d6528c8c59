// The TypeScript client, in both eras. Node finds it in the folder that NODE_PACKAGES names.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(`${process.env.NODE_PACKAGES}/`);
const load = async (name) => import(pathToFileURL(require.resolve(name)));
const { Client, SSEClientTransport, StreamableHTTPClientTransport } = await load(
  "@modelcontextprotocol/client",
);
const { StdioClientTransport } = await load("@modelcontextprotocol/client/stdio");

const orders = JSON.parse(process.argv[2]);

function connection(where) {
  if (where === "streamable_http") {
    return new StreamableHTTPClientTransport(new URL(`${orders.url}/mcp`));
  }
  if (where === "sse") return new SSEClientTransport(new URL(`${orders.url}/sse`));
  const { command, args, env } = orders;
  return new StdioClientTransport({ command, args, env, stderr: "ignore" });
}

async function visit(transport) {
  const [where, era] = transport.split(" ");
  const options =
    era === "modern" ? { versionNegotiation: { mode: { pin: "2026-07-28" } } } : {};
  const client = new Client({ name: "typescript", version: "1" }, options);
  const began = performance.now();
  await client.connect(connection(where));
  try {
    let page = await client.listTools();
    const discovered = (performance.now() - began) / 1000;
    const names = page.tools.map((tool) => tool.name);
    let pages = 1;
    while (page.nextCursor) {
      page = await client.listTools({ cursor: page.nextCursor });
      names.push(...page.tools.map((tool) => tool.name));
      pages += 1;
    }
    const call = (name, given) => client.callTool({ name, arguments: given });
    const echo = await call("echo", { word: "héllo" });
    const builtin = await call("server_metrics", {});
    const refused = await call("echo", { fail: "execution" });
    const resource = await client.readResource({ uri: "docs://guide" });
    const prompt = await client.getPrompt({ name: "about", arguments: { topic: "sheep" } });
    return {
      protocol: client.getNegotiatedProtocolVersion?.() ?? null,
      discovery_seconds: discovered,
      pages,
      tools: names,
      echo: echo.structuredContent,
      echo_text: JSON.parse(echo.content[0].text),
      builtin: Object.keys(builtin.structuredContent).sort(),
      refused: refused.isError && refused.structuredContent.error.code,
      resource: resource.contents[0].text,
      prompt: prompt.messages[0].content.text,
    };
  } finally {
    await client.close();
  }
}

for (const transport of orders.transports) {
  let seen;
  try {
    seen = await visit(transport);
  } catch (fault) {
    seen = { error: `${fault.stack ?? fault}` };
  }
  console.log(JSON.stringify({ transport, ...seen }));
}
