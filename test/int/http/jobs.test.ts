import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { basename } from 'node:path'
import { bytesOf, filesUnder } from '../../support/observe/traces.js'
import { until } from '../../support/until.js'
import { send, spawnService, sql, temporaryDirectory } from '../../support/service.js'

const directory = temporaryDirectory()
let at: Awaited<ReturnType<typeof spawnService>>
beforeAll(async () => {
  at = await spawnService(directory.path, { LOG_LEVEL: 'trace' })
  await sql(at.url, 'CREATE PROJECT shop')
})
afterAll(async () => {
  at.child.kill()
  await at.ended
  directory.remove()
})

const answers: string[] = []
const call = async (method: string, path: string, body?: unknown) => {
  const reply = await send(at.url, method, path, body)
  answers.push(JSON.stringify(reply.body))
  return reply
}
const run = async (query: string, db = 'mindsdb') => {
  const answer = await sql(at.url, query, db)
  answers.push(JSON.stringify(answer))
  return answer
}
const done = async (query: string, db?: string) => expect({ query, ...(await run(query, db)) }).toMatchObject({ query, type: 'ok' })
const path = '/api/projects/shop/jobs'

/** The run of a job, when it has ended. */
const ended = async (job: string): Promise<{ error: string | null; run_start: string }> => {
  let first: { run_end: string | null; error: string | null; run_start: string } | undefined
  await until(async () => {
    ;[first] = (await call('GET', `${path}/${job}/history`)).body as [typeof first]
    return first?.run_end != null
  })
  return first!
}

const columns = ['NAME', 'PROJECT', 'START_AT', 'END_AT', 'NEXT_RUN_AT', 'SCHEDULE_STR', 'QUERY', 'IF_QUERY', 'VARIABLES']
const instant = expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}$/)

describe('over REST', () => {
  test('a job is created with 200, read, listed, and deleted', async () => {
    const asked = { query: 'SELECT 1', if_query: null, start_at: '2031-01-02 03:04:05', end_at: '2032-01-01', schedule_str: 'every day' }
    const record = {
      id: expect.any(Number),
      name: 'Nightly',
      project: 'shop',
      start_at: '2031-01-02 03:04:05.000000',
      end_at: '2032-01-01 00:00:00.000000',
      next_run_at: '2031-01-02 03:04:05.000000',
      schedule_str: 'every day',
      query: 'SELECT 1',
      if_query: null,
      variables: [],
    }
    expect(await call('POST', path, { job: { name: 'Nightly', ...asked } })).toMatchObject({ status: 200, body: record })
    expect(await call('GET', `${path}/nightly`)).toMatchObject({ status: 200, body: record })
    expect((await call('GET', path)).body).toEqual([record])
    expect((await call('GET', `${path}/nightly/history`)).body).toEqual([])
    expect(await call('POST', path, { job: { name: 'NIGHTLY', ...asked } })).toMatchObject({ status: 409 })
    expect((await call('DELETE', `${path}/NIGHTLY`)).status).toBe(204)
    expect(await call('DELETE', `${path}/nightly`)).toMatchObject({ status: 404, body: { title: 'Job not found' } })
    expect(await call('GET', `${path}/nightly`)).toMatchObject({
      status: 404,
      body: { title: 'Job not found', detail: 'Job with name nightly does not exist' },
    })
    expect((await call('GET', `${path}/nightly/history`)).status).toBe(404)
  })

  test.each([
    [{}, 'Missing "name"'],
    [{ name: 'j' }, 'Missing "query"'],
    [{ name: 'j', query: 7 }, 'job.query'],
    [{ name: 'j', query: '' }, 'at least one statement'],
    [{ name: 'j', query: 'SELEC 1' }, 'statement 1 of the job'],
    [{ name: 'j', query: 'SELECT 1', if_query: 'DROP PROJECT shop' }, 'one query'],
    [{ name: 'j', query: 'SELECT 1', start_at: 'soon' }, 'is not a time'],
    [{ name: 'j', query: 'SELECT 1', start_at: 12 }, 'job.start_at'],
    [{ name: 'j', query: 'SELECT 1', end_at: '2001-01-01' }, 'before it ran once'],
    [{ name: 'j', query: 'SELECT 1', schedule_str: 'every second' }, 'how often'],
    [{ name: 'a/b', query: 'SELECT 1' }, 'slashes'],
  ])('%j is refused with 400', async (job, why) => {
    const reply = await call('POST', path, { job })
    expect(reply).toMatchObject({
      status: 400,
      type: expect.stringContaining('problem+json'),
      body: { detail: expect.stringContaining(why) },
    })
  })

  test('a project that is not there is a 404', async () => {
    for (const [method, place] of [
      ['GET', ''],
      ['POST', ''],
      ['GET', '/j'],
      ['GET', '/j/history'],
      ['DELETE', '/j'],
    ] as const)
      expect(
        (await call(method, `/api/projects/none/jobs${place}`, method === 'POST' ? { job: { name: 'j', query: 'SELECT 1' } } : undefined))
          .status,
      ).toBe(404)
  })

  test('what clients leave empty is not said', async () => {
    const job = { name: 'plain', query: 'SELECT 1', if_query: '', start_at: '2031-01-01', end_at: '', schedule_str: '' }
    expect((await call('POST', path, { job })).body).toMatchObject({ if_query: null, end_at: null, schedule_str: null })
    await done('DROP JOB shop.plain')
  })
})

