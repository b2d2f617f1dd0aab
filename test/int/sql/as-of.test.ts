import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { settled } from '../../support/models/rentals.js'
import { send, startSqlService, type SqlReply } from '../../support/service.js'

let service: Awaited<ReturnType<typeof startSqlService>>
/** Positions after each step of the history. */
const at: Record<string, number> = {}

const ask = async (query: string, context: object = {}): Promise<SqlReply> =>
  (await send(service.url, 'POST', '/api/sql/query', { query, context: { db: 'shop', ...context } })).body as SqlReply
const run = async (query: string): Promise<void> => {
  const answer = await ask(query)
  if (answer.type === 'error') throw new Error(answer.error_message)
}
const cell = async (query: string): Promise<unknown> => (await ask(query)).data[0]?.[0]
const mark = async (name: string) => (at[name] = Number(await cell('SELECT max(position) FROM log.events')))
const trained = async (version: string) => expect(await settled(service.url, version, 'shop')).toBe('complete')
const upload = async (rent: (size: number) => number) => {
  const form = new FormData()
  const rows = Array.from({ length: 60 }, (_, i) => `${20 + i},${rent(20 + i)}`)
  form.set('file', new Blob([['size,rent', ...rows].join('\n')]), 'homes.csv')
  const { status } = await send(service.url, 'PUT', '/api/files/homes', form)
  expect(status).toBe(200)
}

beforeAll(async () => {
  // The zone of the machine must not be felt.
  const zone = process.env['TZ']
  process.env['TZ'] = 'Asia/Tokyo'
  service = await startSqlService()
  if (zone === undefined) delete process.env['TZ']
  else process.env['TZ'] = zone
  await run('CREATE PROJECT shop')
  await mark('project')
  await upload((size) => 10 * size)
  await run(`CREATE SKILL rents USING type = 'sql'`)
  await run('CREATE VIEW sums AS (SELECT sum(rent) AS s FROM files.homes)')
  await run("CREATE MODEL rent FROM files (SELECT * FROM homes) PREDICT rent USING engine = 'linear'")
  await trained('rent.1')
  at['asked'] = Number(await cell(`SELECT position FROM log.events WHERE type = 'ModelTrainingRequested'`))
  await mark('first')
  await send(service.url, 'DELETE', '/api/files/homes')
  await upload((size) => 1_000 * size)
  await run('RETRAIN rent FROM files (SELECT * FROM homes) PREDICT rent')
  await trained('rent.2')
  await run(`UPDATE SKILL rents SET type = 'other'`)
  await run('ALTER VIEW sums AS (SELECT count(*) AS n FROM files.homes)')
  await run(`CREATE AGENT late USING model = 'gpt-4o', skills = ['rents']`)
  await run('CREATE PROJECT office')
  await mark('second')
  await run('DROP AGENT late')
  await run('DROP SKILL rents')
})
afterAll(() => service.stop())

