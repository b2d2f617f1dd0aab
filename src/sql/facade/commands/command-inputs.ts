import type { Resources } from '../../../log/contract/log.js'

/** The inputs of a command besides its statement. `db` is the database for names without a project. */
export type CommandInputs = {
  db: string
  defaultProject: string
  resources: Pick<Resources, 'one'>
  /** A seed for a training whose statement has none. */
  seed: () => number
  /** Milliseconds since 1970. */
  now: () => number
}
