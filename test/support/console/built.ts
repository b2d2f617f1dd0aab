import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '../cli.js'

/**
 * The scripts of the built console that have a text in them: their names have hashes.
 *
 * @example builtWith('u-legend') // ['uPlot.esm-BScb58at.js']
 */
export const builtWith = (text: string): string[] => {
  const assets = join(repository, 'dist/console/assets')
  return readdirSync(assets).filter((name) => name.endsWith('.js') && readFileSync(join(assets, name), 'utf8').includes(text))
}
