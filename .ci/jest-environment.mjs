import { TestEnvironment } from 'jest-environment-node'

/**
 * The global object of Jest's own code: tests and what they import have that of Node (jest-runtime.cjs). Both have the same constructors,
 * so that `expect` knows an error or a number of theirs.
 */
export default class SharedEnvironment extends TestEnvironment {
  constructor(config, context) {
    super(config, context)
    for (const name of Object.getOwnPropertyNames(globalThis))
      if (/^[A-Z]/.test(name) && typeof globalThis[name] === 'function') this.global[name] = globalThis[name]
  }
}