describe('a statement with as_of reads as things were', () => {
  test('SELECT, over tables, files and views; it comes back in the context', async () => {
    const as_of = at['first']
    const skills = await ask('SELECT name, type FROM skills', { as_of })
    expect(skills).toMatchObject({ data: [['rents', 'sql']], context: { db: 'shop', as_of } })
    expect((await ask('SELECT sum(rent) FROM files.homes', { as_of })).data).toEqual([[29_700]])
    expect(await ask('SELECT * FROM sums', { as_of })).toMatchObject({ column_names: ['s'], data: [[29_700]] })
    expect(await ask('SELECT * FROM sums', { as_of: at['second'] })).toMatchObject({ column_names: ['n'], data: [[60]] })
    expect((await ask('SELECT max(position) FROM log.events', { as_of })).data).toEqual([[as_of]])
  })

  test('a time, with and without a zone', async () => {
    const time = String(await cell(`SELECT recorded_at FROM log.events WHERE position = ${at['first']}`))
    for (const as_of of [time, `${time}+00:00`, `${time.replace(' ', 'T')}Z`])
      expect(await ask('SELECT type FROM skills', { as_of })).toMatchObject({ data: [['sql']], context: { as_of } })
    const east = String(await cell(`SELECT recorded_at + INTERVAL 2 HOURS FROM log.events WHERE position = ${at['first']}`))
    expect((await ask('SELECT type FROM skills', { as_of: `${east}+02:00` })).data).toEqual([['sql']])
  })

  test('times are UTC, wherever the machine is', async () => {
    expect((await ask('SELECT count(*) FROM skills AT (TIMESTAMP => now()::TIMESTAMP)')).data).toEqual([[0]])
  })

  test('an AT inside wins', async () => {
    const query = `SELECT a.type, b.type FROM skills AS a, skills AT (VERSION => ${at['second']}) AS b`
    expect((await ask(query, { as_of: at['first'] })).data).toEqual([['sql', 'other']])
  })

  test('a prediction is that of the version active then, and its receipt tells what it saw', async () => {
    const then = await ask('SELECT rent FROM rent WHERE size = 50', { as_of: at['first'] })
    expect(Number(then.data[0]?.[0])).toBeLessThan(1_000)
    const now = await ask('SELECT rent FROM rent WHERE size = 50')
    expect(Number(now.data[0]?.[0])).toBeGreaterThan(10_000)
    const receipts = await ask('SELECT version, read_at FROM log.prediction_receipts ORDER BY position DESC LIMIT 2')
    expect(receipts.data[1]).toEqual([1, at['first']])
    expect((await ask('SELECT rent FROM rent WHERE size = 50', { as_of: at['asked'] })).error_message).toMatch(
      /was not ready at position \d+: its status was generating; it is there since position \d+ \(2\d{3}-.* UTC\)/,
    )
  })

  test('SHOW, DESCRIBE and USE', async () => {
    const as_of = at['first']
    expect((await ask('SHOW AGENTS', { as_of: at['second'] })).data).toEqual([['late', 'shop', 'gpt-4o', ['rents'], '{}']])
    expect((await ask('SHOW AGENTS', { as_of })).data).toEqual([])
    expect((await ask('SHOW SKILLS FROM shop', { as_of })).data).toEqual([['rents', 'shop', 'sql', '{}']])
    expect((await ask('DESCRIBE SKILL rents', { as_of })).data).toEqual([['rents', 'shop', 'sql', '{}']])
    expect((await ask('DESCRIBE files.homes', { as_of })).data.map(([field]) => field)).toEqual(['size', 'rent'])
    const version = async (when?: number) => {
      const { column_names, data } = await ask('DESCRIBE rent', when === undefined ? {} : { as_of: when })
      return ['VERSION', 'STATUS', 'ACTIVE'].map((name) => data[0]?.[column_names.indexOf(name)])
    }
    expect(await version(as_of)).toEqual([1, 'complete', true])
    expect(await version(at['asked'])).toEqual([1, 'generating', true])
    expect(await version()).toEqual([2, 'complete', true])
    expect((await ask('DESCRIBE rent.2', { as_of })).error_message).toMatch(/version/)
    expect(await ask('USE office', { as_of: at['second'] })).toMatchObject({ type: 'ok', context: { db: 'office', as_of: at['second'] } })
    expect((await ask('USE office', { as_of })).error_message).toMatch(
      /^There is no project or database office at position \d+; it is there since position \d+ \([^)]* UTC\)$/,
    )
    expect((await ask('SHOW TABLES FROM office', { as_of })).error_message).toMatch(/it is there since position/)
  })

  test('what was not there then is not found, and is said when it was', async () => {
    const { error_message } = await ask('SELECT * FROM sums', { as_of: at['project'] })
    const position = String(await cell(`SELECT valid_from FROM views_history WHERE change = 'ViewCreated'`))
    expect(error_message).toMatch(
      new RegExp(`'sums' not found in database: shop at position ${at['project']}; it is there since position ${position} \\(`),
    )
    expect((await ask('SELECT * FROM files.homes', { as_of: 1 })).error_message).toMatch(
      /it was there from position \d+ \(.*\) until position \d+/,
    )
  })

  const writes = [
    'CREATE PROJECT other',
    'DROP PROJECT shop',
    `CREATE SKILL x USING type = 'sql'`,
    `UPDATE AGENT late SET model = 'x'`,
    'CREATE VIEW v AS (SELECT 1)',
    'DROP VIEW sums',
    'RETRAIN rent',
    'SET active rent.1',
    'CREATE TABLE files.t (SELECT 1)',
    'DROP TABLE files.homes',
    'INSERT INTO files.homes SELECT 1',
    'CREATE JOB j (SELECT 1)',
  ]
  test.each(writes)('%s is refused', async (query) => {
    const head = await cell('SELECT max(position) FROM log.events')
    const { type, error_message } = await ask(query, { as_of: at['first'] })
    expect({ type, error_message }).toEqual({
      type: 'error',
      error_message: expect.stringMatching(/^as_of \d+ is for statements that read/),
    })
    expect(await cell('SELECT max(position) FROM log.events')).toBe(head)
  })

  const positions: [unknown, RegExp][] = [
    [10_000, /as_of 10000 is beyond the head of the log/],
    ['10000', /as_of 10000 is beyond the head of the log/],
    ['yesterday', /as_of yesterday is no time/],
    [`'; DROP TABLE x; --`, /is no time/],
    ['2999-01-01', /is in the future/],
    ['1999-01-01', /is before the start of the log.*The log begins at 2/s],
  ]
  test.each(positions)('as_of %j is refused', async (as_of, message) => {
    for (const query of ['SELECT 1', 'SHOW AGENTS', 'DESCRIBE rent', 'SELECT database()', 'USE shop'])
      expect(await ask(query, { as_of })).toMatchObject({ type: 'error', error_message: expect.stringMatching(message) })
  })

  test.each([0, -3, 1.5, true, '', {}, 'x'.repeat(65)])('as_of %j is no position and no time', async (as_of) => {
    const { status, body } = await send(service.url, 'POST', '/api/sql/query', { query: 'SELECT 1', context: { as_of } })
    expect({ status, body }).toMatchObject({ status: 400, body: { detail: expect.stringMatching(/"as_of" in "context" must be/) } })
  })
})

