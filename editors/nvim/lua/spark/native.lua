--- Suggestions shown by Neovim itself: `vim.lsp.inline_completion`, from 0.12 on. Same interface as `spark.inline`.

local api = vim.api
local accept = require('spark.accept')
local client = require('spark.client')

local M = {}

---@type table<integer, true> Clients that inline completion was turned on for.
local enabled = {}
local on = false

--- Whether this Neovim has inline completion.
---@return boolean
function M.available()
  return vim.lsp.inline_completion ~= nil
end

---@param client_id integer
local function enable_client(client_id)
  if not enabled[client_id] then -- a client attaches to many buffers
    enabled[client_id] = true
    vim.lsp.inline_completion.enable(true, { client_id = client_id })
  end
end

--- Turns inline completion on for our client, and for every one that attaches later.
---@param group integer Autocommand group.
function M.enable(group)
  on = true
  api.nvim_create_autocmd('LspAttach', {
    group = group,
    desc = 'Enable inline completion of spark-lsp',
    callback = function(event)
      local attached = vim.lsp.get_client_by_id(event.data.client_id)
      if attached and attached.name == client.NAME then
        enable_client(attached.id)
      end
    end,
  })
  for _, running in ipairs(vim.lsp.get_clients({ name = client.NAME })) do
    enable_client(running.id)
  end
end

--- Turns inline completion off for our clients.
function M.disable()
  on = false
  for client_id in pairs(enabled) do
    if vim.lsp.get_client_by_id(client_id) then
      vim.lsp.inline_completion.enable(false, { client_id = client_id })
    end
  end
  enabled = {}
end

---@param options? table
---@return boolean
local function get(options)
  return on and vim.lsp.inline_completion.get(options) == true
end

--- Accepts all of the ghost text.
---@return boolean
function M.accept()
  return get()
end

--- Inserts the beginning of what is left of an item at the cursor.
---@param part fun(text: string): string
---@return fun(item: table): nil
local function partially(part)
  return function(item)
    local cursor = api.nvim_win_get_cursor(0)
    local row, col = cursor[1] - 1, cursor[2]
    local text, range = item.insert_text, item.range
    if type(text) ~= 'string' then
      return nil
    end
    if range then
      local start_row = range.start_row or range.start.row
      local start_col = range.start_col or range.start.col
      if start_row > row or (start_row == row and start_col > col) then
        return nil
      end
      local typed = table.concat(api.nvim_buf_get_text(0, start_row, start_col, row, col, {}), '\n')
      if not vim.startswith(text, typed) then
        return nil
      end
      text = text:sub(#typed + 1)
    end
    accept.insert(0, row, col, part(text), 0)
    return nil -- nothing else is to be applied
  end
end

--- Accepts up to the end of the next word.
---@return boolean
function M.accept_word()
  return get({ on_accept = partially(accept.first_word) })
end

--- Accepts up to the end of the line.
---@return boolean
function M.accept_line()
  return get({ on_accept = partially(accept.first_line) })
end

--- Accepts nothing; Neovim hides the text.
---@return boolean
function M.dismiss()
  return get({
    on_accept = function()
      return nil
    end,
  })
end

---@param count integer
---@return boolean
local function select(count)
  if on then
    vim.lsp.inline_completion.select({ count = count })
  end
  return on
end

--- Shows the next alternative.
---@return boolean
function M.next()
  return select(1)
end

--- Shows the previous alternative.
---@return boolean
function M.prev()
  return select(-1)
end

--- Neovim does not tell whether ghost text is shown; accepting does.
---@return boolean
function M.visible()
  return false
end

--- Neovim keeps its requests to itself.
---@return boolean
function M.busy()
  return false
end

return M
