// What bench-peers compares the host with: an MCP server of the official SDK over better-sqlite3, in its model with sessions,
// which is the faster one. server.mjs DATABASE prints "ready PORT". The database has the table messages and its index found,
// FTS5 over three letters, in the order of time.
import http from 'node:http';
import { randomUUID } from 'node:crypto';
import Database from 'better-sqlite3';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';

const database = new Database(process.argv[2], { readonly: true });
database.pragma('mmap_size = 8589934592');
database.pragma('cache_size = -65536');
// The newest page, and how many there are as far as a page's reader cares: as the host answers.
const page = database.prepare(`SELECT m.* FROM (SELECT rowid AS r FROM found WHERE found MATCH ? ORDER BY rowid DESC LIMIT 20)
  CROSS JOIN messages m ON m.rowid = r`);
const count = database.prepare('SELECT count(*) AS n FROM (SELECT 1 FROM found WHERE found MATCH ? ORDER BY rowid DESC LIMIT 1001)');

function search({ query }) {
  const phrase = `"${query.replaceAll('"', '""')}"`;
  const total = count.get(phrase).n;
  const result = { messages: page.all(phrase), total: Math.min(total, 1000), total_is_lower_bound: total > 1000 };
  return { content: [{ type: 'text', text: JSON.stringify(result) }], structuredContent: result };
}

async function open() {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: true,
    onsessioninitialized: (id) => sessions.set(id, transport),
  });
  const server = new McpServer({ name: 'messages', version: '1.0.0' });
  server.registerTool('search', { description: 'Search the messages.', inputSchema: { query: z.string() } }, async (input) => search(input));
  await server.connect(transport);
  return transport;
}

const sessions = new Map();
const listener = http.createServer(async (request, response) => {
  let body = '';
  for await (const part of request.setEncoding('utf8')) body += part;
  const transport = sessions.get(request.headers['mcp-session-id']) ?? (await open());
  await transport.handleRequest(request, response, JSON.parse(body));
});
listener.keepAliveTimeout = 0;  // a client that pauses between its rounds keeps its connection, as the host's do
listener.listen(0, '127.0.0.1', () => console.log(`ready ${listener.address().port}`));
