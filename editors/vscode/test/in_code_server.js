// Opens a file in a real VS Code (code-server, in a headless Chromium), and waits for a finding, its page and its fix.
//
//   node test/in_code_server.js CODE_SERVER CHROMIUM PYTHON PICTURE
//
// CODE_SERVER is the entry.js of code-server, PYTHON a Python with forklint[server]; forklint.vsix must be packaged.
// playwright-core must be installed where node finds it.
"use strict";

const { execFileSync, spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { chromium } = require("playwright-core");

const [codeServer, browserPath, python, picture] = process.argv.slice(2);
const VSIX = path.join(__dirname, "..", "forklint.vsix");
const PORT = 8123;
const DATA = `import lmdb
from torch.utils.data import Dataset


class Words(Dataset):
    def __init__(self, root):
        self.env = lmdb.open(root)

    def __getitem__(self, index):
        return self.env.stat()
`;

async function main() {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), "forklint-vscode-"));
  const project = path.join(home, "project");
  const user = path.join(home, "user");
  fs.mkdirSync(path.join(user, "User"), { recursive: true });
  fs.mkdirSync(project);
  fs.writeFileSync(path.join(project, "pyproject.toml"), "[tool.forklint]\n");
  fs.writeFileSync(path.join(project, "data.py"), DATA);
  const settings = {
    "forklint.path": python,
    "forklint.trace.server": "verbose",
    "security.workspace.trust.enabled": false,
    "workbench.startupEditor": "none",
    "telemetry.telemetryLevel": "off",
  };
  fs.writeFileSync(path.join(user, "User", "settings.json"), JSON.stringify(settings));
  const places = ["--user-data-dir", user, "--extensions-dir", path.join(home, "extensions")];
  execFileSync(process.execPath, [codeServer, ...places, "--install-extension", VSIX], { stdio: "inherit" });
  const options = [...places, "--auth", "none", "--bind-addr", `127.0.0.1:${PORT}`, "--disable-telemetry"];
  const server = spawn(process.execPath, [codeServer, ...options, project], { stdio: "inherit" });
  const browser = await chromium.launch({ executablePath: browserPath, args: ["--no-sandbox"] });
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  page.setDefaultTimeout(180000);
  try {
    await until(() => page.goto(`http://127.0.0.1:${PORT}/?folder=${project}`));
    await page.locator(".explorer-folders-view >> text=data.py").first().dblclick();
    await page.locator(".view-lines >> text=lmdb").first().waitFor();
    await page.locator(".squiggly-error").first().waitFor();
    console.log("seen: the finding is underlined");
    await page.locator(".codelens-decoration >> text=Verify this finding").first().waitFor();
    console.log("seen: the code lens");
    await page.keyboard.press("Control+Shift+M");
    await page.locator(".markers-panel >> text=LMDB environment").first().waitFor();
    console.log("seen: the finding in the list of problems");
    await page.screenshot({ path: picture });
    await page.locator(".view-lines >> text=lmdb.open").first().click();
    await page.keyboard.press("Control+.");
    await page.locator(".action-widget >> text=on first use").first().waitFor();
    await page.screenshot({ path: picture.replace(".png", "-fixes.png") });
    console.log("seen: its fixes");
    await page.keyboard.press("Enter");
    await page.locator(".view-lines >> text=_env_handle").first().waitFor();
    await page.locator(".squiggly-error").first().waitFor({ state: "detached" });
    console.log("seen: the fix applied, and no finding any more");
  } catch (error) {
    await page.screenshot({ path: picture });
    throw error;
  } finally {
    await browser.close();
    server.kill();
    fs.rmSync(home, { recursive: true, force: true });
  }
}

async function until(call) {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      if (attempt > 60) {
        throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }
}

main().then(
  () => process.exit(0),
  (error) => {
    console.error(error);
    process.exit(1);
  },
);
