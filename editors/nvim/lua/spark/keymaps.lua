--- Keys in insert mode. A key does what it did before whenever it has nothing to do here.

local api = vim.api

local M = {}

---@class spark.Action
---@field lhs string
---@field run fun(): boolean
---@field previous? table The mapping that was there before, as `nvim_get_keymap()` returns it.
---@field fallback string Keys that do what the key did before.

---@type table<string, spark.Action>
local actions = {}

local DESCRIPTIONS = {
  accept = 'Accept the suggestion',
  accept_word = 'Accept the next word of the suggestion',
  accept_line = 'Accept the next line of the suggestion',
  dismiss = 'Dismiss the suggestion',
  next = 'Show the next suggestion',
  prev = 'Show the previous suggestion',
}

---@param name string
---@return string
local function description(name)
  return 'spark: ' .. DESCRIPTIONS[name]
end

--- Returns the mapping of a key for all buffers, or nil. `maparg()` would see a buffer's own mapping only.
---@param lhs string
---@return table?
local function global_mapping(lhs)
  local raw = vim.keycode(lhs)
  local name = vim.fn.keytrans(raw)
  for _, mapping in ipairs(api.nvim_get_keymap('i')) do
    if mapping.lhsraw == raw or mapping.lhs == name then
      return mapping
    end
  end
end

--- Returns what a key without a mapping does: itself. Mapped recursively to itself it is not mapped again, and unlike
--- the result of a non-recursive mapping it still ends an abbreviation. With Alt it does nothing: Neovim would take it
--- for <Esc> and the key, a bad surprise for who presses it once too often.
---@param lhs string
---@return string
local function unmapped(lhs)
  return vim.fn.keytrans(vim.keycode(lhs)):match('^<M%-') and '' or lhs
end

--- Copies a mapping to a name that no key produces, with all its flags, and returns that name.
---@param name string
---@param previous table
---@return string
local function keep_under_plug(name, previous)
  local plug = ('<Plug>(spark-before-%s)'):format(name)
  local copy = vim.deepcopy(previous)
  copy.lhs, copy.lhsraw, copy.lhsrawalt = plug, vim.keycode(plug), nil
  if copy.rhs and vim.startswith(copy.rhs:lower(), previous.lhs:lower()) then
    copy.noremap = 1 -- the key itself at the beginning of its own mapping is not mapped again
  end
  vim.fn.mapset('i', false, copy)
  return plug
end

--- Maps one key. `ready` tells without side effects whether `run` has something to do; nil if only running tells.
---@param name string
---@param lhs string
---@param run fun(): boolean
---@param ready? fun(): boolean
local function map(name, lhs, run, ready)
  local previous = global_mapping(lhs)
  local fallback = previous and keep_under_plug(name, previous) or unmapped(lhs)
  actions[name] = { lhs = lhs, run = run, previous = previous, fallback = fallback }
  local command = ("<Cmd>lua require('spark.keymaps').run('%s')<CR>"):format(name)
  vim.keymap.set('i', lhs, function()
    if ready then
      return ready() and command or fallback
    end
    return run() and '' or fallback
  end, { expr = true, remap = true, silent = true, desc = description(name) })
end

--- Runs the action of a key; called by its mapping, outside of the text lock. Vim may evaluate the mapping before the
--- keys typed before it are in the buffer, so there may be nothing to do after all.
---@param name string
function M.run(name)
  local action = actions[name]
  if not action.run() then
    -- The key itself must not come back here; a covered mapping needs its name resolved.
    api.nvim_feedkeys(vim.keycode(action.fallback), action.previous and 'im' or 'in', false)
  end
end

--- Sets the keys of `keymaps`.
---@param keymaps spark.Keymaps|false
---@param backend table `spark.inline` or `spark.native`.
---@param native boolean
function M.set(keymaps, backend, native)
  M.remove()
  for name, lhs in pairs(keymaps or {}) do
    if lhs then
      -- The native functions may be called inside of an expression mapping; ours change the text at once.
      local cycles = name == 'next' or name == 'prev'
      map(name, lhs, backend[name], not native and not cycles and backend.visible or nil)
    end
  end
end

--- Removes our keys and brings back what they covered.
function M.remove()
  for name, action in pairs(actions) do
    local present = global_mapping(action.lhs)
    if present and present.desc == description(name) then -- else the user mapped the key anew
      api.nvim_del_keymap('i', action.lhs)
      if action.previous then
        vim.fn.mapset('i', false, action.previous)
      end
    end
    if action.previous then
      pcall(api.nvim_del_keymap, 'i', action.fallback)
    end
  end
  actions = {}
end

return M
