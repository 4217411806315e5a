// The operator's page in chromium, over its DevTools protocol: what a person sees, by keys, and without a script.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { createRequire } from "node:module";

const settings = JSON.parse(process.argv[2]);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const tell = (object) => process.stdout.write(JSON.stringify(object) + "\n");
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const kPatience = 20000;

const arguments_ = ["--headless=new", "--remote-debugging-pipe", `--user-data-dir=${settings.profile}`, "--no-first-run",
  "--disable-gpu", "--disable-dev-shm-usage", "about:blank"];
if (process.getuid() === 0) arguments_.unshift("--no-sandbox");
const browser = spawn("chromium", arguments_, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });

// Messages end with a NUL, one pipe each way.
let number = 0, rest = "";
const answers = new Map(), waiting = [];
browser.stdio[4].setEncoding("utf8");
browser.stdio[4].on("data", (text) => {
  rest += text;
  for (let end; (end = rest.indexOf("\0")) >= 0; rest = rest.slice(end + 1)) {
    const message = JSON.parse(rest.slice(0, end));
    if (message.id) {
      const { resolve, reject } = answers.get(message.id);
      answers.delete(message.id);
      message.error ? reject(new Error(message.error.message)) : resolve(message.result);
    } else {
      for (const one of [...waiting]) if (one.method === message.method) {
        waiting.splice(waiting.indexOf(one), 1);
        one.resolve(message.params);
      }
    }
  }
});
let session;
const ask = (method, params = {}) => new Promise((resolve, reject) => {
  answers.set(++number, { resolve, reject });
  browser.stdio[3].write(JSON.stringify({ id: number, method, params, sessionId: session }) + "\0");
});
const event = (method) => new Promise((resolve, reject) => {
  const timer = setTimeout(() => reject(new Error(`no ${method} came`)), kPatience);
  waiting.push({ method, resolve: (params) => { clearTimeout(timer); resolve(params); } });
});

