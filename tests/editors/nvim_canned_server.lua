-- A language server inside of Neovim that answers what a test tells it, when the test tells it.
local M = {
  items = {}, ---@type table[] What every request is answered with.
  held = false, ---@type boolean Whether answers wait for `respond`.
  encoding = 'utf-8',
  requests = {}, ---@type table[] Inline completion requests, in order.
  commands = {}, ---@type table[] Executed commands, in order.
  cancelled = {}, ---@type integer[] Ids of cancelled requests.
  opened = {}, ---@type string[] Texts of opened documents.
  changes = 0,
  experimental = {}, ---@type table<string, any> What it announces besides the protocol.
  diagnostics = {}, ---@type table[] What it was told to be wrong, in order.
}

local next_id = 0
local dispatchers

-- Answers the held request `number` (negative: from the last one) with items or with an error.
function M.respond(number, items, err)
  local request = M.requests[number > 0 and number or #M.requests + 1 + number]
  request.reply(err, not err and { items = items } or nil)
end

-- Sends a partial result for a request.
function M.progress(number, items)
  local request = M.requests[number > 0 and number or #M.requests + 1 + number]
  dispatchers.notification('$/progress', { token = request.params.partialResultToken, value = { items = items } })
end

-- Sends any notification.
function M.notify(method, params)
  dispatchers.notification(method, params)
end

local methods = {}

function methods.initialize(_, reply)
  reply(nil, {
    capabilities = {
      positionEncoding = M.encoding,
      textDocumentSync = { openClose = true, change = 2 },
      inlineCompletionProvider = {},
      experimental = M.experimental,
      executeCommandProvider = { commands = { 'spark.accept' } },
    },
  })
end

methods['textDocument/inlineCompletion'] = function(params, reply, id)
  table.insert(M.requests, { id = id, params = params, reply = reply, changes = M.changes })
  if not M.held then
    reply(nil, { items = M.items })
  end
end

methods['workspace/executeCommand'] = function(params, reply)
  table.insert(M.commands, params)
  reply(nil, vim.NIL)
end

methods['spark/status'] = function(_, reply)
  reply(nil, { engine = 'idle', model = 'canned', message = '' })
end

function methods.shutdown(_, reply)
  reply(nil, vim.NIL)
end

function M.cmd(given)
  dispatchers = given
  local closing = false
  local function leave()
    if not closing then
      closing = true
      dispatchers.on_exit(0, 0)
    end
  end
  return {
    request = function(method, params, callback, on_reply)
      next_id = next_id + 1
      local id = next_id
      local function reply(err, result)
        vim.schedule(function()
          if on_reply then
            on_reply(id)
          end
          callback(err, result)
        end)
      end
      methods[method](params, reply, id)
      return true, id
    end,
    notify = function(method, params)
      if method == 'exit' then
        leave()
      elseif method == '$/cancelRequest' then
        table.insert(M.cancelled, params.id)
      elseif method == 'textDocument/didOpen' then
        table.insert(M.opened, params.textDocument.text)
      elseif method == 'textDocument/didChange' then
        M.changes = M.changes + 1
      elseif method == 'spark/diagnostics' then
        table.insert(M.diagnostics, params)
      end
      return true
    end,
    is_closing = function()
      return closing
    end,
    terminate = leave,
  }
end

return M
