import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { runProgram } from '../support/cli.js'
import { blocksOf, complaints, openClone, readSource, shownLine, type Clone } from '../support/clone.js'
import { settled } from '../support/models/rentals.js'
import { send, sql } from '../support/service.js'

const page = readSource('docs/learn/recipes.md')
const python = blocksOf(page)
  .filter(({ language }) => language === 'python')
  .map(({ text }) => text)
  .join('\n')

let clone: Clone
beforeAll(async () => {
  clone = await openClone()
})
afterAll(() => clone.stop())

test('the shell, SQL and JavaScript of the recipes do what the page shows', async () => {
  let out = ''
  for (const { language, text } of blocksOf(page))
    if (language === 'sh') {
      const ended = await clone.shell(text)
      expect({ text, code: ended.code, err: complaints(ended) }).toEqual({ text, code: 0, err: '' })
      out = ended.out
    } else if (language === 'sql') {
      for (const statement of text.split(/;\n/)) {
        const answer = await sql(clone.url, statement)
        expect({ statement, error: answer.error_message }).toEqual({ statement, error: undefined })
        if (answer.type === 'table') out = answer.data.map((row) => row.join(' | ')).join('\n')
      }
    } else if (language === 'js') {
      writeFileSync(join(clone.home, 'plot.mjs'), text.replace('http://localhost:47334', clone.url))
      expect(await runProgram(process.execPath, ['plot.mjs'], { cwd: clone.home })).toEqual({ code: 0, out: '', err: '' })
    } else if (language === 'text') for (const line of text.trimEnd().split('\n')) expect(out).toMatch(shownLine(line))
  const drawn = readFileSync(join(clone.home, 'forecast.svg'), 'utf8')
  // Six years of months before, three of months to come.
  expect([...drawn.matchAll(/polyline points="([^"]+)"/g)].map(([, points = '']) => points.split(' ').length)).toEqual([76, 36])
  expect(drawn).not.toMatch(/NaN|Infinity|undefined/)
  expect(await sql(clone.url, 'SELECT count(*) FROM files.sales')).toMatchObject({ data: [[2]] })
})

test('the warning about dates is in the answer of the upload', async () => {
  const form = new FormData()
  form.set('file', new Blob(['day,sold\n03/04/2024,5\n07/08/2024,6\n']), 'sales.csv')
  const { body } = await send(clone.url, 'PUT', '/api/files/doubtful', form)
  expect((body as { warnings: string[] }).warnings).toEqual([expect.stringContaining('strptime')])
})

test('the calls of the Python are answered as it reads them', async () => {
  const calls = [...python.matchAll(/requests\.(\w+)\(f"\{SERVICE\}([^"]+)"/g)].map(
    ([, method = '', path = '']) => `${method.toUpperCase()} ${path}`,
  )
  expect([...new Set(calls)]).toEqual(['POST /api/sql/query', 'PUT /api/files/{name}', 'POST /api/projects/mindsdb/models/{model}/predict'])
  const rows = Array.from({ length: 10 }, () => '30,310\n42,400\n55,520').join('\n')
  const form = new FormData()
  form.set('file', new Blob([`size,rent\n${rows}\n`]), 'table.csv')
  expect((await send(clone.url, 'PUT', '/api/files/homes', form)).body).toMatchObject({ warnings: [] })

  const statements = [...python.matchAll(/\bquery\((?:f?")([^"]+)"(, as_of=1)?/g)]
  expect(statements.length).toBeGreaterThan(4)
  for (const [, query = '', asOf] of statements) {
    const context = { db: 'mindsdb', ...(asOf !== undefined && { as_of: 1 }) }
    const { body } = await send(clone.url, 'POST', '/api/sql/query', { query, context })
    const { type, error_message, column_names } = body as { type: string; error_message?: string; column_names?: string[] }
    expect({ query, error_message, isTable: column_names !== undefined }).toEqual({ query, error_message: undefined, isTable: true })
    expect(['table', 'ok']).toContain(type)
    if (query.startsWith('CREATE MODEL')) await settled(clone.url, 'rent')
  }
  const csv = await send(clone.url, 'POST', '/api/sql/query', { query: 'SELECT 1 AS a, NULL AS b' }, { accept: 'text/csv' })
  expect([csv.status, csv.body]).toEqual([200, expect.stringMatching(/^a,b\r?\n1,\r?\n$/)])
  const predicted = await send(clone.url, 'POST', '/api/projects/mindsdb/models/rent/predict', [{ size: 38 }, { size: 60 }])
  expect(predicted.body).toEqual([expect.objectContaining({ rent: expect.any(Number) }), expect.objectContaining({ size: 60 })])
})
