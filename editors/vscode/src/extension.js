// Starts `forklint server` for Python, notebooks and settings files, and restarts it when it has to be another one.
"use strict";

const fs = require("node:fs");
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

const SELECTOR = [
  { scheme: "file", language: "python" },
  { scheme: "file", language: "yaml" },
  { scheme: "file", language: "toml" },
  { scheme: "file", language: "json" },
  { scheme: "file", pattern: "**/*.toml" },
  { notebook: "jupyter-notebook", scheme: "file", language: "python" },
];

let client;
let starting = Promise.resolve();

/** The command that starts the server: a Python with forklint, or forklint itself. */
async function command() {
  const path = vscode.workspace.getConfiguration("forklint").get("path");
  if (path) {
    return isPython(path) ? [path, "-m", "forklint", "server"] : [path, "server"];
  }
  const python = await selectedPython();
  return python ? [python, "-m", "forklint", "server"] : ["forklint", "server"];
}

function isPython(path) {
  return /(^|[\\/])(python|pypy)[\d.]*(\.exe)?$/i.test(path);
}

/** The interpreter that the Python extension has selected, if it is installed and the workspace is trusted. */
async function selectedPython() {
  const extension = vscode.workspace.isTrusted && vscode.extensions.getExtension("ms-python.python");
  if (!extension) {
    return undefined;
  }
  const api = extension.isActive ? extension.exports : await extension.activate();
  const path = api?.environments?.getActiveEnvironmentPath(vscode.workspace.workspaceFolders?.[0]?.uri);
  const found = path && (await api.environments.resolveEnvironment(path));
  const python = found?.executable?.uri?.fsPath;
  return python && fs.existsSync(python) ? python : undefined;
}

async function start() {
  const [program, ...args] = await command();
  const clientOptions = {
    documentSelector: SELECTOR,
    synchronize: { configurationSection: "forklint" },
    initializationOptions: { trusted: vscode.workspace.isTrusted },
  };
  client = new LanguageClient("forklint", "forklint", { command: program, args }, clientOptions);
  try {
    await client.start();
  } catch (error) {
    vscode.window.showErrorMessage(
      `forklint: ${program} could not be started. Install it with pip install 'forklint[server]', or set forklint.path.`,
    );
  }
}

async function stop() {
  const running = client;
  client = undefined;
  try {
    await running?.dispose();
  } catch {
    // it was not running
  }
}

function restart() {
  starting = starting.then(stop).then(start);
  return starting;
}

exports.activate = async (context) => {
  context.subscriptions.push(
    vscode.commands.registerCommand("forklint.restart", restart),
    vscode.workspace.onDidGrantWorkspaceTrust(restart),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("forklint.path")) {
        restart();
      }
    }),
  );
  await restart();
};

exports.deactivate = () => starting.then(stop);
