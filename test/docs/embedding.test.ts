import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, expect, test } from '@jest/globals'
import { readPage } from '../../docs/generators/pages.js'
import { repository, runProgram } from '../support/cli.js'
import { sql, startTestService, temporaryDirectory } from '../support/service.js'

const page = readPage('use/embedding.md')
const block = (language: string): string => {
  const [found, ...others] = [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(([, text = '']) => text)
  if (found === undefined || others.length > 0) throw new Error(`the page has not one block of ${language}`)
  return found
}
/** The rows of the page's table, below its heads. */
const table = [...page.matchAll(/^\| (.*) \|$/gm)].slice(1).map(([, row = '']) => row.split(' | '))

const place = temporaryDirectory()
afterAll(() => place.remove())

test('the program of docs/use/embedding.md does what the page says, and the service shows what it wrote', async () => {
  // What `npm install mindledger @event-driven-io/emmett` makes of a folder, as far as the program needs it.
  const modules = join(place.path, 'node_modules')
  mkdirSync(join(modules, 'mindledger'), { recursive: true })
  symlinkSync(join(repository, 'node_modules', '@event-driven-io'), join(modules, '@event-driven-io'))
  const entry = pathToFileURL(join(repository, 'dist/bin/log.js')).href
  writeFileSync(join(modules, 'mindledger', 'log.js'), `export * from '${entry}'\n`)
  writeFileSync(join(modules, 'mindledger', 'package.json'), JSON.stringify({ type: 'module', exports: { './log': './log.js' } }))
  writeFileSync(join(place.path, 'program.mjs'), block('js'))
  const ended = await runProgram(process.execPath, ['program.mjs'], { cwd: place.path })
  expect(ended).toEqual({ code: 0, out: block('text'), err: '' })

  const service = await startTestService({ DATA_DIR: join(place.path, 'data') })
  try {
    const { column_names, data } = await sql(service.url, block('sql'))
    expect([column_names.map((name) => name.toUpperCase()), ...data]).toEqual([['TYPE', 'ACTOR', 'DATA'], ...table])
  } finally {
    await service.stop()
  }
})
