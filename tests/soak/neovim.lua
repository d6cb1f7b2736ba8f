-- Opens data.py, waits for a finding, applies its fix as a user would, and writes what it saw to the file SEEN names.
local seen = {}

local function finish()
  local file = io.open(vim.env.SEEN, "w")
  file:write(vim.fn.json_encode(seen))
  file:close()
  vim.cmd("qall!")
end

local function fail(why)
  seen.error = why
  finish()
end

local command = vim.fn.json_decode(vim.env.SERVER)
vim.cmd("edit data.py")
local buffer = vim.api.nvim_get_current_buf()
if vim.lsp.config then -- from Neovim 0.11 on
  vim.lsp.config("forklint", { cmd = command, filetypes = { "python" }, root_markers = { "pyproject.toml" } })
  vim.lsp.enable("forklint")
  vim.bo.filetype = "python"
else
  vim.bo.filetype = "python"
  local id = vim.lsp.start_client({ name = "forklint", cmd = command, root_dir = vim.fn.getcwd() })
  vim.lsp.buf_attach_client(buffer, id)
end

if not vim.wait(60000, function() return #vim.diagnostic.get(buffer) > 0 end, 50) then
  return fail("no diagnostics")
end
local found = vim.diagnostic.get(buffer)[1]
seen.code, seen.source, seen.row, seen.column = found.code, found.source, found.lnum, found.col

local here = { line = found.lnum, character = found.col }
local params = {
  textDocument = vim.lsp.util.make_text_document_params(),
  range = { start = here, ["end"] = here },
  context = { diagnostics = {} },
}
local hover = vim.lsp.buf_request_sync(buffer, "textDocument/hover", {
  textDocument = params.textDocument,
  position = here,
}, 60000)
for _, answer in pairs(hover or {}) do
  seen.hover = answer.result and answer.result.contents.value
end

local answers = vim.lsp.buf_request_sync(buffer, "textDocument/codeAction", params, 60000)
seen.titles = {}
for client, answer in pairs(answers or {}) do
  for _, action in ipairs(answer.result or {}) do
    table.insert(seen.titles, action.title)
    if action.isPreferred then
      vim.lsp.util.apply_workspace_edit(action.edit, vim.lsp.get_client_by_id(client).offset_encoding)
    end
  end
end
if not vim.wait(60000, function() return #vim.diagnostic.get(buffer) == 0 end, 50) then
  return fail("the finding is still there")
end
vim.cmd("write")
finish()
