// The official TypeScript client of the second line, over a transport that the settings name.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { isGone, run } from './session.mjs';

const settings = JSON.parse(process.argv[2]);
const mode = settings.version === '2026-07-28' ? { pin: settings.version } : 'legacy';
const stdio = settings.transport === 'stdio';
let heard = () => {};
let pid = null;
const client = new Client({ name: settings.name, version: '1' }, {
  versionNegotiation: { mode },
  listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => heard() } },
});
const transport = stdio
  ? new StdioClientTransport({ command: settings.kruxos, args: settings.arguments, stderr: 'inherit' })
  : new StreamableHTTPClientTransport(new URL(settings.url), {
      requestInit: { headers: { Authorization: `Bearer ${settings.key}` } },
    });

await run({
  async connect() {
    await client.connect(transport);
    pid = stdio ? transport.pid : null;
    return { name: client.getServerVersion()?.name, version: client.getNegotiatedProtocolVersion() };
  },
  tools: async () => (await client.listTools(undefined, { cacheMode: 'refresh' })).tools,
  call: (name, args) => client.callTool({ name, arguments: args }, { timeout: 60_000 }),
  prompts: async () => (await client.listPrompts()).prompts,
  prompt: (name, args) => client.getPrompt({ name, arguments: args }),
  complete: async (name, argument, value) =>
    (await client.complete({ ref: { type: 'ref/prompt', name }, argument: { name: argument, value } })).completion,
  changed: () => new Promise((done) => (heard = done)),
  close: () => client.close(),
  ended: async () => !stdio || isGone(pid),
}, settings);