describe('a change over REST', () => {
  const asked = { query: 'SELECT 1', if_query: 'SELECT 2', start_at: '2031-01-02', end_at: '2032-01-01', schedule_str: 'every day' }
  const change = (job: object, headers = {}) => send(at.url, 'PUT', `${path}/Changing`, { job }, headers)
  const versions = async () => ((await call('GET', `${path}/changing/history?of=changes`)).body as { version: number }).version

  test('sets the fields that it names, and answers the record with a new version', async () => {
    const { body: created } = await call('POST', path, { job: { name: 'changing', ...asked } })
    const start = '2031-01-02 00:00:00.000000'
    const first = await change({ query: 'SELECT 3', start_at: null }, { 'if-match': '"1"' })
    expect(first).toMatchObject({ status: 200, body: { ...(created as object), query: 'SELECT 3', next_run_at: start } })
    expect(first.headers.get('etag')).toBe('"2"')
    expect(await change({ schedule_str: 'every 2 hours', start_at: '2031-01-01' })).toMatchObject({
      body: { query: 'SELECT 3', schedule_str: 'every 2 hours', next_run_at: '2031-01-01 00:00:00.000000' },
    })
    expect(await change({ if_query: '', end_at: ' ', schedule_str: '' })).toMatchObject({
      body: { if_query: null, end_at: null, schedule_str: null, next_run_at: '2031-01-01 00:00:00.000000' },
    })
    expect((await call('GET', `${path}/changing`)).headers.get('etag')).toBe('"4"')
  })

  test('without a difference makes no version, also with the whole record', async () => {
    const { body } = await call('GET', `${path}/changing`)
    for (const job of [{}, { query: 'SELECT 3;' }, body as object]) expect(await change(job)).toMatchObject({ status: 200, body })
    expect(await versions()).toBe(4)
  })

  test('can be tried first, and depends on its version and its key as other commands', async () => {
    expect(await change({ query: 'SELECT 4' }, { prefer: 'dry-run' })).toMatchObject({
      status: 200,
      body: { events: [{ type: 'JobUpdated', version: 5, data: { query: 'SELECT 4' } }], resource: { query: 'SELECT 4' } },
    })
    expect(await change({ query: 'SELECT 4' }, { 'if-match': '"3"' })).toMatchObject({ status: 412, body: { version: 4 } })
    for (let time = 0; time < 2; time++)
      expect(await change({ query: 'SELECT 4' }, { 'idempotency-key': 'change' })).toMatchObject({
        status: 200,
        body: { query: 'SELECT 4' },
      })
    expect(await versions()).toBe(5)
  })

  test.each([
    [{ query: 7 }, 'job.query'],
    [{ query: '' }, 'at least one statement'],
    [{ query: 'SELECT 1; SELEC 1' }, 'statement 2 of the job'],
    [{ if_query: 'DROP PROJECT shop' }, 'one query'],
    [{ start_at: '' }, 'is not a time'],
    [{ end_at: '2001-01-01' }, 'before its start, or before now'],
    [{ schedule_str: 'every second' }, 'how often'],
    [{ schedule: 'every hour' }, 'there is no "schedule"'],
  ])('%j is refused with 400', async (job, why) =>
    expect(await change(job)).toMatchObject({ status: 400, body: { detail: expect.stringContaining(why) } }),
  )

  test('of a job or a project that is not there is a 404', async () => {
    expect(await call('PUT', `${path}/nobody`, { job: { query: 'SELECT 1' } })).toMatchObject({
      status: 404,
      body: { detail: 'Job with name nobody does not exist' },
    })
    expect((await call('PUT', '/api/projects/none/jobs/j', { job: {} })).status).toBe(404)
  })

  test('keeps the secrets of a statement that stays, and runs with them', async () => {
    await done('DROP JOB shop.changing')
    const secret = 's3cr3t-that-stays-plugh'
    const inserted = `INSERT INTO files.stays (name, password) VALUES ('bob', upper('${secret}'))`
    await done("CREATE TABLE files.stays (SELECT '' AS name, '' AS password)")
    await call('POST', path, { job: { name: 'staying', query: inserted, start_at: '2031-01-01' } })
    const { query } = (await call('GET', `${path}/staying`)).body as { query: string }
    expect(query).toContain('******')
    const place = `${path}/staying`
    expect(await call('PUT', place, { job: { query: query.replace('stays', 'elsewhere') } })).toMatchObject({
      status: 400,
      body: { hint: expect.stringContaining('Send the secret itself') },
    })
    expect(await call('PUT', place, { job: { query: `SELECT 1; ${query}`, start_at: 'now' } })).toMatchObject({ status: 200 })
    expect((await ended('staying')).error).toBe(null)
    expect((await run("SELECT password FROM files.stays WHERE name = 'bob'")).data).toEqual([[secret.toUpperCase()]])
    expect(answers.filter((answer) => answer.includes(secret))).toEqual([])
    await done('DROP JOB shop.staying')
  })
})

