// The activation of the extension against mocked modules of the editor.

"use strict";

const assert = require("node:assert");
const { spawn } = require("node:child_process");
const Module = require("node:module");
const path = require("node:path");
const test = require("node:test");

/** Returns a mocked editor, and the record of its calls. */
function mockedEditor(settings = {}) {
  const seen = { commands: {}, clients: [], errors: [], descriptors: {}, providers: {}, started: [], listeners: [] };
  const disposable = { dispose() {} };
  class LanguageClient {
    constructor(id, name, server, options) {
      Object.assign(this, { id, name, server, options, running: false, requests: [] });
      this.code2ProtocolConverter = { asUri: (uri) => `file://${uri.fsPath}` };
      seen.clients.push(this);
    }
    async start() {
      if (settings["spillway.path"] === "missing") {
        throw new Error("spawn missing ENOENT");
      }
      this.running = true;
    }
    async stop() {
      this.running = false;
    }
    isRunning() {
      return this.running;
    }
    async sendRequest(method, params) {
      this.requests.push({ method, params });
      return { verdict: "verified" };
    }
  }
  const vscode = {
    workspace: {
      getConfiguration: (section) => ({ get: (key, fallback) => settings[`${section}.${key}`] ?? fallback }),
      getWorkspaceFolder: () => undefined,
      onDidChangeConfiguration: (listener) => (seen.listeners.push(listener), disposable),
    },
    window: {
      activeTextEditor: undefined,
      showErrorMessage: (message) => void seen.errors.push(message),
      showInformationMessage: (message) => void seen.errors.push(message),
    },
    commands: { registerCommand: (name, run) => ((seen.commands[name] = run), disposable) },
    debug: {
      registerDebugConfigurationProvider: (type, it) => ((seen.providers[type] = it), disposable),
      registerDebugAdapterDescriptorFactory: (type, it) => ((seen.descriptors[type] = it), disposable),
      startDebugging: async (folder, configuration) => void seen.started.push(configuration),
    },
    DebugAdapterExecutable: class {
      constructor(command, args) {
        Object.assign(this, { command, args });
      }
    },
  };
  const modules = {
    vscode,
    "vscode-languageclient/node": { LanguageClient, TransportKind: { stdio: 0 } },
  };
  return { seen, vscode, modules };
}

/** Loads the extension with mocked modules in place of the editor's. */
function loadExtension(modules) {
  const file = require.resolve("../src/extension.js");
  delete require.cache[file];
  const load = Module._load;
  Module._load = (name, ...rest) => modules[name] ?? load(name, ...rest);
  try {
    return require(file);
  } finally {
    Module._load = load;
  }
}

test("activation starts the language server and registers the debugger", async () => {
  const { seen, modules } = mockedEditor({ "spillway.path": "/bin/spillway", "spillway.check.maxTime": "5s" });
  const extension = loadExtension(modules);
  const context = { subscriptions: [] };
  await extension.activate(context);
  assert.strictEqual(seen.clients.length, 1);
  const [client] = seen.clients;
  assert.strictEqual(client.server.command, "/bin/spillway");
  assert.deepStrictEqual(client.server.args, ["lsp", "--max-time", "5s", "--memory", "512MiB"]);
  const languages = client.options.documentSelector.map((it) => it.language);
  assert.deepStrictEqual(languages, ["promela", "murphi", "dve", "pnml", "tlaplus"]);
  const adapter = seen.descriptors.spillway.createDebugAdapterDescriptor();
  assert.deepStrictEqual([adapter.command, adapter.args[0]], ["/bin/spillway", "dap"]);
  assert.strictEqual(context.subscriptions.length, 6);
  // A changed setting restarts the server.
  await seen.listeners[0]({ affectsConfiguration: (section) => section === "spillway" });
  assert.strictEqual(seen.clients.length, 2);
  assert.deepStrictEqual([client.running, seen.clients[1].running], [false, true]);
  await extension.deactivate();
  assert.strictEqual(seen.clients[1].running, false);
});

test("every command of the manifest is registered", async () => {
  const { seen, modules } = mockedEditor();
  await loadExtension(modules).activate({ subscriptions: [] });
  const manifest = require("../package.json");
  const named = manifest.contributes.commands.map((it) => it.command).sort();
  assert.deepStrictEqual(Object.keys(seen.commands).sort(), named);
});

test("commands check and debug the active model", async () => {
  const { seen, vscode, modules } = mockedEditor();
  await loadExtension(modules).activate({ subscriptions: [] });
  await seen.commands["spillway.checkModel"]();
  assert.deepStrictEqual(seen.errors, ["Open a model first."]);
  vscode.window.activeTextEditor = { document: { uri: { fsPath: "/m/a.pml" }, languageId: "promela" } };
  await seen.commands["spillway.checkModel"]();
  assert.deepStrictEqual(seen.clients[0].requests, [
    {
      method: "workspace/executeCommand",
      params: { command: "spillway.check", arguments: [{ uri: "file:///m/a.pml" }] },
    },
  ]);
  await seen.commands["spillway.debugModel"]();
  assert.strictEqual(seen.started[0].program, "/m/a.pml");
});

test("a launch without a model takes that of the active editor", async () => {
  const { seen, vscode, modules } = mockedEditor();
  await loadExtension(modules).activate({ subscriptions: [] });
  const resolve = (it) => seen.providers.spillway.resolveDebugConfiguration(undefined, it);
  assert.strictEqual(resolve({}), undefined);
  assert.match(seen.errors[0], /needs `program`/);
  vscode.window.activeTextEditor = { document: { uri: { fsPath: "/m/a.m" }, languageId: "murphi" } };
  assert.deepStrictEqual(resolve({ seed: 3 }), {
    type: "spillway", request: "launch", name: "Counterexample", program: "/m/a.m", seed: 3,
  });
  assert.deepStrictEqual(resolve({ directory: "d" }), { directory: "d" });
});

test("a missing program is reported with the setting", async () => {
  const { seen, modules } = mockedEditor({ "spillway.path": "missing" });
  await loadExtension(modules).activate({ subscriptions: [] });
  assert.match(seen.errors[0], /^Set spillway\.path to the program spillway\..*ENOENT$/);
});

// Needs the variable SPILLWAY, the path of the program.
test("the server answers", { skip: !process.env.SPILLWAY }, async () => {
  const { seen, modules } = mockedEditor({ "spillway.path": path.resolve(process.env.SPILLWAY ?? "") });
  await loadExtension(modules).activate({ subscriptions: [] });
  const { command, args } = seen.clients[0].server;
  const server = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const content = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: { capabilities: {} } });
  server.stdin.end(`Content-Length: ${Buffer.byteLength(content)}\r\n\r\n${content}`);
  let text = "";
  for await (const part of server.stdout) {
    text += part;
  }
  const answer = JSON.parse(text.slice(text.indexOf("\r\n\r\n")));
  assert.deepStrictEqual(answer.result.capabilities.executeCommandProvider.commands, ["spillway.check"]);
});
