import type { Resources } from '../../../log/contract/log.js'

/** What a command is made with beside its statement. `db` is where names without a project are looked up. */
export type CommandInputs = {
  db: string
  defaultProject: string
  resources: Pick<Resources, 'one'>
  /** A seed for a training whose statement names none. */
  seed: () => number
  /** Milliseconds since 1970. */
  now: () => number
}
