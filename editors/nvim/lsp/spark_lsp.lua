--- Configuration for `vim.lsp.enable('spark_lsp')` (Neovim 0.11 and newer). `require('spark').setup()` does that too.

local config = require('spark.client').lsp_config()
config.on_attach = function()
  require('spark').ensure_setup()
end
return config
