// Tools of the control plane from the TypeScript SDK. Node 22.18 or newer runs this file as it is:
//
//     npm install @modelcontextprotocol/client
//     CONTROL_PLANE_KEY=… node typescript_client.mts
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const url: string = process.env.CONTROL_PLANE_URL ?? "http://127.0.0.1:8000/mcp";
const key: string | undefined = process.env.CONTROL_PLANE_KEY;
const headers: Record<string, string> = key ? { Authorization: `Bearer ${key}` } : {};

const client = new Client({ name: "my-agent", version: "1.0.0" });
await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));

const { tools } = await client.listTools();
const names = tools.slice(0, 8).map((tool) => tool.name);
console.log(`${tools.length} tools: ${names.join(", ")} …`);

const made = await client.callTool({
  name: "create_todo",
  arguments: { title: "Try TypeScript", priority: 3 },
});
console.log("Made:", made.structuredContent);

await client.close();
