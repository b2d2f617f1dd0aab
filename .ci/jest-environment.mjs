import { constants, createContext } from 'node:vm'
import { TestEnvironment } from 'jest-environment-node'

/**
 * The global object of Jest's own code: tests and what they import have that of Node (jest-runtime.cjs). Both have the same constructors,
 * so that `expect` knows an error or a number of theirs; and it is an ordinary object, where Jest's own is a proxy. A Node that cannot
 * make an ordinary one (before 20.18) keeps the proxy.
 */
export default class SharedEnvironment extends TestEnvironment {
  constructor(config, context) {
    super(config, context)
    const given = this.global
    if (constants?.DONT_CONTEXTIFY !== undefined) {
      const ordinary = createContext(constants.DONT_CONTEXTIFY)
      for (const name of Reflect.ownKeys(given))
        if (!(name in ordinary)) Object.defineProperty(ordinary, name, Object.getOwnPropertyDescriptor(given, name))
      ordinary.global = ordinary
      this.context = this.global = ordinary
      this.fakeTimersModern = new this.fakeTimersModern.constructor({ config: config.projectConfig, global: ordinary })
    }
    for (const name of Object.getOwnPropertyNames(globalThis))
      if (/^[A-Z]/.test(name) && typeof globalThis[name] === 'function') this.global[name] = globalThis[name]
  }
}
