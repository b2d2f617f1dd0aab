import type { LogPayloads, Resources } from '../../../log/contract/log.js'

/** The inputs of a command besides its statement. `db` is the database for names without a project. */
export type CommandInputs = {
  db: string
  defaultProject: string
  resources: Pick<Resources, 'one'>
  /** The secrets of resources, which a check of what they are together with a change needs. */
  payloads: Pick<LogPayloads, 'payload'>
  /** A seed for a training whose statement has none. */
  seed: () => number
  /** Milliseconds since 1970. */
  now: () => number
}
