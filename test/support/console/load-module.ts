import { build } from 'esbuild'
import { join } from 'node:path'
import { repository } from '../cli.js'

/**
 * Loads a module of the console that needs no browser. Nothing else imports the console, so it is built for this.
 *
 * @param path below src/console
 * @example const { withoutSecrets } = await loadModule<Secrets>('basics/secrets.ts')
 */
export const loadModule = async <T>(path: string): Promise<T> => {
  const { outputFiles } = await build({
    entryPoints: [join(repository, 'src/console', path)],
    ...{ bundle: true, write: false, format: 'esm', platform: 'neutral' },
  })
  return (await import(`data:text/javascript;base64,${Buffer.from(outputFiles[0]?.contents ?? []).toString('base64')}`)) as T
}
