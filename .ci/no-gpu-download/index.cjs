/** Called by the install script before it reads this setting. */
exports.bootstrap = () => {
  process.env.ONNXRUNTIME_NODE_INSTALL = 'skip'
}
