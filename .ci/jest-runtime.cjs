const { AsyncLocalStorage } = require('node:async_hooks')
const { createRequire, register } = require('node:module')
const { pathToFileURL } = require('node:url')
const { ModernFakeTimers } = require('@jest/fake-timers')
const { ModuleMocker } = require('jest-mock')
const { default: Runtime } = require('jest-runtime')

const globals = pathToFileURL(require.resolve('./jest-globals.mjs')).href
const hook = `export const resolve = (name, context, next) =>
  name === '@jest/globals' ? { url: ${JSON.stringify(globals)}, shortCircuit: true } : next(name, context)`
register(`data:text/javascript,${encodeURIComponent(hook)}`)

/** A browser's driver has such a storage, which is never ended: each promise of later files would pass it. */
const storages = new Set()
const { run } = AsyncLocalStorage.prototype
AsyncLocalStorage.prototype.run = function (...given) {
  storages.add(this)
  return run.apply(this, given)
}

/**
 * Tells the runner which test or hook an error belongs to. Its own storage would follow each promise of the tests and of the service in
 * them, which slows all of them down. Here tests and hooks run one after the other, so the one that runs now is enough.
 */
class WhatRunsNow {
  #now

  getStore() {
    return this.#now
  }

  async run(now, task) {
    const before = this.#now
    this.#now = now
    try {
      return await task()
    } finally {
      this.#now = before
    }
  }
}

const named = (of, names) => Object.fromEntries(names.map((name) => [name, of[name].bind(of)]))

/**
 * Jest's runtime, but Node itself imports the tests and their modules, as in production. Jest would load each module anew for each test
 * file, in a separate context where code never gets warm: that took a third of the time of all tests. The state of modules stays from one
 * file to the next; mocks, fake times and the environment do not.
 */
module.exports = class extends Runtime {
  mocks = new ModuleMocker(globalThis)
  timers = new ModernFakeTimers({ config: this._config, global: globalThis })
  environment = { ...process.env }

  setGlobalsForRuntime(globals) {
    super.setGlobalsForRuntime(globals)
    const jest = {
      ...named(this.mocks, ['fn', 'spyOn', 'replaceProperty', 'restoreAllMocks']),
      ...named(this.timers, ['useFakeTimers', 'useRealTimers', 'setSystemTime', 'advanceTimersByTime']),
    }
    this.globals = { ...globals, jest }
  }

  /**
   * Each test file has a runner of its own. What the runner requires, such as `expect`, is loaded once, by Node itself: Jest would compile
   * all of it for each test file, in a context whose global object is a proxy.
   */
  requireInternalModule(from, to) {
    if (to === undefined) return super.requireInternalModule(from)
    return to === 'node:async_hooks' ? { AsyncLocalStorage: WhatRunsNow } : createRequire(from)(to)
  }

  unstable_shouldLoadAsEsm() {
    return true
  }

  async unstable_importModule(path) {
    const { use } = await import(globals)
    use(this.globals)
    // Nothing is transformed, so Node tells the right places. Jest would wrap each frame of each stack, and look for a map of its file.
    Error.prepareStackTrace = undefined
    await import(pathToFileURL(path).href)
  }

  teardown() {
    super.teardown()
    this.mocks.restoreAllMocks()
    this.timers.useRealTimers()
    for (const name of Object.keys(process.env)) if (!(name in this.environment)) delete process.env[name]
    Object.assign(process.env, this.environment)
    for (const storage of storages) storage.disable()
    storages.clear()
  }
}
module.exports.default = module.exports
