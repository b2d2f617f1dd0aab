// The installed package: its folder, its programs, and the fingerprint of its code.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createHash, type Hash } from 'node:crypto'

/** The folder of this package: the nearest one above the running file that holds a package.json. */
export const packageRoot: string = (() => {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'package.json'))) {
    const parent = dirname(folder)
    if (parent === folder) throw new Error('Mindledger runs inside its package: no package.json was found above its files.')
    folder = parent
  }
  return folder
})()

/** The programs that the service and its commands start: processes, and threads (the last three). */
export type Program =
  | 'sql-process'
  | 'ingest-process'
  | 'train-process'
  | 'onnx-process'
  | 'connections-process'
  | 'knowledge-process'
  | 'export-process'
  | 'verifier'
  | 'watchdog'
  | 'pool-thread'
  | 'semantic-check-worker'

/**
 * The file of a program. The build puts all programs into one folder.
 *
 * @example new Worker(programFile('pool-thread'))
 */
export const programFile = (program: Program): string => join(packageRoot, 'dist/bin', `${program}.js`)

/** The file of a compiled module, by its path in `src`. */
export const compiledFile = (path: string): string => join(packageRoot, 'dist/src', path)

/** The hash of every compiled file in some folders. */
const fingerprintOf = (...folders: string[]): string => {
  const digest = createHash('sha256')
  for (const folder of folders) addFolder(digest, folder)
  return digest.digest('hex')
}

const addFolder = (digest: Hash, folder: string): void => {
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort())
    if (file.endsWith('.js'))
      digest
        .update(file)
        .update('\0')
        .update(readFileSync(join(folder, file)))
        .update('\0')
}

let ours: string | undefined

/**
 * A fingerprint of the code that computes states from events: states of another release must be rebuilt. A bundled program has the same
 * fingerprint as its modules. The code of a running program does not change, so its files are read once.
 *
 * @example codeFingerprint() // 64 hex digits
 */
export const codeFingerprint = (): string => (ours ??= fingerprintOf(join(packageRoot, 'dist/events')))

/** A fingerprint of the code that builds indexes of knowledge bases: indexes of other code are rebuilt. */
export const knowledgeFingerprint = (): string =>
  fingerprintOf(...['dist/events', 'dist/src/knowledge/documents', 'dist/src/knowledge/index'].map((folder) => join(packageRoot, folder)))
