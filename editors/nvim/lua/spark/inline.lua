--- Suggestions drawn by this plugin: when to ask, what to show, when to hide. Used where Neovim has no inline
--- completion of its own (before 0.12), or when the option `native` is false.

local api = vim.api
local accept = require('spark.accept')
local client = require('spark.client')
local config = require('spark.config')
local ghost = require('spark.ghost')
local place = require('spark.place')
local request = require('spark.request')
local suggestions = require('spark.suggestion')

local M = {}

local on = false
---@type spark.Place? Where the last request was made or dismissed.
local asked
local invoked = false

---@return boolean
local function in_insert_mode()
  return vim.startswith(api.nvim_get_mode().mode, 'i')
end

--- Whether suggestions are wanted at the cursor.
---@return boolean
local function eligible()
  local options, buf = config.current, api.nvim_get_current_buf()
  return on
    and in_insert_mode()
    and vim.bo[buf].buftype == ''
    and vim.bo[buf].modifiable
    and vim.b[buf].spark_enabled ~= false
    and not vim.tbl_contains(options.exclude_filetypes, vim.bo[buf].filetype)
    and not (options.hide_on_popup_menu and options.popup_menu_visible())
    and client.get(buf) ~= nil
end

--- Hides everything and forgets the request; the next event asks again.
local function clear()
  asked, invoked = nil, false
  request.cancel()
  ghost.hide()
end

---@param items table[]
---@param at spark.Place
---@param encoding string
---@return spark.Suggestion[]
local function usable(items, at, encoding)
  local list = {}
  for _, item in ipairs(items) do
    list[#list + 1] = suggestions.of(item, at, encoding)
  end
  if #list > 0 then
    client.saw_suggestion()
  end
  return list
end

---@type spark.Answer
local function on_automatic_answer(items, at, encoding, final)
  if not eligible() then
    return -- a menu that no event tells about may have opened meanwhile
  end
  local list = usable(items, at, encoding)
  if #list == 0 then
    if final then
      ghost.hide()
    end
  elseif final then
    ghost.show(list, 1)
  else
    ghost.grow(list[1])
  end
end

--- Follows text and cursor. Cheap enough for every event: the same place is asked about once.
local function update()
  if not eligible() then
    clear()
    return
  end
  ghost.sync()
  local here = place.here()
  if place.same(here, asked) then
    return
  end
  asked, invoked = here, false
  request.schedule(config.current.debounce_ms, request.AUTOMATIC, on_automatic_answer)
end

--- Asks again although nothing moved.
local function refresh()
  asked = nil
  update()
end

---@param step integer
local function on_invoked_answer(step)
  ---@type spark.Answer
  return function(items, at, encoding, final)
    local list = usable(items, at, encoding)
    local current, rest = ghost.current()
    if not current or not rest then
      on_automatic_answer(items, at, encoding, final)
      return
    end
    if not final then
      return -- what is shown stays until there is an alternative to it
    end
    local alternatives = { current }
    for _, other in ipairs(list) do
      local left = suggestions.rest(other)
      if left and left.text ~= rest.text then
        alternatives[#alternatives + 1] = other
      end
    end
    ghost.show(alternatives, 1)
    ghost.cycle(step)
  end
end

---@param step integer
---@return boolean
local function cycle(step)
  if not eligible() then
    return false
  end
  if invoked and ghost.count() > 1 then
    ghost.cycle(step)
    return true
  end
  asked, invoked = place.here(), true
  request.schedule(0, request.INVOKED, on_invoked_answer(step))
  return true
end

--- Starts to follow the user.
---@param group integer Autocommand group; clearing it ends that.
function M.enable(group)
  on = true
  local function autocmd(events, pattern, callback)
    api.nvim_create_autocmd(events, { group = group, pattern = pattern, callback = callback })
  end
  autocmd({ 'TextChangedI', 'TextChangedP', 'CursorMovedI' }, '*', update)
  -- InsertEnter comes before the mode and the cursor are what they will be; this comes after. The completion menu has
  -- a mode of its own, so this tells about its beginning and its end too.
  autocmd('ModeChanged', { '*:i*', 'i*:*' }, update)
  autocmd({ 'InsertLeave', 'BufLeave' }, '*', clear)
  api.nvim_create_autocmd('LspAttach', {
    group = group,
    callback = function(event)
      local attached = vim.lsp.get_client_by_id(event.data.client_id)
      if attached and attached.name == client.NAME then
        refresh() -- the user may be typing already
      end
    end,
  })
  client.on_ready(refresh)
  update()
end

--- Hides what is shown and stops what runs.
function M.disable()
  on = false
  client.on_ready(function() end)
  clear()
end

--- Whether ghost text is shown.
---@return boolean
function M.visible()
  return ghost.current() ~= nil
end

--- Accepts all of the ghost text.
---@return boolean # whether there was any
function M.accept()
  return accept.accept(function(text)
    return text
  end)
end

--- Accepts up to the end of the next word.
---@return boolean
function M.accept_word()
  return accept.accept(accept.first_word)
end

--- Accepts up to the end of the line.
---@return boolean
function M.accept_line()
  return accept.accept(accept.first_line)
end

--- Hides the ghost text until text or cursor change.
---@return boolean # whether there was any
function M.dismiss()
  local was_visible = M.visible()
  request.cancel()
  ghost.hide()
  return was_visible
end

--- Shows the next alternative; asks for alternatives first if that was not done here.
---@return boolean # false where there are no suggestions at all
function M.next()
  return cycle(1)
end

--- Shows the previous alternative.
---@return boolean
function M.prev()
  return cycle(-1)
end

--- Whether a request is on its way.
---@return boolean
function M.busy()
  return request.busy()
end

return M
