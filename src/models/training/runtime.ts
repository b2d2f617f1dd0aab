/** What an engine's results depend on besides its own code. Stored with each training. */
export type Runtime = { node: string; v8: string; platform: string; arch: string }

/** The runtime of this process. */
export const runtimeHere = (): Runtime => ({
  node: process.versions.node,
  v8: process.versions.v8,
  platform: process.platform,
  arch: process.arch,
})
