import { TestEnvironment } from 'jest-environment-node'

/**
 * The global object of Jest's runner. Tests, their imports and `expect` use the global object of Node (jest-runtime.cjs). Both have the
 * same constructors, so that the runner recognizes the errors of tests.
 */
export default class SharedEnvironment extends TestEnvironment {
  constructor(config, context) {
    super(config, context)
    for (const name of Object.getOwnPropertyNames(globalThis))
      if (/^[A-Z]/.test(name) && typeof globalThis[name] === 'function') this.global[name] = globalThis[name]
  }

  /** Listeners of `testFailed` show what a failure cannot say, such as the pages that are open then. */
  async handleTestEvent({ name }) {
    if (name === 'test_fn_failure') await Promise.all(process.listeners('testFailed').map((show) => show()))
  }
}
