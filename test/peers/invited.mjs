// An official TypeScript client of either line that shows addresses to its user: invitations.py starts this, and is the user.
// It sends a message that waits for a person, waits for its end, and tells what it was asked to show and what it heard.
const settings = JSON.parse(process.argv[2]);
const tell = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
const capabilities = { elicitation: { url: {} } };
const information = { name: settings.name, version: '1' };
const show = async ({ params }) => {
  tell({ shows: params });
  return { action: 'accept' };
};
const hear = async ({ params }) => tell({ complete: params.elicitationId });

async function first() {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
  const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
  const { ElicitRequestSchema, ElicitationCompleteNotificationSchema } = await import('@modelcontextprotocol/sdk/types.js');
  const client = new Client(information, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, show);
  client.setNotificationHandler(ElicitationCompleteNotificationSchema, hear);
  const call = (name, args) => client.callTool({ name, arguments: args }, undefined, { timeout: 60_000 });
  return { client, call, StdioClientTransport, StreamableHTTPClientTransport };
}

async function second() {
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  const stateless = settings.version === '2026-07-28';
  const client = new Client(information, {
    capabilities,
    versionNegotiation: { mode: stateless ? { pin: settings.version } : 'legacy' },
  });
  client.setRequestHandler('elicitation/create', show);
  if (!stateless) client.setNotificationHandler('notifications/elicitation/complete', hear);
  const call = (name, args) => client.callTool({ name, arguments: args }, { timeout: 60_000 });
  return { client, call, StdioClientTransport, StreamableHTTPClientTransport };
}

const peer = await (settings.line === 1 ? first() : second());
await peer.client.connect(settings.transport === 'stdio'
  ? new peer.StdioClientTransport({ command: settings.kruxos, args: settings.arguments, stderr: 'inherit' })
  : new peer.StreamableHTTPClientTransport(new URL(settings.url), {
      requestInit: { headers: { Authorization: `Bearer ${settings.key}` } },
    }));
const sent = await peer.call('slack__send', { channel: 'general', text: `From ${settings.name}.` });
const write = JSON.parse(sent.content[0].text);
tell({ write: write.context.write_id, error: write.type });
const end = await peer.call('proxy__write_status', { write_id: write.context.write_id, wait_seconds: 50 });
tell({ end: end.structuredContent?.status ?? end });
await peer.client.close();
