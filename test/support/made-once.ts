import { chmodSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * A directory that is made once for this machine: what takes seconds is not made anew for each file of tests. Whoever makes it beside
 * another test makes it whole or not at all, and everybody may read it.
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
    // Another test was first.
    if (!existsSync(place)) throw error
  }
  return place
}
