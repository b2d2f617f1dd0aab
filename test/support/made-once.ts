import { chmodSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * A directory that is made once per machine, because making it takes seconds. If two tests make it at the same time, only a complete
 * directory is used, and every user may read it.
 *
 * @example const place = await madeOnce(`browser-${version}`, unpackInto)
 */
export const madeOnce = async (name: string, make: (directory: string) => Promise<void>): Promise<string> => {
  const place = join(tmpdir(), `mindledger-${name}`)
  if (existsSync(place)) return place
  const part = mkdtempSync(`${place}-`)
  chmodSync(part, 0o755)
  try {
    await make(part)
    renameSync(part, place)
  } catch (error) {
    rmSync(part, { recursive: true, force: true })
    // Another test was faster.
    if (!existsSync(place)) throw error
  }
  return place
}
