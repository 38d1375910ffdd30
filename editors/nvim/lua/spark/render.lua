--- Draws ghost text with extmarks: the first line inside the line, the others below it.

local api = vim.api

local M = {}

local namespace = api.nvim_create_namespace('spark')
local TEXT_MARK, REPLACED_MARK = 1, 2
--- Above diagnostics (at most 150) and inlay hints, so that these do not come between cursor and ghost text.
local PRIORITY = 10000

---@type integer? Buffer that has ghost text.
local drawn

--- Defines the highlight groups; a colour scheme may define them too.
function M.define_highlights()
  api.nvim_set_hl(0, 'SparkSuggestion', { default = true, link = 'Comment' })
  api.nvim_set_hl(0, 'SparkReplaced', { default = true, link = 'DiffDelete' })
end

--- Removes the ghost text.
function M.clear()
  if drawn and api.nvim_buf_is_valid(drawn) then
    api.nvim_buf_clear_namespace(drawn, namespace, 0, -1)
  end
  drawn = nil
end

--- Virtual text does not expand tabs, so this does.
---@param text string
---@param column integer Screen column where the text begins, from 0.
---@return string
local function expand_tabs(text, column)
  if not text:find('\t', 1, true) then
    return text
  end
  local parts = {}
  for part, tab in text:gmatch('([^\t]*)(\t?)') do
    parts[#parts + 1] = part
    column = column + vim.fn.strdisplaywidth(part, column)
    if tab ~= '' then
      local width = vim.fn.strdisplaywidth('\t', column)
      parts[#parts + 1] = (' '):rep(width)
      column = column + width
    end
  end
  return table.concat(parts)
end

--- Draws what is left of a suggestion at the cursor, in place of what was drawn before.
---@param rest spark.Rest
function M.draw(rest)
  if drawn ~= rest.buf then
    M.clear()
    drawn = rest.buf
  end
  local text, replaced = rest.text, rest.replaced
  if replaced ~= '' and vim.endswith(text, replaced) and not text:find('\n', 1, true) then
    -- The end of the suggestion stands there already.
    text, replaced = text:sub(1, -#replaced - 1), ''
  end
  local lines = vim.split(text, '\n', { plain = true })
  local below = {}
  for number = 2, #lines do
    below[#below + 1] = { { expand_tabs(lines[number], 0), 'SparkSuggestion' } }
  end
  local column = vim.fn.strdisplaywidth(
    (api.nvim_buf_get_lines(rest.buf, rest.row, rest.row + 1, false)[1] or ''):sub(1, rest.col)
  )
  api.nvim_buf_set_extmark(rest.buf, namespace, rest.row, rest.col, {
    id = TEXT_MARK,
    virt_text = { { expand_tabs(lines[1], column), 'SparkSuggestion' } },
    virt_text_pos = 'inline',
    virt_lines = #below > 0 and below or nil,
    hl_mode = 'combine',
    priority = PRIORITY,
    undo_restore = false,
  })
  api.nvim_buf_del_extmark(rest.buf, namespace, REPLACED_MARK)
  if replaced ~= '' then
    api.nvim_buf_set_extmark(rest.buf, namespace, rest.row, rest.col, {
      id = REPLACED_MARK,
      end_col = rest.col + #replaced,
      hl_group = 'SparkReplaced',
      priority = PRIORITY,
      undo_restore = false,
    })
  end
end

return M
