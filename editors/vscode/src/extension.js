// The extension: a language client for `spillway lsp`, and the debugger `spillway dap`.

"use strict";

const vscode = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");

/** The languages of models. `tlaplus` is the identifier that other extensions use for TLA+. */
const LANGUAGES = ["promela", "murphi", "dve", "pnml", "tlaplus"];

/** @type {LanguageClient | undefined} */
let client;

/** Returns the program and its arguments for a server: the command, and the limits of its checks. */
function serverCommand(command) {
  const settings = vscode.workspace.getConfiguration("spillway");
  const bounds = ["--max-time", settings.get("check.maxTime", "60s"), "--memory", settings.get("check.memory", "512MiB")];
  return { command: settings.get("path", "spillway"), args: [command, ...bounds] };
}

async function startClient() {
  const server = { ...serverCommand("lsp"), transport: TransportKind.stdio };
  client = new LanguageClient("spillway", "Spillway", server, {
    documentSelector: LANGUAGES.map((language) => ({ scheme: "file", language })),
  });
  try {
    await client.start();
  } catch (error) {
    const hint = `Set spillway.path to the program spillway. It could not be started: ${error.message ?? error}`;
    vscode.window.showErrorMessage(hint);
  }
}

async function stopClient() {
  const stopped = client;
  client = undefined;
  if (stopped?.isRunning()) {
    await stopped.stop();
  }
}

/** Checks the model in the active editor. */
async function checkModel() {
  const document = vscode.window.activeTextEditor?.document;
  if (!document || !client) {
    return vscode.window.showInformationMessage("Open a model first.");
  }
  return client.sendRequest("workspace/executeCommand", {
    command: "spillway.check",
    arguments: [{ uri: client.code2ProtocolConverter.asUri(document.uri) }],
  });
}

/** Debugs the counterexample of the model in the active editor. */
function debugModel() {
  const document = vscode.window.activeTextEditor?.document;
  if (!document) {
    return vscode.window.showInformationMessage("Open a model first.");
  }
  const folder = vscode.workspace.getWorkspaceFolder(document.uri);
  return vscode.debug.startDebugging(folder, defaultConfiguration(document.uri.fsPath));
}

function defaultConfiguration(program) {
  return { type: "spillway", request: "launch", name: "Counterexample", program };
}

/** Adds the active model to a launch configuration without `program` and `directory`. */
const configurationProvider = {
  resolveDebugConfiguration(_folder, configuration) {
    if (configuration.program || configuration.directory) {
      return configuration;
    }
    const document = vscode.window.activeTextEditor?.document;
    if (!document || !LANGUAGES.includes(document.languageId)) {
      vscode.window.showErrorMessage("The launch configuration needs `program`, a model, or `directory`.");
      return undefined;
    }
    return { ...defaultConfiguration(document.uri.fsPath), ...configuration, type: "spillway", request: "launch" };
  },
};

const adapterFactory = {
  createDebugAdapterDescriptor() {
    const { command, args } = serverCommand("dap");
    return new vscode.DebugAdapterExecutable(command, args);
  },
};

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand("spillway.checkModel", checkModel),
    vscode.commands.registerCommand("spillway.debugModel", debugModel),
    vscode.commands.registerCommand("spillway.restart", async () => {
      await stopClient();
      await startClient();
    }),
    vscode.debug.registerDebugConfigurationProvider("spillway", configurationProvider),
    vscode.debug.registerDebugAdapterDescriptorFactory("spillway", adapterFactory),
    vscode.workspace.onDidChangeConfiguration(async (change) => {
      if (change.affectsConfiguration("spillway")) {
        await stopClient();
        await startClient();
      }
    }),
  );
  await startClient();
}

module.exports = { activate, deactivate: stopClient };
