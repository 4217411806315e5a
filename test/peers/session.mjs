// One whole session, the same for each official TypeScript client and transport. What stands in lines of JSON on standard output
// is for sessions.py, which starts this, does what an operator does, and looks afterwards at what the services were asked.
import { createInterface } from 'node:readline';
import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

const tell = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
const answers = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

/** Has an operator do something; resolves when it is done. */
async function operator(action) {
  tell({ operator: action });
  await answers.next();
}

function must(condition, otherwise) {
  if (!condition) throw new Error(typeof otherwise === 'string' ? otherwise : JSON.stringify(otherwise));
}

async function within(milliseconds, promise, otherwise) {
  let timer;
  const late = new Promise((_, reject) => (timer = setTimeout(() => reject(new Error(otherwise)), milliseconds)));
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Schemas of tools/list, as JSON Schema 2020-12 in its strict form: an unknown keyword or format is a failure. */
class Schemas {
  constructor() {
    this.ajv = new Ajv2020({ strict: true, strictTypes: false, allErrors: true });
    addFormats(this.ajv);
    this.outputs = new Map();
  }
  add(tool) {
    must(/^[a-z0-9_]{1,37}$/.test(tool.name), `a tool is called ${tool.name}`);
    this.ajv.compile(tool.inputSchema);
    if (tool.outputSchema) this.outputs.set(tool.name, this.ajv.compile(tool.outputSchema));
  }
  check(tool, result) {
    must(!result.isError, result);
    must(result.structuredContent, `${tool} gives no structuredContent`);
    const validate = this.outputs.get(tool);
    must(validate, `${tool} has no outputSchema`);
    must(validate(result.structuredContent), { tool, errors: validate.errors });
    must(result.content.some((part) => part.type === 'text'), `${tool} gives no text`);
    return result.structuredContent;
  }
}

/**
 * peer: connect() -> {name, version}, tools() and prompts() -> list, call(name, arguments) -> result, prompt(name, arguments),
 * complete(prompt, argument, value) -> the completion, changed() -> a promise of the next
 * notifications/tools/list_changed, close(), and ended(), whether nothing of it is left.
 */
export async function run(peer, settings) {
  const schemas = new Schemas();
  const call = async (tool, args) => schemas.check(tool, await peer.call(tool, args));
  let found;
  let sent;
  let failed = false;
  const check = async (name, body) => {
    if (failed) return tell({ check: name, why: 'not tried, because an earlier step failed' });
    try {
      await within(70_000, body(), 'not answered within 70 seconds');
      tell({ check: name });
    } catch (error) {
      failed = true;
      tell({ check: name, why: String(error?.stack ?? error).split('\n').slice(0, 4).join(' | ') });
    }
  };

  await check('connects', async () => {
    const server = await peer.connect();
    must(server.name === 'kruxos', server);
    must(server.version === settings.version, `${server.version} was negotiated, not ${settings.version}`);
  });
  await check('lists tools whose schemas compile', async () => {
    const tools = await peer.tools();
    tools.forEach((tool) => schemas.add(tool));
    const names = new Set(tools.map((tool) => tool.name));
    must(names.size === tools.length, 'a tool is listed twice');
    ['slack__search', 'slack__send', 'email__send', 'proxy__write_status'].forEach((name) => must(names.has(name), `no ${name}`));
  });
  await check('searches', async () => {
    found = (await call('slack__search', { query: 'release train', channel: settings.channel })).messages;
    must(found.length === 3, found);
  });
  await check('reads', async () => {
    const read = await call('slack__read', { message_id: found[0].id });
    must(read.message.text === found[0].text, read);
  });
  await check('is told why a call fails', async () => {
    const result = await peer.call('slack__read', { message_id: 'C0NOWHERE00/1700000000.000000' });
    must(result.isError === true, result);
    const error = JSON.parse(result.content[0].text);
    must(error.type === 'MessageNotFound' && error.message && error.recovery.length > 0, error);
  });
  await check('is told that there is no such tool', async () => {
    const error = await peer.call('slack__nothing', {}).then(() => null, (reason) => reason);
    must(error?.code === -32602, `${error}`);
  });
  await check('gets a prompt with a value that was offered', async () => {
    const prompts = new Map((await peer.prompts()).map((prompt) => [prompt.name, prompt]));
    ['slack__catch_up', 'email__triage'].forEach((name) => must(prompts.has(name), `no ${name}`));
    const offered = await peer.complete('slack__catch_up', 'channel', settings.channel.slice(0, -1).toUpperCase());
    must(offered.values.includes(settings.channel) && offered.total >= 1 && !offered.hasMore, offered);
    const { messages } = await peer.prompt('slack__catch_up', { channel: settings.channel, since: '"{channel}"' });
    const text = messages[0].content.text;
    must(text.includes(`channel ${settings.channel} since "{channel}"`) && text.includes('slack__search'), text);
    const error = await peer.prompt('slack__nothing', {}).then(() => null, (reason) => reason);
    must(error?.code === -32602, `${error}`);
  });
  await check('sends a message, which waits', async () => {
    sent = await call('slack__send', { channel: settings.channel, text: `From ${settings.name}.` });
    must(sent.status === 'buffered', sent);
    tell({ write: sent.write_id, service: 'slack', times: 1 });
  });
  await check('waits for its end', async () => {
    const status = await call('proxy__write_status', { write_id: sent.write_id, wait_seconds: 50 });
    must(status.status === 'completed', status);
  });
  await check('takes a mail back', async () => {
    const mail = await call('email__send', { to: 'bob@example.com', subject: settings.name, body: 'Never to be sent.' });
    must(mail.status === 'buffered', mail);
    tell({ write: mail.write_id, service: 'gmail', times: 0 });
    await call('proxy__cancel_write', { write_id: mail.write_id });
    const status = await call('proxy__write_status', { write_id: mail.write_id });
    must(status.status === 'cancelled', status);
  });
  await check('hears that the tools have changed', async () => {
    const heard = peer.changed();
    await operator('connect notes');
    await within(20_000, heard, 'nothing was heard');
    must((await peer.tools()).some((tool) => tool.name === 'notes__create'), 'the new tools are not listed');
  });
  await check('closes', async () => {
    await peer.close();
    must(await peer.ended(), 'something of it is left');
  });
  // What the client leaves open would keep this process from ending: the starter waits for its end.
  process.stdin.destroy();
}

/** Whether a program that a client has started is gone, within its usual five seconds. */
export async function isGone(pid) {
  for (let tries = 0; tries < 250; ++tries) {
    try {
      process.kill(pid, 0);
    } catch {
      return true;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return false;
}
