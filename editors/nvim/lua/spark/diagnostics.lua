--- Tells the server what other servers find wrong in a buffer, where it wants to know: no server hears that by itself.

local api = vim.api
local client = require('spark.client')

local M = {}

--- The notification, and the name of the capability that asks for it.
local METHOD, CAPABILITY = 'spark/diagnostics', 'sparkDiagnostics'
--- Findings sent of one buffer at most.
local MOST = 100

---@param found vim.Diagnostic
---@return table
local function to_protocol(found)
  return {
    range = {
      start = { line = found.lnum, character = found.col },
      ['end'] = { line = found.end_lnum or found.lnum, character = found.end_col or found.col },
    },
    severity = found.severity,
    message = found.message,
    source = found.source,
  }
end

--- Sends the errors and warnings of a buffer.
---@param buf integer
local function send(buf)
  local server = client.get(buf)
  local wanted = server and (server.server_capabilities.experimental or {})[CAPABILITY]
  if not server or not wanted then
    return
  end
  local found = vim.diagnostic.get(buf, { severity = { min = vim.diagnostic.severity.WARN } })
  table.sort(found, function(one, other)
    return one.severity < other.severity
  end)
  client.call(server, 'notify', METHOD, {
    uri = vim.uri_from_bufnr(buf),
    version = vim.lsp.util.buf_versions[buf],
    diagnostics = vim.tbl_map(to_protocol, vim.list_slice(found, 1, MOST)),
  })
end

--- Has changes of diagnostics sent from now on.
---@param group integer Autocommand group.
function M.enable(group)
  api.nvim_create_autocmd({ 'DiagnosticChanged', 'LspAttach' }, {
    group = group,
    desc = 'Tell spark-lsp what is wrong',
    callback = function(event)
      if event.event == 'DiagnosticChanged' or event.data.client_id == (client.get(event.buf) or {}).id then
        send(event.buf)
      end
    end,
  })
end

return M
