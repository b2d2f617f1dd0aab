import type { Resources } from '../../../log/contract/log.js'

/** Where names without a project are looked up, and what there is. */
export type CommandInputs = {
  db: string
  defaultProject: string
  resources: Pick<Resources, 'one'>
  /** A number for a training's chance, when the statement names none. */
  seed: () => number
  /** Milliseconds since 1970. */
  now: () => number
}