const value = async (expression) => {
  const { result, exceptionDetails } = await ask("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  return result.value;
};
const until = async (expression) => {
  for (const end = Date.now() + kPatience; Date.now() < end;) {
    if (await value(expression).catch(() => false)) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`it did not come to this: ${expression}`);
};
const loaded = async (act) => {
  const load = event("Page.loadEventFired");
  await act();
  await load;
};
const open = (url) => loaded(() => ask("Page.navigate", { url }));
const kCodes = { Enter: { windowsVirtualKeyCode: 13, text: "\r" }, Tab: { windowsVirtualKeyCode: 9 } };
const press = async (key) => {
  const extra = kCodes[key] ?? { text: key };
  await ask("Input.dispatchKeyEvent", { type: "keyDown", key, ...extra });
  await ask("Input.dispatchKeyEvent", { type: "keyUp", key, ...extra });
};
const type = (text) => ask("Input.insertText", { text });
const click = async (selector) => {
  const at = await value(`(() => { const e = document.querySelector(${JSON.stringify(selector)}); e.scrollIntoView(); const r =
    e.getBoundingClientRect(); return { x: r.x + r.width / 2, y: r.y + r.height / 2 }; })()`);
  for (const kind of ["mousePressed", "mouseReleased"])
    await ask("Input.dispatchMouseEvent", { type: kind, ...at, button: "left", clickCount: 1 });
};
const check = (condition, why) => { if (!condition) throw new Error(why); };
const step = async (name, act) => {
  try {
    await act();
    tell({ name });
  } catch (error) {
    tell({ name, why: error.message });
  }
};

const looks = [[320, "light"], [320, "dark"], [1280, "light"], [1280, "dark"]];
const axeOn = async (name) => {
  for (const [width, scheme] of looks) {
    await ask("Emulation.setDeviceMetricsOverride", { width, height: 900, deviceScaleFactor: 1, mobile: width < 600 });
    await ask("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
    await step(`${name} at ${width} px, ${scheme}: axe-core finds nothing, and nothing stands beside the page`, async () => {
      await ask("Runtime.evaluate", { expression: axe });
      const found = await value("axe.run(document, { resultTypes: ['violations'] }).then(r => r.violations.map(v => v.id + ' ' + v.nodes.map(n => n.target).join(', ')))");
      check(found.length === 0, found.join("; "));
      const over = await value("document.documentElement.scrollWidth - window.innerWidth");
      check(over <= 0, `it is ${over} px too wide`);
      const small = await value("[...document.querySelectorAll('button, summary, input:not([type=hidden]), textarea')].filter(e => e.offsetParent && e.getBoundingClientRect().height < 24).length");
      check(small === 0, `${small} targets are too small`);
    });
  }
};
const signIn = async () => {
  await open(settings.url);
  await value("document.getElementById('passphrase').focus()");
  await type(settings.passphrase);
  await loaded(() => press("Enter"));
};

await ask("Target.setDiscoverTargets", { discover: true });
const { targetId } = await ask("Target.createTarget", { url: "about:blank" });
session = (await ask("Target.attachToTarget", { targetId, flatten: true })).sessionId;
await ask("Page.enable");
await ask("Runtime.enable");

await open(settings.url);
await axeOn("sign-in");
await step("signs in", async () => {
  await signIn();
  check((await value("location.pathname")).startsWith("/s/"), `it did not lead to the list: ${await value("document.querySelector('main').textContent")}`);
});
const list = await value("location.href");
await axeOn("the list");
await step("the list hears of a new write by itself", async () => {
  const before = await value("document.querySelectorAll('#live .write').length");
  tell({ send: "live" });
  await lines.next();
  await until(`document.querySelectorAll('#live .write').length > ${before}`);
});
await open(`${list}writes/${settings.ids.axe}`);
await axeOn("one write");
await step("a hostile text is text", async () => {
  check(await value("document.querySelectorAll('main b').length") === 0, "its markup is markup");
  check(!(await value("document.querySelector('#what ~ dl').textContent")).includes("\u202e"), "its override is there");
});
await step("a tab that somebody else has led to a write stays at the form, whoever is signed in elsewhere", async () => {
  const mine = session;
  session = undefined;
  const { targetId: other } = await ask("Target.createTarget", { url: `${settings.url}writes/${settings.ids.axe}` });
  session = (await ask("Target.attachToTarget", { targetId: other, flatten: true })).sessionId;
  try {
    await until("document.readyState === 'complete' && !!document.getElementById('passphrase')");
    await value("document.activeElement.blur()");
    await press("a");
    await press("Enter");
    check((await value("location.pathname")) === `/writes/${settings.ids.axe}` && !(await value("!!document.getElementById('accept')")),
      `it went to ${await value("location.pathname")}`);
  } finally {
    session = undefined;
    await ask("Target.closeTarget", { targetId: other });
    session = mine;
    await ask("Page.bringToFront");
  }
});
await step("keys open the form, and the list of keys", async () => {
  await press("e");
  await until("document.getElementById('edit').open && document.activeElement.tagName === 'TEXTAREA'");
  await value("document.activeElement.blur()");
  await press("?");
  await until("document.getElementById('keys').open");
});
await axeOn("one write with its form open");
await step("by keys alone a write is found and accepted", async () => {
  await open(list);
  for (let i = 0; i < 10 && !(await value("document.activeElement.href ?? ''")).includes(settings.ids.keys); ++i) await press("j");
  check((await value("document.activeElement.href ?? ''")).includes(settings.ids.keys), "j does not come to it");
  await press("k");
  await press("j");
  await loaded(() => press("Enter"));
  await press("a");
  check(await value("document.activeElement.id") === "accept", "a does not go to Accept");
  await loaded(() => press("Enter"));
  check((await value("document.querySelector('.notice').textContent")).includes("keys"), "it does not say what was done");
});
await step("without a script a write is found and rejected", async () => {
  await ask("Emulation.setScriptExecutionDisabled", { value: true });
  await signIn();
  await loaded(() => click(`a[href*="${settings.ids.plain}"]`));
  await click("#reason");
  await type("not now");
  await loaded(() => click("#reject"));
  check((await value("document.querySelector('.notice').textContent")).includes("is rejected"), "it does not say so");
  await ask("Emulation.setScriptExecutionDisabled", { value: false });
});
await step("after signing out the page asks for the passphrase", async () => {
  const mine = await value("location.href");
  await loaded(() => click("header button"));
  check(await value("!!document.getElementById('passphrase')"), "it does not");
  await open(mine);
  check(await value("!!document.getElementById('passphrase')"), "the old address goes on");
  await open(`${settings.url}writes/${settings.ids.axe}`);
  check(await value("!!document.getElementById('passphrase')"), "one write is shown without it");
});
await ask("Browser.close").catch(() => {});
process.exit(0);
