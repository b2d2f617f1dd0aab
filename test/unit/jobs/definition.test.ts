import { describe, expect, test } from '@jest/globals'
import type { Job } from '../../../events/job.js'
import { readJob, updateJob, type JobChangeRequest } from '../../../src/sql/facade/commands/job-definition.js'
import { fillTimes } from '../../../src/commands/rules/placeholders.js'
import { limits } from '../../../src/basics/limits.js'
import { hiderOf } from '../../../src/dialect/mask-secrets.js'

const now = Date.parse('2026-05-06T07:08:09Z')
const asked = (changes: object = {}) => readJob({ query: 'SELECT 1', ifQuery: null, start: null, end: null, every: null, ...changes }, now)

describe('a job that is asked for', () => {
  test('begins now and runs once when nothing else is said', async () =>
    expect(await asked()).toEqual({
      statements: 'SELECT 1',
      condition: null,
      params: {},
      now: '2026-05-06T07:08:09.000000Z',
      start_at: '2026-05-06T07:08:09.000000Z',
      end_at: null,
      schedule: null,
    }))

  test('keeps its statements apart by semicolons, those inside brackets and texts aside', async () =>
    expect((await asked({ query: "SELECT ';' ;\n-- a note;\nCREATE JOB k (SELECT 2; SELECT 3);;" })).statements).toBe(
      "SELECT ';';\nCREATE JOB k (SELECT 2; SELECT 3)",
    ))

  test.each(['SELECT a FROM t WHERE a > t.last', 'SELECT a FROM t WHERE a > "last"', 'SELECT last(a) FROM t', 'SELECT last FROM t'])(
    '%s reads a column of that name, or none',
    async (query) => expect((await asked({ query })).statements).toBe(query),
  )

  test('shows no secret of its statements or its condition, and keeps them whole to be sealed', async () => {
    const query = "CREATE SKILL s USING type = 'sql', api_key = 'sk-1234'"
    const ifQuery = "SELECT 1 WHERE 'postgres://u:hunter2@h/d' <> ''"
    expect(await asked({ query, ifQuery })).toMatchObject({
      statements: "CREATE SKILL s USING type = 'sql', api_key = '******'",
      condition: expect.not.stringContaining('hunter2'),
      params: { secret: { query, if_query: ifQuery } },
    })
  })

  test.each([
    [{ query: '' }, 'at least one statement'],
    [{ query: ' ; -- nothing' }, 'at least one statement'],
    [{ query: 'SELECT 1; SELEC 2' }, 'statement 2 of the job'],
    [{ query: "SELECT 'open" }, 'never ends'],
    [{ query: 'SELECT :x' }, ':x is a parameter'],
    [{ query: 'SELECT 1; USE shop; DROP VIEW v' }, 'statement 2 of the job: USE has no effect'],
    [{ query: 'SELECT 1; CREATE VIEW v AS (SELECT a FROM files.t WHERE a > last)' }, 'statement 2 of the job: LAST cannot be used'],
    [{ query: 'CREATE MODEL m FROM files (SELECT a, b FROM t WHERE a >= LAST) PREDICT b' }, 'statement 1 of the job: LAST cannot be used'],
    [{ query: 'SELECT 1;'.repeat(limits.jobStatementsMax + 1) }, 'at most 100'],
    [{ ifQuery: 'DROP PROJECT shop' }, 'the condition of a job is one query'],
    [{ ifQuery: 'SELECT 1; SELECT 2' }, 'the condition of a job is one query'],
    [{ start: 'soon' }, 'start: "soon" is not a time'],
    [{ every: 'every second' }, 'how often'],
  ])('%j is refused', async (changes, why) => expect(asked(changes)).rejects.toThrow(why))

  test('USE is refused with the two ways to name another place', async () => {
    const refusal = await asked({ query: 'USE `My shop`; SELECT 1' }).catch((error: unknown) => error)
    const hint = expect.stringContaining('"My shop".name, or create the job there: CREATE JOB "My shop".name')
    expect(refusal).toMatchObject({ extras: { hint } })
  })

  test.each(["CREATE SKILL s USING api_key = 'sk-1234' nonsense", "SELECT 1; SELECT 2 WHERE api_key = 'sk-1234"])(
    'the refusal of %s shows no secret',
    async (query) => {
      const refusal = await asked({ query }).catch((error: unknown) => [error, String(error)])
      expect(JSON.stringify(refusal)).toContain('cannot be parsed')
      expect(JSON.stringify(refusal)).not.toContain('sk-1234')
    },
  )
})