describe('over SQL', () => {
  test('the statements of both clients make, show and drop a job', async () => {
    await done(
      "CREATE JOB `shop`.`j` (\nSELECT 1;\nSELECT 2\n)\nSTART '2031-01-01 00:00:00'\nEND '2031-02-01 00:00:00'\nEVERY 2 hours\nIF (\nSELECT 3\n)",
    )
    await done("CREATE JOB IF NOT EXISTS shop.J AS (SELECT 9) EVERY '1 hour'")
    await done("CREATE JOB k (SELECT 4) START '2031-01-01' END '2031-01-02' EVERY '1 hour'", 'shop')
    expect((await run('CREATE JOB shop.j (SELECT 9) EVERY hour')).error_message).toContain('already exists')
    const j = ['j', 'shop', '2031-01-01 00:00:00.000000', '2031-02-01 00:00:00.000000', '2031-01-01 00:00:00.000000', 'every 2 hours']
    const k = ['k', 'shop', '2031-01-01 00:00:00.000000', '2031-01-02 00:00:00.000000', '2031-01-01 00:00:00.000000', 'every 1 hour']
    const rows = [
      [...j, 'SELECT 1;\nSELECT 2', 'SELECT 3', []],
      [...k, 'SELECT 4', null, []],
    ]
    for (const [query, db] of [
      ['SHOW JOBS', 'shop'],
      ['SHOW JOBS FROM shop', 'mindsdb'],
      ['SELECT * FROM jobs', 'shop'],
      ['SELECT * FROM shop.jobs', 'mindsdb'],
      ["SELECT * FROM information_schema.jobs\nWHERE project='Shop'\n", 'mindsdb'],
    ] as const)
      expect(await run(query, db)).toMatchObject({ type: 'table', column_names: columns, data: rows })
    expect((await run('SHOW JOBS')).data).toEqual([])
    expect((await run("SHOW JOBS LIKE 'K%'", 'shop')).data).toEqual(rows.slice(1))
    expect(await run('DESCRIBE JOB shop.J')).toMatchObject({ column_names: columns, data: rows.slice(0, 1) })
    expect((await run("SELECT * FROM jobs WHERE name='J'", 'shop')).data).toEqual(rows.slice(0, 1))
    await done('DROP JOB `shop`.`j`;')
    await done('DROP JOB k', 'shop')
    await done('DROP JOB IF EXISTS k', 'shop')
    expect((await run('DROP JOB k', 'shop')).error_message).toBe('Job with name k does not exist')
    expect((await run('CREATE JOB none.j (SELECT 1)')).error_message).toBe('Project with name none does not exist')
  })

  test('ALTER JOB changes the clauses that it has, and NULL removes one', async () => {
    await done("CREATE JOB shop.altered (SELECT 1) START '2031-01-01' END '2032-01-01' EVERY 1 day IF (SELECT 2)")
    const row = async () => (await run("SELECT query, if_query, schedule_str, end_at FROM jobs WHERE name = 'altered'", 'shop')).data[0]
    await done('ALTER JOB shop.altered (SELECT 7; SELECT 3)')
    expect(await row()).toEqual(['SELECT 7;\nSELECT 3', 'SELECT 2', 'every 1 day', '2032-01-01 00:00:00.000000'])
    await done("ALTER JOB Altered EVERY '2 hours' END NULL IF NULL", 'shop')
    expect(await row()).toEqual(['SELECT 7;\nSELECT 3', null, 'every 2 hours', null])
    expect(
      (await run("SELECT change, query FROM job_definitions_history WHERE name = 'altered' ORDER BY valid_from", 'shop')).data,
    ).toEqual([
      ['JobCreated', 'SELECT 1'],
      ['JobUpdated', 'SELECT 7;\nSELECT 3'],
      ['JobUpdated', 'SELECT 7;\nSELECT 3'],
    ])
    expect((await run('ALTER JOB shop.nobody EVERY hour')).error_message).toBe('Job with name nobody does not exist')
    expect((await run("ALTER JOB shop.altered END '2001-01-01'")).error_message).toContain('before its start, or before now')
    expect((await run('ALTER JOB shop.altered (USE shop)')).error_message).toContain('USE has no effect')
    await done('DROP JOB shop.altered')
  })

  test('the past of a job is there', async () => {
    await done("CREATE JOB shop.old (SELECT 1) START '2031-01-01'")
    const [[position] = []] = (await run('SELECT max(position) FROM log.events')).data
    await done('DROP JOB shop.old')
    expect((await run(`SELECT name FROM shop.jobs AT (VERSION => ${String(position)})`)).data).toEqual([['old']])
    expect((await run('SELECT name FROM shop.jobs')).data).toEqual([])
  })
})

