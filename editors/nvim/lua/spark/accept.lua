--- Puts ghost text, or the beginning of it, into the buffer.

local api = vim.api
local client = require('spark.client')
local ghost = require('spark.ghost')

local M = {}

--- Closes the current undo step. Setting the option does so, whatever the value.
local function close_undo_step()
  vim.go.undolevels = vim.go.undolevels
end

--- Returns the beginning of `text` up to the end of its next word: blanks, then characters of one class (letters,
--- punctuation, a script without spaces).
---@param text string
---@return string
function M.first_word(text)
  local class, length = 0, 0
  for _, character in ipairs(vim.fn.split(text, [[\zs]])) do
    local here = character:match('^%s') and 0 or vim.fn.charclass(character)
    if class ~= 0 and here ~= class then
      break
    end
    class, length = here, length + #character
  end
  return text:sub(1, length)
end

--- Returns the beginning of `text` up to the end of its first line that is not empty.
---@param text string
---@return string
function M.first_line(text)
  return (text:match('^\n*[^\n]*'))
end

---@param command table
---@param buf integer
local function execute(command, buf)
  local server = client.get(buf)
  if server then
    client.call(server, 'request', 'workspace/executeCommand', {
      command = command.command,
      arguments = command.arguments,
    }, function(err)
      if err then
        vim.lsp.log.error('spark', 'executeCommand failed', err)
      end
    end, buf)
  end
end

--- Inserts `text` as one undo step and puts the cursor behind it.
---@param buf integer
---@param row integer From 0.
---@param col integer Bytes from 0.
---@param text string
---@param replaced integer Bytes after the column that the text replaces.
function M.insert(buf, row, col, text, replaced)
  local lines = vim.split(text, '\n', { plain = true })
  close_undo_step()
  api.nvim_buf_set_text(buf, row, col, row, col + replaced, lines)
  local column = #lines[#lines] + (#lines == 1 and col or 0)
  api.nvim_win_set_cursor(0, { row + #lines, column })
  if vim.startswith(api.nvim_get_mode().mode, 'i') then
    -- What is typed next is another undo step. In Insert mode only this key makes Vim save the line again.
    api.nvim_feedkeys(vim.keycode('<C-g>u'), 'ni', false)
  end
end

--- Inserts the part of the ghost text that `part` chooses; the rest stays shown. The server's command is executed when
--- nothing is left.
---@param part fun(text: string): string
---@return boolean # whether there was anything to accept
function M.accept(part)
  local suggestion, rest = ghost.current()
  if not suggestion or not rest or not vim.bo[rest.buf].modifiable then
    return false
  end
  local text = part(rest.text)
  local whole = text == rest.text
  M.insert(rest.buf, rest.row, rest.col, text, whole and #rest.replaced or 0)
  if whole then
    ghost.hide()
    if suggestion.command then
      execute(suggestion.command, rest.buf)
    end
  else
    ghost.sync()
  end
  return true
end

return M
