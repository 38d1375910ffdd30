--- The ghost text: which suggestion is shown, kept up while the user types what it shows.

local render = require('spark.render')
local suggestions = require('spark.suggestion')

local M = {}

---@type spark.Suggestion[] The alternatives for this place; empty when nothing is shown.
local list = {}
local index = 1
---@type spark.Rest?
local shown

--- Removes the ghost text.
function M.hide()
  list, index, shown = {}, 1, nil
  render.clear()
end

--- Brings the ghost text up to date with the buffer and the cursor: shortened by what was typed of it, or removed.
---@return boolean # whether anything is shown
function M.sync()
  local suggestion = list[index]
  if not suggestion then
    return false
  end
  shown = suggestions.rest(suggestion)
  if not shown then
    M.hide()
    return false
  end
  render.draw(shown)
  return true
end

--- Shows one of several suggestions.
---@param alternatives spark.Suggestion[]
---@param chosen integer
function M.show(alternatives, chosen)
  list, index = alternatives, chosen
  if not M.sync() then
    M.hide()
  end
end

--- Shows an unfinished suggestion, unless what is shown already begins with it.
---@param suggestion spark.Suggestion
function M.grow(suggestion)
  local rest = suggestions.rest(suggestion)
  if rest and not (shown and vim.startswith(shown.text, rest.text)) then
    M.show({ suggestion }, 1)
  end
end

--- Shows the next (1) or the previous (-1) alternative that still fits what was typed.
---@param step integer
function M.cycle(step)
  for distance = 1, #list do
    local candidate = (index - 1 + step * distance) % #list + 1
    if suggestions.rest(list[candidate]) then
      M.show(list, candidate)
      return
    end
  end
end

--- Number of alternatives.
---@return integer
function M.count()
  return #list
end

--- The suggestion that is shown, and what is left of it; nil if there is none at the cursor.
---@return spark.Suggestion?, spark.Rest?
function M.current()
  if not list[index] then
    return nil
  end
  local rest = suggestions.rest(list[index])
  if not rest then
    return nil
  end
  return list[index], rest
end

return M
