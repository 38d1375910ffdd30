--- Options: defaults, and checks that name the option that is wrong.

local M = {}

---@class spark.Keymaps
---@field accept string|false
---@field accept_word string|false
---@field accept_line string|false
---@field dismiss string|false
---@field next string|false
---@field prev string|false

---@class spark.Config
---@field cmd string[]|fun(dispatchers: table, config: table): table How the server is started.
---@field cmd_env? table<string, string> Added to the server's environment.
---@field cmd_cwd? string Directory that the server is started in.
---@field filetypes? string[] File types that the server is started for; nil means all.
---@field exclude_filetypes string[] File types without suggestions.
---@field root_markers string[] Files and directories that mark a project.
---@field settings table The server's own settings (model, completion, ...).
---@field enabled boolean Whether suggestions are on from the start.
---@field debounce_ms integer Pause in typing before a request, in milliseconds.
---@field native 'auto'|boolean Use `vim.lsp.inline_completion`, which Neovim has from 0.12 on.
---@field hide_on_popup_menu boolean Show nothing while the completion menu is open.
---@field popup_menu_visible fun(): boolean Tells whether a completion menu is open.
---@field keymaps spark.Keymaps|false Keys in insert mode; false sets none.

---@type spark.Config
M.defaults = {
  cmd = { 'spark-lsp', '--stdio' },
  cmd_env = nil,
  cmd_cwd = nil,
  filetypes = nil,
  exclude_filetypes = {},
  root_markers = { '.git', 'pyproject.toml', 'package.json', 'Cargo.toml', 'go.mod' },
  settings = {},
  enabled = true,
  debounce_ms = 60,
  native = 'auto',
  hide_on_popup_menu = true,
  popup_menu_visible = function()
    return vim.fn.pumvisible() == 1
  end,
  keymaps = {
    accept = '<Tab>',
    accept_word = '<M-Right>',
    accept_line = '<M-C-Right>',
    dismiss = '<C-]>',
    next = '<M-]>',
    prev = '<M-[>',
  },
}

---@type table<string, string|string[]> Lua types that an option may have.
local TYPES = {
  cmd = { 'table', 'function' },
  cmd_env = 'table',
  cmd_cwd = 'string',
  filetypes = 'table',
  exclude_filetypes = 'table',
  root_markers = 'table',
  settings = 'table',
  enabled = 'boolean',
  debounce_ms = 'number',
  native = { 'boolean', 'string' },
  hide_on_popup_menu = 'boolean',
  popup_menu_visible = 'function',
  keymaps = { 'table', 'boolean' },
}

local modern = vim.fn.has('nvim-0.11') == 1

---@param name string
---@param value any
---@param types string|string[]
local function validate(name, value, types)
  if modern then
    vim.validate(name, value, types, true)
  else
    vim.validate({ [name] = { value, types, true } })
  end
end

---@param kind string
---@param given table
---@param known table<string, any>
local function reject_unknown(kind, given, known)
  for name in pairs(given) do
    if known[name] == nil then
      local names = vim.tbl_keys(known)
      table.sort(names)
      local message = 'spark: unknown %s `%s`; known are %s'
      error(message:format(kind, tostring(name), table.concat(names, ', ')), 0)
    end
  end
end

--- Returns the defaults overridden by `opts`. Raises an error that names the first option that is unknown or wrong.
---@param opts? table
---@return spark.Config
function M.resolve(opts)
  opts = opts or {}
  validate('opts', opts, 'table')
  reject_unknown('option', opts, TYPES)
  for name, types in pairs(TYPES) do
    validate('spark.' .. name, opts[name], types)
  end
  if type(opts.native) == 'string' and opts.native ~= 'auto' then
    error("spark: the option `native` is 'auto', true or false", 0)
  end
  if opts.debounce_ms and (opts.debounce_ms < 0 or opts.debounce_ms % 1 ~= 0) then
    error('spark: the option `debounce_ms` is a whole number of milliseconds, 0 or more', 0)
  end
  if opts.keymaps == true then
    opts = vim.tbl_extend('force', opts, { keymaps = {} })
  end
  if opts.keymaps then
    reject_unknown('key mapping', opts.keymaps, M.defaults.keymaps)
    for name, lhs in pairs(opts.keymaps) do
      if lhs ~= false then
        validate('spark.keymaps.' .. name, lhs, 'string')
      end
    end
  end
  local config = vim.tbl_extend('force', M.defaults, opts)
  if config.keymaps then
    config.keymaps = vim.tbl_extend('force', M.defaults.keymaps, config.keymaps)
  end
  return config
end

---@type spark.Config The options in force.
M.current = M.resolve()

return M
