--- Inline completions from a model on this machine. `require('spark').setup({})` is all it takes; see `:help spark`.

local api = vim.api
local client = require('spark.client')
local config = require('spark.config')
local diagnostics = require('spark.diagnostics')
local inline = require('spark.inline')
local keymaps = require('spark.keymaps')
local native = require('spark.native')

local M = {}

local backend = inline
local is_set_up, is_enabled = false, false
---@type integer
local show_group

---@param wanted 'auto'|boolean
---@return table
local function choose_backend(wanted)
  if wanted == true and not native.available() then
    error('spark: the option `native` needs Neovim 0.12 or newer', 0)
  end
  return wanted ~= false and native.available() and native or inline
end

--- Starts the server for matching buffers and shows suggestions. May be called again with other options.
---@param opts? table Options; see `:help spark-options`. An unknown or wrong option raises an error.
function M.setup(opts)
  local options = config.resolve(opts)
  local chosen = choose_backend(options.native)
  if is_set_up then
    M.disable()
  end
  config.current, backend = options, chosen
  is_set_up = true
  require('spark.render').define_highlights()
  keymaps.set(options.keymaps, backend, backend == native)
  local server_group = api.nvim_create_augroup('spark.server', { clear = true })
  diagnostics.enable(server_group)
  client.enable(server_group)
  if options.enabled then
    M.enable()
  end
end

--- Sets up with default options unless that was done; for those who only call `vim.lsp.enable('spark_lsp')`.
function M.ensure_setup()
  if not is_set_up then
    M.setup()
  end
end

--- Shows suggestions from now on.
function M.enable()
  show_group = api.nvim_create_augroup('spark.show', { clear = true })
  is_enabled = true
  backend.enable(show_group)
end

--- Shows no suggestions any more. The server stays; it does nothing unless asked.
function M.disable()
  if is_enabled then
    is_enabled = false
    api.nvim_del_augroup_by_id(show_group)
    backend.disable()
  end
end

--- Turns suggestions on or off.
---@return boolean # whether they are on now
function M.toggle()
  if is_enabled then
    M.disable()
  else
    M.enable()
  end
  return is_enabled
end

--- Stops the server and starts it again; returns at once.
function M.restart()
  client.restart()
end

--- Accepts the whole suggestion. Like the five below it returns whether there was something to do.
---@return boolean
function M.accept()
  return backend.accept()
end

--- Accepts up to the end of the next word.
---@return boolean
function M.accept_word()
  return backend.accept_word()
end

--- Accepts up to the end of the line.
---@return boolean
function M.accept_line()
  return backend.accept_line()
end

--- Hides the suggestion until something changes.
---@return boolean
function M.dismiss()
  return backend.dismiss()
end

--- Shows the next of several suggestions.
---@return boolean
function M.next()
  return backend.next()
end

--- Shows the previous of several suggestions.
---@return boolean
function M.prev()
  return backend.prev()
end

--- Whether a suggestion is shown. Always false with the native display, which does not tell.
---@return boolean
function M.visible()
  return backend.visible()
end

--- Asks the server for its status without waiting.
---@param callback? fun(status?: table) Gets the answer of `spark/status`, or nil; without it a message shows a summary.
function M.status(callback)
  local server = vim.lsp.get_clients({ name = client.NAME })[1]
  local function show(status)
    local parts = { is_enabled and 'on' or 'off', status and status.engine or client.state() }
    for _, name in ipairs({ 'model', 'message' }) do
      if status and status[name] and status[name] ~= '' then
        parts[#parts + 1] = status[name]
      end
    end
    vim.notify('spark: ' .. table.concat(parts, ', '))
  end
  callback = callback or show
  if server then
    client.ask_status(server, callback)
  else
    callback(nil)
  end
end

--- Returns a short text for a status line, from what is known already: 'spark off', 'spark stopped',
--- 'spark loading 40%', 'spark ...' while a request runs, or 'spark idle'.
---@return string
function M.statusline()
  if not is_enabled then
    return 'spark off'
  end
  local state = client.state()
  if state ~= 'stopped' and not vim.startswith(state, 'loading') and backend.busy() then
    state = '...'
  end
  return 'spark ' .. state
end

return M