describe('the histories', () => {
  test('a row names the events that began and ended it, with actor and cause', async () => {
    const { data } = await ask(
      `SELECT h.type, h.change, h.source, h.changed_by, h.ended_with, h.ended_by, b.type, e.type, h.changed_at = b.recorded_at, h.ended_at = e.recorded_at,
        h.request = b.request, h.id = (SELECT min(valid_from) FROM skills_history WHERE stream = h.stream)
       FROM information_schema.skills_history AS h JOIN log.events AS b ON b.position = h.valid_from JOIN log.events AS e ON e.position = h.valid_to
       ORDER BY h.valid_from`,
    )
    const actor = String(await cell('SELECT actor FROM log.events ORDER BY position DESC LIMIT 1'))
    expect(data).toEqual([
      ['sql', 'SkillCreated', 'sql', actor, 'SkillUpdated', actor, 'SkillCreated', 'SkillUpdated', true, true, true, true],
      ['other', 'SkillUpdated', 'sql', actor, 'SkillDeleted', actor, 'SkillUpdated', 'SkillDeleted', true, true, true, true],
    ])
  })

  test('contents of files, databases and activations of models have theirs', async () => {
    expect((await ask('SELECT name, change, ended_with FROM information_schema.files_history ORDER BY valid_from')).data).toEqual([
      ['homes', 'FileCreated', 'FileDeleted'],
      ['homes', 'FileCreated', null],
    ])
    expect((await ask(`SELECT change FROM information_schema.databases_history WHERE name = 'office'`)).data).toEqual([['ProjectCreated']])
    expect((await ask('SELECT name, active_version FROM model_activations_history ORDER BY valid_from')).data).toEqual([
      ['rent', null],
      ['rent', 1],
      ['rent', 2],
    ])
  })
})
