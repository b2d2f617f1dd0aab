import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from './package-root.js'

/**
 * A fingerprint of the code that makes states out of events: what another release built must be rebuilt. It covers every compiled file in a
 * folder, `events` by default. A bundled program has the same fingerprint as its modules.
 *
 * @example codeFingerprint() // 64 hex digits
 */
export const codeFingerprint = (folder: string = join(packageRoot, 'dist/events')): string => {
  const digest = createHash('sha256')
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort())
    if (file.endsWith('.js'))
      digest
        .update(file)
        .update('\0')
        .update(readFileSync(join(folder, file)))
        .update('\0')
  return digest.digest('hex')
}
