import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Names the code that makes states out of events: whatever another release built must be built anew.
 * Covers every file of a folder as it runs.
 *
 * @example codeFingerprint(import.meta.dirname) // 64 hex digits
 */
export const codeFingerprint = (folder: string = import.meta.dirname): string => {
  const digest = createHash('sha256')
  for (const file of readdirSync(folder).sort())
    if (file.endsWith('.js'))
      digest
        .update(file)
        .update('\0')
        .update(readFileSync(join(folder, file)))
        .update('\0')
  return digest.digest('hex')
}
