--- The language server: how it is started, found, asked and restarted. Covers Neovim 0.10, where client functions
--- take no self and `vim.lsp.enable` does not exist.

local api = vim.api
local config = require('spark.config')

local M = {}

--- Name of the client, and of its file below `lsp/`.
M.NAME = 'spark_lsp'

--- Time that a server gets to shut down before a restart kills it, in milliseconds.
local STOP_MS = 2000
--- Time between two looks at whether it is gone, in milliseconds.
local POLL_MS = 50

local modern = vim.fn.has('nvim-0.11') == 1

---@type table<string, fun(value: any)> Receivers of partial results by token.
local partial_receivers = {}

---@type { loading?: string, engine?: string } What the server said about itself.
local seen = {}

local ready_callback = function() end
---@type table<string, boolean> Commands whose absence was reported.
local reported_missing = {}

--- Calls a client function in the way of this Neovim.
---@param client vim.lsp.Client
---@param name string
---@return any ...
function M.call(client, name, ...)
  if modern then
    return client[name](client, ...)
  end
  return client[name](...)
end

--- Returns the running client of a buffer, or nil.
---@param buf integer
---@return vim.lsp.Client?
function M.get(buf)
  for _, client in ipairs(vim.lsp.get_clients({ bufnr = buf, name = M.NAME })) do
    if not M.call(client, 'is_stopped') then
      return client
    end
  end
end

--- Sets who is called when the model has become ready.
---@param callback fun()
function M.on_ready(callback)
  ready_callback = callback
end

--- Has partial results for `token` sent to `receive`; nil ends that.
---@param token string
---@param receive? fun(value: any)
function M.receive_partials(token, receive)
  partial_receivers[token] = receive
end

--- Asks for `spark/status`; `callback` gets the answer, or nil if there is none.
---@param client vim.lsp.Client
---@param callback fun(status?: table)
function M.ask_status(client, callback)
  local sent = M.call(client, 'request', 'spark/status', vim.empty_dict(), function(err, status)
    callback(not err and type(status) == 'table' and status or nil)
  end, api.nvim_get_current_buf())
  if not sent then
    callback(nil)
  end
end

---@param client_id integer
local function refresh_engine(client_id)
  local client = vim.lsp.get_client_by_id(client_id)
  if client then
    M.ask_status(client, function(status)
      local engine = status and status.engine or seen.engine
      seen.engine = engine == 'busy' and 'idle' or engine -- busy for a moment; our own requests tell that better
    end)
  end
end

--- Handles `$/progress`: partial results go to their request and nobody else, as they are no work-done progress.
---@param err any
---@param params table
---@param context table
local function on_progress(err, params, context, ...)
  local token = params and params.token
  if token ~= nil and partial_receivers[token] then
    partial_receivers[token](params.value)
    return
  end
  local value = params and params.value
  if type(value) == 'table' then
    if value.kind == 'begin' or value.kind == 'report' then
      seen.loading = value.percentage and ('%d%%'):format(value.percentage) or seen.loading or ''
    elseif value.kind == 'end' then
      seen.loading = nil
      refresh_engine(context.client_id)
      ready_callback()
    end
  end
  return vim.lsp.handlers['$/progress'](err, params, context, ...)
end

--- Returns the client configuration for the options in force.
---@return table
function M.lsp_config()
  local options = config.current
  local settings = next(options.settings) ~= nil and options.settings or nil
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  capabilities.textDocument.inlineCompletion = { dynamicRegistration = false }
  return {
    name = M.NAME,
    cmd = options.cmd,
    cmd_env = options.cmd_env,
    cmd_cwd = options.cmd_cwd,
    filetypes = options.filetypes,
    root_markers = options.root_markers,
    capabilities = capabilities,
    init_options = settings,
    settings = settings and { spark = settings } or nil,
    handlers = { ['$/progress'] = on_progress },
    -- One server for all projects: each one would load the model into memory again.
    reuse_client = function(client, wanted)
      return client.name == wanted.name and not M.call(client, 'is_stopped')
    end,
    on_init = function(client)
      seen = {}
      refresh_engine(client.id)
    end,
  }
end

---@return table
local function resolved_config()
  return modern and vim.lsp.config[M.NAME] or M.lsp_config()
end

---@param buf integer
---@return boolean
local function wanted(buf)
  local filetype = vim.bo[buf].filetype
  local filetypes = resolved_config().filetypes
  return api.nvim_buf_is_loaded(buf)
    and vim.bo[buf].buftype == ''
    and filetype ~= ''
    and (filetypes == nil or vim.tbl_contains(filetypes, filetype))
end

--- Whether the server can be started; says so once if it cannot.
---@return boolean
function M.check_executable()
  local cmd = resolved_config().cmd
  if type(cmd) ~= 'table' or vim.fn.executable(cmd[1]) == 1 then
    return true
  end
  if not reported_missing[cmd[1]] then
    reported_missing[cmd[1]] = true
    local message = 'spark: the server `%s` was not found. Install spark-lsp, or set `cmd` in '
      .. "require('spark').setup(); then run :Spark restart."
    vim.notify(message:format(tostring(cmd[1])), vim.log.levels.ERROR)
  end
  return false
end

--- Starts the server for a buffer, or attaches the running one.
---@param buf integer
function M.start(buf)
  if not wanted(buf) or not M.check_executable() then
    return
  end
  local client_config = vim.deepcopy(resolved_config())
  if type(client_config.root_dir) ~= 'string' then
    client_config.root_dir = vim.fs.root(buf, client_config.root_markers or {})
  end
  vim.lsp.start(client_config, { bufnr = buf, reuse_client = client_config.reuse_client })
end

--- Has the server started for every buffer that has a matching file type, now and later.
---@param group integer Autocommand group.
function M.enable(group)
  reported_missing = {}
  api.nvim_create_autocmd('FileType', {
    group = group,
    desc = 'Start spark-lsp',
    callback = function(event)
      if not modern then
        M.start(event.buf)
      elseif wanted(event.buf) then
        M.check_executable()
      end
    end,
  })
  if modern then
    vim.lsp.config(M.NAME, {}) -- forgets what was resolved with older options
    vim.lsp.enable(M.NAME)
  end
  if vim.v.vim_did_enter == 1 then
    for _, buf in ipairs(api.nvim_list_bufs()) do
      M.start(buf)
    end
  end
end

--- Stops the server and starts it again for every matching buffer, without blocking.
function M.restart()
  reported_missing, seen = {}, {}
  for _, client in ipairs(vim.lsp.get_clients({ name = M.NAME })) do
    M.call(client, 'stop')
  end
  local waited = 0
  local function poll()
    local leaving = vim.lsp.get_clients({ name = M.NAME })
    if #leaving > 0 and waited < STOP_MS then
      waited = waited + POLL_MS
      vim.defer_fn(poll, POLL_MS)
      return
    end
    for _, client in ipairs(leaving) do
      client.rpc.terminate()
    end
    for _, buf in ipairs(api.nvim_list_bufs()) do
      M.start(buf)
    end
  end
  poll()
end

--- Notes that the engine answers, after it was reported as failed for example.
function M.saw_suggestion()
  seen.loading, seen.engine = nil, 'idle'
end

--- Returns 'stopped', 'loading', 'loading 40%', or what the server said last about its engine.
---@return string
function M.state()
  local alive = vim.iter(vim.lsp.get_clients({ name = M.NAME })):any(function(client)
    return not M.call(client, 'is_stopped')
  end)
  if not alive then
    return 'stopped'
  end
  if seen.loading then
    return vim.trim('loading ' .. seen.loading)
  end
  return seen.engine or 'ready'
end

return M
