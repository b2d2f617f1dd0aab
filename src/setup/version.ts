import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { packageRoot } from './package.js'

/** The version in package.json. */
export const readVersion = (): string =>
  z.object({ version: z.string() }).parse(JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'))).version
