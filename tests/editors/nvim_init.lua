-- Init file of the Neovim that the tests drive: the plugin from this repository and nothing of the user's.
local here = vim.fs.dirname(debug.getinfo(1, 'S').source:sub(2))
vim.opt.runtimepath:prepend(vim.fs.normalize(here .. '/../../editors/nvim'))
vim.opt.swapfile = false
vim.opt.shadafile = 'NONE'
vim.opt.more = false
vim.g.loaded_python3_provider = 0 -- looking for it takes a second
vim.cmd('filetype plugin indent on')

-- What a user would have seen: notifications are kept instead of shown.
_G.notifications = {}
vim.notify = function(message, level)
  table.insert(_G.notifications, { message = message, level = level })
end

_G.canned = dofile(here .. '/nvim_canned_server.lua')
