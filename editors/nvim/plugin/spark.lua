if vim.g.loaded_spark then
  return
end
vim.g.loaded_spark = true

local SUBCOMMANDS = { 'accept', 'disable', 'dismiss', 'enable', 'restart', 'status', 'toggle' }

vim.api.nvim_create_user_command('Spark', function(command)
  local name = command.args == '' and 'status' or command.args
  if not vim.tbl_contains(SUBCOMMANDS, name) then
    local message = 'spark: unknown subcommand `%s`; known are %s'
    vim.notify(message:format(name, table.concat(SUBCOMMANDS, ', ')), vim.log.levels.ERROR)
    return
  end
  require('spark')[name]()
end, {
  nargs = '?',
  desc = 'Inline completions of spark-lsp',
  complete = function(typed)
    return vim.tbl_filter(function(name)
      return vim.startswith(name, typed)
    end, SUBCOMMANDS)
  end,
})
