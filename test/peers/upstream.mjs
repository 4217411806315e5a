// An MCP server made with the official TypeScript SDK, over HTTP at the port of its argument; without sessions.
import { createServer } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";

const done = [];
const said = (text) => ({ content: [{ type: "text", text }] });

const make = () => {
  const server = new McpServer({ name: "shop", version: "1.0.0" });
  const reads = { readOnlyHint: true };
  server.registerTool("addUp", { description: "Add two numbers.", annotations: reads, outputSchema: { result: z.number() },
    inputSchema: { first: z.number(), second: z.number().default(1.5), mode: z.enum(["plain", "loud"]).optional() } },
  ({ first, second }) => ({ ...said(String(first + second)), structuredContent: { result: first + second } }));
  server.registerTool("order", { description: "Order an item.",
    inputSchema: { item: z.object({ name: z.string(), count: z.number().int() }), note: z.string().optional() } },
  ({ item }) => { done.push(`${item.count} ${item.name}`); return said(`ordered ${item.name}`); });
  server.registerTool("orders", { description: "All orders.", annotations: reads, outputSchema: { result: z.array(z.string()) }, inputSchema: {} },
    () => ({ ...said(done.join(", ")), structuredContent: { result: done } }));
  server.registerTool("boom", { description: "Always fails.", annotations: reads, inputSchema: {} }, () => { throw new Error("no such thing"); });
  return server;
};

createServer(async (request, response) => {
  if (request.method !== "POST") return response.writeHead(405).end();
  let body = "";
  for await (const part of request) body += part;
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
  response.on("close", () => transport.close());
  await make().connect(transport);
  await transport.handleRequest(request, response, JSON.parse(body));
}).listen(Number(process.argv[2]), "127.0.0.1");