test('a job runs at once, in its own name, and every run is a row with what it recorded', async () => {
  await done(
    "CREATE JOB shop.maker (CREATE SKILL made USING type = 'sql', tables = ['t']; SELECT * FROM skills; SELECT * FROM nope; SELECT 1)",
  )
  expect(await ended('maker')).toMatchObject({ error: expect.stringContaining("Table 'nope' not found") })
  const history = await run("SELECT * FROM jobs_history WHERE name='maker'", 'shop')
  expect(history).toMatchObject({
    column_names: ['NAME', 'PROJECT', 'RUN_START', 'RUN_END', 'ERROR', 'QUERY'],
    data: [
      ['maker', 'shop', instant, instant, expect.stringContaining("Table 'nope' not found"), expect.stringContaining('CREATE SKILL made')],
    ],
  })
  expect((await run("SELECT * FROM log.jobs_history WHERE name='maker'")).data).toEqual(history.data)
  expect((await run("SELECT * FROM jobs_history WHERE name='maker'")).data).toEqual([])
  const runs = await run("SELECT run, position, finished_position, actor, outcome, statements FROM log.job_runs WHERE job = 'MAKER'")
  const [[id, position, finished, actor, outcome, statements] = []] = runs.data
  expect([actor, outcome]).toEqual(['job:shop.maker', 'error'])
  const recorded = await run(`SELECT position, type, actor, source FROM log.events WHERE correlation = '${String(id)}' ORDER BY position`)
  expect(recorded.data).toEqual([
    [position, 'JobRunStarted', 'job:shop.maker', 'system'],
    [expect.any(Number), 'SkillCreated', 'job:shop.maker', 'sql'],
    [finished, 'JobRunFinished', 'job:shop.maker', 'system'],
  ])
  expect(JSON.parse(String(statements))).toEqual([
    { positions: [recorded.data[1]?.[0]], error: null },
    { positions: [], error: null },
    { positions: [], error: expect.stringContaining("'nope'") },
  ])
  // What was known before the run ended.
  const before = await run(`SELECT outcome, finished_at FROM log.job_runs AT (VERSION => ${Number(finished) - 1}) WHERE job = 'maker'`)
  expect(before.data).toEqual([['running', null]])
})

