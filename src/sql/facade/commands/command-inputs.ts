import type { Resources } from '../../../log/contract/log.js'

/** The inputs of a command besides its statement. `db` is where names without a project are looked up. */
export type CommandInputs = {
  db: string
  defaultProject: string
  resources: Pick<Resources, 'one'>
  /** A seed for a training whose statement names none. */
  seed: () => number
  /** Milliseconds since 1970. */
  now: () => number
}
