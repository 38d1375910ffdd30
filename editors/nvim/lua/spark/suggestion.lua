--- A suggestion: an item of the server, and what is left of it after what was typed since.

local api = vim.api
local place = require('spark.place')

local M = {}

---@class spark.Suggestion
---@field buf integer
---@field row integer Start of the replaced range, from 0.
---@field col integer Its byte column.
---@field text string What the range becomes; lines end in LF.
---@field head string The line before the range.
---@field tail string The line after the cursor.
---@field replaced string The part of `tail` that the range covers.
---@field lines integer Lines of the buffer.
---@field command? table Executed by the server after the whole text was accepted.

---@class spark.Rest
---@field buf integer
---@field row integer The cursor.
---@field col integer
---@field text string What accepting inserts at the cursor.
---@field replaced string What accepting deletes after the cursor.
---@field tail string The line after the cursor.

--- Returns the suggestion of an item that was asked for at `at`, or nil if it cannot be shown there: it adds nothing,
--- or the text before the cursor is not how it begins.
---@param item table
---@param at spark.Place
---@param encoding string
---@return spark.Suggestion?
function M.of(item, at, encoding)
  local text = type(item) == 'table' and item.insertText
  if type(text) ~= 'string' then
    return nil
  end
  text = text:gsub('\r\n?', '\n')
  local line = place.line(at.buf, at.row)
  local first, last = at.col, at.col
  if type(item.range) == 'table' then
    local start, stop = item.range.start, item.range['end']
    if start.line ~= at.row or stop.line ~= at.row then
      return nil
    end
    first = place.to_bytes(line, start.character, encoding)
    last = place.to_bytes(line, stop.character, encoding)
  end
  local typed = line:sub(first + 1, at.col)
  local replaced = line:sub(at.col + 1, last)
  if first > at.col or last < at.col or not vim.startswith(text, typed) or text == typed .. replaced then
    return nil
  end
  return {
    buf = at.buf,
    row = at.row,
    col = first,
    text = text,
    head = line:sub(1, first),
    tail = line:sub(at.col + 1),
    replaced = replaced,
    lines = api.nvim_buf_line_count(at.buf),
    command = type(item.command) == 'table' and item.command or nil,
  }
end

--- Returns what is left of a suggestion at the cursor, or nil if the user went another way.
---@param suggestion spark.Suggestion
---@return spark.Rest?
function M.rest(suggestion)
  local here = place.here()
  local grown = here.row - suggestion.row
  if
    here.buf ~= suggestion.buf
    or grown < 0
    or (grown == 0 and here.col < suggestion.col)
    or api.nvim_buf_line_count(here.buf) - suggestion.lines ~= grown
  then
    return nil
  end
  local lines = api.nvim_buf_get_lines(here.buf, suggestion.row, here.row + 1, false)
  local last = lines[#lines]
  if not vim.startswith(lines[1], suggestion.head) or last:sub(here.col + 1) ~= suggestion.tail then
    return nil
  end
  lines[#lines] = last:sub(1, here.col)
  lines[1] = lines[1]:sub(#suggestion.head + 1)
  local typed = table.concat(lines, '\n')
  if not vim.startswith(suggestion.text, typed) then
    return nil
  end
  local text = suggestion.text:sub(#typed + 1)
  if text == suggestion.replaced then
    return nil
  end
  return {
    buf = here.buf,
    row = here.row,
    col = here.col,
    text = text,
    replaced = suggestion.replaced,
    tail = suggestion.tail,
  }
end

return M