describe('a change that is asked for', () => {
  const whole = {
    query: "CREATE SKILL s USING api_key = 'sk-1234';\nSELECT 1;\nCREATE SKILL t USING api_key = 'sk-5678'",
    if_query: 'SELECT 3',
  }
  const [s, , t] = whole.query.split(';\n')
  const shown = ['s', 't'].map((name) => `CREATE SKILL ${name} USING api_key = '******'`)
  const hash = 'ab'.repeat(32)
  const job: Job = {
    ...{ project: 'p', name: 'j', query: `${shown[0]};\nSELECT 1;\n${shown[1]}`, if_query: 'SELECT 3', sealed: { $secret: hash } },
    ...{ start_at: '', end_at: null, schedule: null, next_run_at: null, last_started_at: null, running: null },
  } as unknown as Job
  const changed = async (request: JobChangeRequest, { isErased = false } = {}) => {
    const resources = { one: async (kind: string) => ({ kind, state: job }) as never }
    const payloads = { payload: async (of: string) => (of === hash && !isErased ? Buffer.from(JSON.stringify(whole)) : undefined) }
    const { data } = await updateJob({ project: 'p', job: 'j' }, request, { resources, payloads, now: () => now })
    return data as Record<string, unknown>
  }
  const was = { statements: job.query, condition: 'SELECT 3', payload: hash }
  const at = '2026-05-06T07:08:09.000000Z'

  test('has only the times that are named; null takes the end and the schedule away', async () => {
    expect(await changed({})).toEqual({ project: 'p', job: 'j', now: at })
    expect(await changed({ start: 'now', end: '2027-01-01', every: 'every 2 hours' })).toEqual({
      ...{ project: 'p', job: 'j', now: at, start_at: at, end_at: '2027-01-01T00:00:00.000000Z' },
      schedule: { count: 2, unit: 'hour', said: 'every 2 hours' },
    })
    expect(await changed({ end: null, every: null })).toEqual({ project: 'p', job: 'j', now: at, end_at: null, schedule: null })
  })

  test('has no text if the texts are those that the job shows, whatever separates their statements', async () => {
    expect(await changed({ query: job.query, ifQuery: 'SELECT 3' })).not.toHaveProperty('text')
    expect(await changed({ query: `${job.query.replaceAll('\n', ' ')};` })).not.toHaveProperty('text')
    expect(await changed({ query: job.query }, { isErased: true })).not.toHaveProperty('text')
  })

  test('keeps the secrets of each statement that is as the job shows it, wherever it stands', async () => {
    const { text } = await changed({ query: `${shown[1]}; SELECT 2; ${shown[0]}` })
    expect(text).toEqual({
      ...{ statements: `${shown[1]};\nSELECT 2;\n${shown[0]}`, condition: 'SELECT 3', was },
      params: { secret: { query: `${t};\nSELECT 2;\n${s}`, if_query: 'SELECT 3' } },
    })
  })

  test('of the condition alone keeps the statements with their secrets, and null takes the condition away', async () => {
    const { text } = await changed({ ifQuery: 'SELECT 4' })
    const kept = { statements: job.query, was }
    expect(text).toEqual({ ...kept, condition: 'SELECT 4', params: { secret: { ...whole, if_query: 'SELECT 4' } } })
    const without = await changed({ ifQuery: null })
    expect(without['text']).toEqual({ ...kept, condition: null, params: { secret: { ...whole, if_query: null } } })
  })

  test('takes new secrets, without a word on whether they are those of the job', async () => {
    for (const key of ['sk-9999', 'sk-1234']) {
      const { text } = await changed({ query: `CREATE SKILL s USING api_key = '${key}'` })
      expect(text).toMatchObject({ statements: shown[0], params: { secret: { query: `CREATE SKILL s USING api_key = '${key}'` } } })
    }
    expect(await changed({ query: 'SELECT 2' })).toMatchObject({ text: { statements: 'SELECT 2', params: {} } })
  })

  test.each([
    "CREATE SKILL s USING api_key = '******', type = 'sql'",
    "CREATE DATABASE d WITH ENGINE = 'postgres', PARAMETERS = {'host': 'elsewhere', 'password': '******'}",
    "SELECT 'postgres://******@elsewhere/d'",
  ])('is refused where another statement would get a secret: %s', async (query) =>
    expect(changed({ query: `SELECT 1; ${query}` })).rejects.toThrow('statement 2 has ****** in the place of a secret'),
  )

  test('may have stars that stand for no secret', async () =>
    expect(await changed({ query: "SELECT '******' AS line" })).toMatchObject({
      text: { statements: "SELECT '******' AS line", params: {} },
    }))

  test('asks for secrets that were erased, where a text would keep them', async () => {
    const erased = { isErased: true }
    for (const request of [{ ifQuery: 'SELECT 4' }, { query: `${shown[0]}; SELECT 2` }])
      await expect(changed(request, erased)).rejects.toThrow('the secrets of this job were erased')
    expect(await changed({ query: 'SELECT 2' }, erased)).toMatchObject({
      text: { statements: 'SELECT 2', condition: 'SELECT 3', params: {} },
    })
  })

  test.each<[JobChangeRequest, string]>([
    [{ query: '' }, 'at least one statement'],
    [{ query: 'SELECT 1; SELEC 2' }, 'statement 2 of the job'],
    [{ ifQuery: 'DROP PROJECT shop' }, 'the condition of a job is one query'],
    [{ start: '' }, 'start: "" is not a time'],
    [{ end: 'soon' }, 'end: "soon" is not a time'],
    [{ every: 'every second' }, 'how often'],
  ])('%j is refused', async (request, why) => expect(changed(request)).rejects.toThrow(why))
})

