import { readFileSync } from 'node:fs'
import { z } from 'zod'

/** The version in package.json, wherever the compiled files stand below it. */
export const readVersion = (): string => {
  const file = new URL('../../package.json', import.meta.url)
  return z.object({ version: z.string() }).parse(JSON.parse(readFileSync(file, 'utf8'))).version
}
