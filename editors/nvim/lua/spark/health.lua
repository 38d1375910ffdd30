--- `:checkhealth spark`.

local client = require('spark.client')
local config = require('spark.config')
local native = require('spark.native')

local M = {}

--- Reports the Neovim version, the server and its engine.
function M.check()
  vim.health.start('spark')
  if vim.fn.has('nvim-0.10') == 1 then
    local display = native.available() and 'and has inline completion of its own' or 'suggestions are drawn by spark'
    vim.health.ok(('Neovim %s, %s'):format(tostring(vim.version()), display))
  else
    vim.health.error('Neovim 0.10 or newer is needed')
  end
  local cmd = config.current.cmd
  if type(cmd) ~= 'table' then
    vim.health.info('The server is started by a function')
  elseif vim.fn.executable(cmd[1]) == 1 then
    vim.health.ok(('`%s` is %s'):format(cmd[1], vim.fn.exepath(cmd[1])))
  else
    vim.health.error(('`%s` was not found'):format(cmd[1]), { 'Install spark-lsp', 'Or set the option `cmd`' })
  end
  local state = client.state()
  if state == 'stopped' then
    vim.health.warn('The server is not running', { 'Open a file that has a file type', 'Or run :Spark restart' })
  elseif state == 'failed' then
    vim.health.error('The model could not be loaded', { 'Run :Spark status' })
  else
    vim.health.ok('The server is running: ' .. state)
  end
end

return M
