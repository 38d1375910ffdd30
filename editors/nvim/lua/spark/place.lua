--- A place in one version of one buffer, and its columns in the units of a language server.

local api = vim.api

local M = {}

---@class spark.Place
---@field buf integer
---@field tick integer The buffer's changedtick.
---@field row integer From 0.
---@field col integer Bytes from 0.

local modern = vim.fn.has('nvim-0.11') == 1

--- Returns the place of the cursor.
---@return spark.Place
function M.here()
  local buf = api.nvim_get_current_buf()
  local cursor = api.nvim_win_get_cursor(0)
  return { buf = buf, tick = api.nvim_buf_get_changedtick(buf), row = cursor[1] - 1, col = cursor[2] }
end

--- Whether two places are the same in the same text.
---@param a? spark.Place
---@param b? spark.Place
---@return boolean
function M.same(a, b)
  return a ~= nil and b ~= nil and a.buf == b.buf and a.tick == b.tick and a.row == b.row and a.col == b.col
end

--- Returns one line of a buffer, or the empty string.
---@param buf integer
---@param row integer
---@return string
function M.line(buf, row)
  return api.nvim_buf_get_lines(buf, row, row + 1, false)[1] or ''
end

--- Returns the byte column of a column in `encoding`; columns beyond the line are clamped to it.
---@param line string
---@param column integer
---@param encoding string 'utf-8', 'utf-16' or 'utf-32'
---@return integer
function M.to_bytes(line, column, encoding)
  if encoding == 'utf-8' then
    return math.min(column, #line)
  end
  if modern then
    return vim.str_byteindex(line, encoding, column, false)
  end
  local utf32, utf16 = vim.str_utfindex(line)
  local units = encoding == 'utf-16' and utf16 or utf32
  return vim.str_byteindex(line, math.min(column, units), encoding == 'utf-16')
end

--- Returns the column in `encoding` of a byte column.
---@param line string
---@param bytes integer
---@param encoding string
---@return integer
function M.from_bytes(line, bytes, encoding)
  bytes = math.min(bytes, #line)
  if encoding == 'utf-8' then
    return bytes
  end
  if modern then
    return vim.str_utfindex(line, encoding, bytes, false)
  end
  local utf32, utf16 = vim.str_utfindex(line, bytes)
  return encoding == 'utf-16' and utf16 or utf32
end

return M
