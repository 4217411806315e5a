// The official TypeScript client of the first line, over a transport that the settings name.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { WebSocketClientTransport } from '@modelcontextprotocol/sdk/client/websocket.js';
import { isGone, run } from './session.mjs';

const settings = JSON.parse(process.argv[2]);
let heard = () => {};
let closed = false;
let pid = null;
const client = new Client({ name: settings.name, version: '1' }, {
  listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => heard() } },
});
client.onclose = () => (closed = true);

function makeTransport() {
  if (settings.transport === 'stdio')
    return new StdioClientTransport({ command: settings.kruxos, args: settings.arguments, stderr: 'inherit' });
  if (settings.transport === 'websocket')
    return new WebSocketClientTransport(new URL(`${settings.url.replace(/^http/, 'ws')}&token=${settings.key}`));
  return new StreamableHTTPClientTransport(new URL(settings.url), {
    requestInit: { headers: { Authorization: `Bearer ${settings.key}` } },
  });
}
const transport = makeTransport();
// The transports are told the version that was agreed on; the client itself does not show it.
let version = null;
transport.setProtocolVersion = ((inner) => (agreed) => {
  version = agreed;
  inner?.call(transport, agreed);
})(transport.setProtocolVersion);

await run({
  async connect() {
    await client.connect(transport);
    pid = transport.pid ?? null;
    return { name: client.getServerVersion()?.name, version };
  },
  tools: async () => (await client.listTools()).tools,
  call: (name, args) => client.callTool({ name, arguments: args }, undefined, { timeout: 60_000 }),
  prompts: async () => (await client.listPrompts()).prompts,
  prompt: (name, args) => client.getPrompt({ name, arguments: args }),
  complete: async (name, argument, value) =>
    (await client.complete({ ref: { type: 'ref/prompt', name }, argument: { name: argument, value } })).completion,
  changed: () => new Promise((done) => (heard = done)),
  async close() {
    if (settings.transport === 'http') await transport.terminateSession();
    await client.close();
  },
  async ended() {
    for (let tries = 0; tries < 250 && !closed; ++tries) await new Promise((resolve) => setTimeout(resolve, 20));
    return closed && (pid === null || isGone(pid));
  },
}, settings);
