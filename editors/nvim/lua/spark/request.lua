--- One request at a time: debounced, cancelled by the next one, its answer dropped when it comes too late.

local api = vim.api
local client = require('spark.client')
local place = require('spark.place')

local M = {}

M.INVOKED = 1
M.AUTOMATIC = 2

--- Answers that mean "not any more": request failed, server cancelled, content modified, request cancelled.
local SILENT = { [-32803] = true, [-32802] = true, [-32801] = true, [-32800] = true }

local timer = assert(vim.uv.new_timer())
local generation = 0
local tokens = 0
---@type { client: vim.lsp.Client, id: integer?, token: string }?
local running

---@alias spark.Answer fun(items: table[], at: spark.Place, encoding: string, final: boolean)

--- Forgets the request that is waiting or running; the server is told.
function M.cancel()
  generation = generation + 1
  timer:stop()
  if not running then
    return
  end
  client.receive_partials(running.token, nil)
  if running.id and not client.call(running.client, 'is_stopped') then
    client.call(running.client, 'cancel_request', running.id)
  end
  running = nil
end

--- Whether a request is on its way.
---@return boolean
function M.busy()
  return running ~= nil and not client.call(running.client, 'is_stopped')
end

---@param result any
---@return table[]
local function items_of(result)
  if type(result) ~= 'table' then
    return {}
  end
  return type(result.items) == 'table' and result.items or (vim.islist(result) and result or {})
end

---@param kind integer
---@param answer spark.Answer
local function send(kind, answer)
  local at = place.here()
  local server = client.get(at.buf)
  if not server then
    return
  end
  local mine, encoding = generation, server.offset_encoding
  tokens = tokens + 1
  local token = ('spark/%d'):format(tokens)
  local function fresh()
    return mine == generation and place.same(at, place.here()) and vim.startswith(api.nvim_get_mode().mode, 'i')
  end
  local function finish()
    client.receive_partials(token, nil)
    if running and running.token == token then
      running = nil
    end
  end
  client.receive_partials(token, function(value)
    if fresh() then
      answer(items_of(value), at, encoding, false)
    end
  end)
  running = { client = server, token = token }
  local sent, id = client.call(server, 'request', 'textDocument/inlineCompletion', {
    textDocument = { uri = vim.uri_from_bufnr(at.buf) },
    position = {
      line = at.row,
      character = place.from_bytes(place.line(at.buf, at.row), at.col, encoding),
    },
    context = { triggerKind = kind },
    partialResultToken = token,
  }, function(err, result)
    finish()
    if err then
      if not SILENT[err.code] then
        vim.lsp.log.error('spark', 'inlineCompletion failed', err)
      end
    elseif fresh() then
      answer(items_of(result), at, encoding, true)
    end
  end, at.buf) -- the real number: with 0, Neovim 0.11 would not send the pending change first
  if not sent then
    finish()
  elseif running then
    running.id = id
  end
end

--- Sends a request after `delay` milliseconds of silence. `answer` is called for each partial result and for the
--- final one, as long as text and cursor are what they were when the request was sent.
---@param delay integer
---@param kind integer
---@param answer spark.Answer
function M.schedule(delay, kind, answer)
  M.cancel()
  local mine = generation
  timer:start(
    delay,
    0,
    vim.schedule_wrap(function()
      if mine == generation then
        send(kind, answer)
      end
    end)
  )
end

return M