test('the condition decides; a run that it skipped is in log.job_runs alone', async () => {
  await done('CREATE JOB shop.never (SELECT 1) IF (SELECT 1 WHERE 1 = 0)')
  await done('CREATE JOB shop.always (SELECT 1) IF (SELECT name FROM shop.jobs)')
  await ended('always')
  // A run that has not begun yet is not there at all.
  const outcomes = "SELECT job, outcome FROM log.job_runs WHERE job IN ('never', 'always') ORDER BY job"
  await until(async () => {
    const { data } = await run(outcomes)
    return data.length === 2 && !data.flat().includes('running')
  })
  expect((await run(outcomes)).data).toEqual([
    ['always', 'complete'],
    ['never', 'skipped'],
  ])
  expect((await run("SELECT name, error FROM jobs_history WHERE name IN ('never', 'always')", 'shop')).data).toEqual([['always', null]])
  expect((await call('GET', `${path}/never/history`)).body).toEqual([])
})

test('a secret in the statements of a job works, and is nowhere in the clear', async () => {
  const secret = 's3cr3t-in-a-job-xyzzy'
  await done(
    `CREATE JOB shop.keyed (CREATE AGENT keeper USING model = 'gpt-4o', openai_api_key = '${secret}'; SELECT nope(1) WHERE api_key = '${secret}')`,
  )
  expect((await ended('keyed')).error).not.toBe(null)
  await done(
    `CREATE JOB shop.inserting (SELECT 1; CREATE TABLE files.users (SELECT '' AS name, '' AS password); INSERT INTO files.users (name, password) VALUES ('bob', upper('${secret}')))`,
  )
  expect((await ended('inserting')).error).toBe(null)
  expect((await run('SELECT password FROM files.users ORDER BY name DESC LIMIT 1')).data).toEqual([[secret.toUpperCase()]])
  const body = { job: { name: 'keyed2', query: `SELECT 1 WHERE token = '${secret}'`, if_query: `SELECT 'postgres://u:${secret}@h/d'` } }
  expect(await call('POST', path, body)).toMatchObject({
    status: 200,
    body: { query: "SELECT 1 WHERE token = '******'", if_query: expect.stringContaining('******') },
  })
  await ended('keyed2')
  expect((await call('POST', path, { job: { name: 'broken', query: `SELECT 1 WHERE token = '${secret}` } })).status).toBe(400)
  expect((await call('GET', '/api/projects/shop/agents/keeper')).body).toMatchObject({ params: { openai_api_key: '******' } })
  for (const query of [
    'SELECT * FROM log.events',
    'SELECT * FROM log.job_runs',
    'SELECT * FROM log.jobs_history',
    'SELECT * FROM shop.jobs',
  ])
    await run(query)
  expect(answers.filter((answer) => answer.includes(secret))).toEqual([])
  expect(at.lines.filter((line) => line.includes(secret))).toEqual([])
  const files = filesUnder(directory.path)
  expect(files.map((file) => basename(file))).toEqual(expect.arrayContaining(['log.sqlite']))
  for (const file of files) expect(bytesOf(file).includes(secret)).toBe(false)
})

test('a project with jobs can be dropped, and they with it', async () => {
  await done('CREATE PROJECT gone')
  await done('CREATE JOB gone.j (SELECT 1) EVERY minute')
  await done('DROP PROJECT gone')
  expect((await run("SELECT name FROM information_schema.jobs WHERE project = 'gone'")).data).toEqual([])
  expect((await run('SELECT type FROM log.events ORDER BY position DESC LIMIT 2')).data).toEqual([['ProjectDeleted'], ['JobDeleted']])
})