describe('the times of a run in its statements', () => {
  const run = { started_at: '2026-05-06T07:08:09.123456Z', previous: '2026-05-05T07:08:09.000000Z' }
  test.each([
    ["at > '{{PREVIOUS_START_DATETIME}}' AND at <= '{{START_DATETIME}}'", "at > '2026-05-05 07:08:09' AND at <= '2026-05-06 07:08:09'"],
    ['at > "{{PREVIOUS_START_DATETIME}}"', "at > '2026-05-05 07:08:09'"],
    ["CREATE TABLE files.t_{{START_DATE}} '{{ START_DATE }}'", "CREATE TABLE files.t_2026-05-06 '2026-05-06'"],
    ["'from {{START_DATE}} on'", "'from 2026-05-06 on'"],
    ["'{{OTHER}}'", "'{{OTHER}}'"],
  ])('%s', (sql, filled) => expect(fillTimes(sql, run)).toBe(filled))

  test('the first run has no previous one', () =>
    expect(fillTimes("'{{PREVIOUS_START_DATETIME}}' {{PREVIOUS_START_DATETIME}}", { ...run, previous: null })).toBe('NULL NULL'))
})

test('an error that repeats a secret, or a part of it, shows stars', () => {
  const hide = hiderOf(["CREATE DATABASE d WITH ENGINE = 'x', PARAMETERS = {'password': 'hunter2 extra'}", 'SELECT 1'])
  expect(hide('no: hunter2 extra; no: hunter2')).toBe('no: ******; no: ******')
  expect(hide('nothing to hide')).toBe('nothing to hide')
})
