import { join } from 'node:path'
import { packageRoot } from './package-root.js'

/** What the service and its commands start: processes, and threads (the last three). */
type Program = 'sql-process' | 'ingest-process' | 'train-process' | 'onnx-process' | 'watchdog' | 'pool-thread' | 'meaning-worker'

/**
 * The file of a program: the build puts them into one folder.
 *
 * @example fork(programFile('train-process'))
 */
export const programFile = (program: Program): string => join(packageRoot, 'dist/bin', `${program}.js`)

/** The file of a compiled module, by its path in `src`. */
export const compiledFile = (path: string): string => join(packageRoot, 'dist/src', path)
