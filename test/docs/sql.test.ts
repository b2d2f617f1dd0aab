import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { readPage } from '../../docs/generators/pages.js'
import { engineInfos } from '../../src/catalogue/engines.js'
import { tableOptions } from '../../src/catalogue/engine-options.js'
import { metricMeanings } from '../../src/sql/facade/model-attributes.js'
import { catalogue } from '../../src/sql/relations/catalogue.js'
import { send, sql, startTestService } from '../support/service.js'

let service: Awaited<ReturnType<typeof startTestService>>

const homes = [
  'size,rooms,district,rent',
  ...Array.from({ length: 90 }, (_, i) => {
    const size = 20 + ((i * 37) % 90)
    return `${size},${1 + (i % 4)},${['north', 'south', 'harbour'][i % 3] ?? ''},${400 + size * 9 + (i % 3) * 55}`
  }),
].join('\n')

beforeAll(async () => {
  service = await startTestService()
  const form = new FormData()
  form.set('file', new Blob([homes]), 'homes.csv')
  await send(service.url, 'PUT', '/api/files/homes', form)
})
afterAll(() => service.stop())

const examplesOf = (text: string) =>
  [...text.matchAll(/^```sql( refused)?\n(.*?)^```/gms)].flatMap(([, refused, statements = '']) =>
    statements
      .split(/;\n/)
      .filter((statement) => statement.trim() !== '')
      .map((statement) => ({ statement, refused: refused !== undefined })),
  )

/** Who goes through the page by hand waits for the model, too. */
const trained = async (): Promise<void> => {
  const query = `SELECT name FROM information_schema.models WHERE status IN ('generating', 'training')`
  while ((await sql(service.url, query)).data.length > 0) await sleep(50)
}

test.each([
  ['use/sql.md', 40],
  ['use/models.md', 15],
  ['use/forecasting.md', 10],
])('docs/%s has examples, and each does what its section says', async (file, fewest) => {
  const examples = examplesOf(readPage(file))
  expect(examples.length).toBeGreaterThan(fewest)
  for (const { statement, refused } of examples) {
    const { type, error_message } = await sql(service.url, statement)
    expect({ statement, error_message, isError: type === 'error' }).toMatchObject({ statement, isError: refused })
    if (/^(CREATE MODEL|RETRAIN|FINETUNE)/.test(statement)) await trained()
  }
})

test('docs/use/sql.md encodes values as it says', async () => {
  const cells = `170141183460469231731687303715884105727::HUGEINT, 0.1::DECIMAL(5,2), 'nan'::DOUBLE, DATE '2024-01-02',
    TIMESTAMP '2024-01-02 03:04:05', INTERVAL 1 DAY, 'ab'::BLOB, [1, 2], {'a': 1}`
  const response = await fetch(`${service.url}/api/sql/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: `SELECT ${cells}` }),
  })
  expect(await response.text()).toContain(
    '"data":[[170141183460469231731687303715884105727,0.10,null,"2024-01-02","2024-01-02 03:04:05.000000","1 day","6162",[1,2],{"a":1}]]',
  )
})

test('every table and column that SQL offers is listed with a comment', async () => {
  await sql(service.url, 'CREATE VIEW shown AS (SELECT 1 AS one)')
  await sql(service.url, 'CREATE MODEL shown_model FROM files (SELECT * FROM homes) PREDICT rent')
  await trained()
  const tables = await sql(service.url, 'SELECT table_schema, table_name, table_comment FROM information_schema.tables')
  const columns = await sql(service.url, 'SELECT table_schema, table_name, column_name, column_comment FROM information_schema.columns')
  expect(tables.data.filter((row) => (row.at(-1) ?? '') === '')).toEqual([])
  expect(columns.data.filter((row) => (row.at(-1) ?? '') === '')).toEqual([])

  const listed = new Set([...tables.data, ...columns.data].map((row) => JSON.stringify(row)))
  const offered = (['information_schema', 'log', 'project'] as const).flatMap((key) =>
    catalogue[key].map((relation) => ({ schema: key === 'project' ? 'mindsdb' : key, relation })),
  )
  for (const { schema, relation } of offered) {
    expect(listed).toContain(JSON.stringify([schema, relation.name, relation.about]))
    for (const { name, about } of relation.columns) expect(listed).toContain(JSON.stringify([schema, relation.name, name, about]))
    const { type, column_names } = await sql(service.url, `SELECT * FROM ${schema}.${relation.name} LIMIT 0`)
    expect({ schema, name: relation.name, type, column_names }).toEqual({
      schema,
      name: relation.name,
      type: 'table',
      column_names: relation.columns.map(({ name }) => name),
    })
    expect(readPage('use/tables.md')).toContain(`.${relation.name}\n\n${relation.about}\n`)
  }
  const full = (await sql(service.url, 'SHOW FULL TABLES')).data.map(([name]) => name)
  for (const { name } of catalogue.project) expect(full).toContain(name)
  expect((await sql(service.url, 'SHOW TABLES')).data.flat()).toEqual(['models', 'shown_model', 'shown'])
})

test('docs/use/models.md names every engine, option and metric', () => {
  const models = readPage('use/models.md')
  for (const { name, about } of engineInfos) expect(models).toContain(`| \`${name}\` | ${about} |`)
  for (const [name, { description = '' }] of Object.entries(tableOptions.shape))
    expect(models).toContain(`| \`${name}\` | ${description} | `)
  for (const name of Object.keys(metricMeanings)) expect(models).toContain(`\`${name}\``)
})
