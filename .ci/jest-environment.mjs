import { constants, createContext } from 'node:vm'
import { TestEnvironment } from 'jest-environment-node'

/** Node's buffers are these, and not those of another context. */
const shared = new Set(['Buffer', 'ArrayBuffer', 'Uint8Array'])

/**
 * Jest's environment for Node, with an ordinary object as the global one. In Jest's own, every `Math` and `Buffer` that code names goes
 * through a proxy, which makes a loop of numbers a hundred times slower. A Node that cannot make an ordinary one (before 20.18) keeps
 * Jest's own.
 */
export default class OrdinaryEnvironment extends TestEnvironment {
  constructor(config, context) {
    super(config, context)
    if (constants?.DONT_CONTEXTIFY === undefined) return
    const proxied = this.global
    const ordinary = createContext(constants.DONT_CONTEXTIFY)
    for (const name of Reflect.ownKeys(proxied))
      if (shared.has(name) || !(name in ordinary)) Object.defineProperty(ordinary, name, Object.getOwnPropertyDescriptor(proxied, name))
    ordinary.global = ordinary
    ordinary.Error.stackTraceLimit = proxied.Error.stackTraceLimit
    this.context = this.global = ordinary
    this.fakeTimersModern = new this.fakeTimersModern.constructor({ config: config.projectConfig, global: ordinary })
  }
}
