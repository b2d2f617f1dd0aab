import { fileURLToPath } from 'node:url'

/** What the service and its commands start beside themselves: processes, and threads (the last three). */
type Program =
  'sql-process' | 'aside-process' | 'ingest-process' | 'train-process' | 'onnx-process' | 'watchdog' | 'crew-thread' | 'meaning-worker'

/**
 * The file of a program. The build puts them into one folder, and the path to it is the same from a program as from this module.
 *
 * @example fork(programFile('train-process'))
 */
export const programFile = (program: Program): string => fileURLToPath(new URL(`../bin/${program}.js`, import.meta.url))

/** The file of a module that is used as it was compiled, by its path in `src`. */
export const compiledFile = (path: string): string => fileURLToPath(new URL(`../src/${path}`, import.meta.url))
