import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { v7 as uuidv7 } from 'uuid'
import { parseEnvelope } from '../../../events/stored/envelope.js'
import { streamId } from '../../../events/common.js'
import { writes } from '../../support/log/log.js'
import { send, sql, startSqlService } from '../../support/service.js'

let at: Awaited<ReturnType<typeof startSqlService>>
/** The position after each step. */
const after: Record<string, number> = {}
const skills = '/api/projects/mindsdb/skills'
const skill = `${skills}/rents`

const get = (path: string, asOf?: number | string) =>
  send(at.url, 'GET', asOf === undefined ? path : `${path}?as_of=${encodeURIComponent(asOf)}`)
const step = async (name: string, method: string, path: string, body?: unknown) => {
  expect((await send(at.url, method, path, body)).status).toBeLessThan(300)
  after[name] = (await at.service.head()).position
}
const timeOf = async (position: number) => parseEnvelope((await at.service.log.readAll(position - 1, 1))[0]!.text).recorded_at

beforeAll(async () => {
  at = await startSqlService()
  await step('created', 'POST', skills, { skill: { name: 'rents', type: 'sql', params: { token: 'secret' } } })
  await step('agent', 'POST', '/api/projects/mindsdb/agents', { agent: { name: 'helper', model_name: 'm', skills: ['rents'] } })
  await step('renamed', 'PUT', skill, { skill: { name: 'lets', params: { more: 1 } } })
  await step('deleted', 'DELETE', '/api/projects/mindsdb/agents/helper')
})
afterAll(() => at.stop())

describe('a read with as_of', () => {
  test('shows names, masks, joined fields and the version of then', async () => {
    const first = await get(skill, after['created'])
    expect(first.body).toMatchObject({ id: after['created'], name: 'rents', params: { token: '******' }, agent_ids: [] })
    expect([first.headers.get('etag'), first.headers.get('x-as-of')]).toEqual(['"1"', String(after['created'])])
    expect((await get(skill, after['agent'])).body).toMatchObject({ name: 'rents', agent_ids: [after['agent']] })
    expect((await get(skill, after['renamed'])).status).toBe(404)
    const renamed = await get(`${skills}/lets`, after['renamed'])
    expect(renamed.body).toMatchObject({ name: 'lets', agent_ids: [after['agent']], params: { token: '******', more: 1 } })
    expect(Number(renamed.headers.get('etag')?.replaceAll('"', ''))).toBeGreaterThan(1)
    const now = await get(`${skills}/${after['created']}`)
    expect([now.headers.get('etag'), now.headers.get('x-as-of')]).toEqual([renamed.headers.get('etag'), null])
    expect((await get(skills, after['created']! - 1)).body).toEqual([])
    expect((await get(skill, after['created']! - 1)).headers.get('x-as-of')).toBe(String(after['created']! - 1))
  })

  test('takes a time, with a zone or as UTC, and sees what was recorded by then', async () => {
    const time = await timeOf(after['agent']!)
    const east = new Date(Date.parse(time) + 2 * 3_600_000).toISOString().slice(0, 19)
    for (const form of [time, time.toLowerCase(), time.replace('T', ' ').replace('Z', ''), `${east}${time.slice(19, 26)}+02:00`]) {
      const { status, body, headers } = await get(skill, form)
      expect({ form, status, at: headers.get('x-as-of') }).toEqual({ form, status: 200, at: String(after['agent']) })
      expect(body).toMatchObject({ agent_ids: [after['agent']] })
    }
    const micros = Date.parse(`${time.slice(0, 23)}Z`) * 1_000 + Number(time.slice(23, 26)) - 1
    const justBefore = `${new Date(Math.floor(micros / 1_000)).toISOString().slice(0, 23)}${String(micros % 1_000).padStart(3, '0')}Z`
    expect((await get(skill, justBefore)).headers.get('x-as-of')).toBe(String(after['agent']! - 1))
  })

  test.each<[string, RegExp]>([
    ['0', /before the start of the log/],
    ['99999', /beyond the head of the log/],
    ['9'.repeat(30), /beyond the head of the log/],
    ['-1', /neither a position nor a time/],
    ['4.5', /neither/],
    ['', /neither/],
    ['yesterday', /neither/],
    ['infinity', /neither/],
    ['2026-01-31T12:00:00 02:00', /neither/],
    ['2026-02-30T12:00:00Z', /neither/],
    ['1999-01-01T00:00:00Z', /before the start of the log/],
    ['9999-01-01T00:00:00Z', /future/],
    ['1'.repeat(65), /more than 64/],
  ])('%s is refused with what the log has', async (when, detail) => {
    const { status, body } = await get(skills, when)
    expect({ status, body }).toMatchObject({
      status: 400,
      body: { code: 'wrong_arguments', title: 'No such position', detail: expect.stringMatching(detail), hint: expect.any(String) },
    })
  })

  test.each([
    '1999-01-31',
    '1999-01-31 12:00',
    '1999-01-31T12:00Z',
    '1999-01-31 12:00+02:00',
    '1999-01-31T12:00:00.5',
    '1999-01-31 12:00:00 UTC',
    '1999-01-31t12:00:00z',
    '1999-01-31T12:00:00-0330',
  ])('%s is a time for reads, for questions to agents and for SQL', async (when) => {
    const body = { messages: [{ role: 'user', content: 'Who?' }] }
    const completions = `/api/projects/mindsdb/agents/helper/completions?as_of=${encodeURIComponent(when)}`
    const [read, asked, selected] = await Promise.all([
      get(skills, when),
      send(at.url, 'POST', completions, body),
      send(at.url, 'POST', '/api/sql/query', { query: 'SELECT 1', context: { as_of: when } }),
    ])
    const told = `as_of ${when} is before the start of the log`
    for (const reply of [read, asked]) expect(reply).toMatchObject({ status: 400, body: { title: 'No such position', detail: told } })
    expect(selected.body).toMatchObject({ type: 'error', error_message: expect.stringContaining(told) })
  })

  test('given twice is refused', async () => {
    expect((await send(at.url, 'GET', `${skills}?as_of=1&as_of=2`)).status).toBe(400)
  })
})

test('a history with as_of is that of then, and of what is not there yet there is none', async () => {
  const changes = async (asOf?: number) =>
    (await get(`${skills}/${after['created']}/history`, asOf)).body as { changes: object[]; version: number }
  const all = await changes()
  expect(all.changes.length).toBeGreaterThan(1)
  const first = await changes(after['agent'])
  expect(first).toEqual({ before: null, changes: all.changes.slice(0, 1), next: null, version: 1 })
  expect((await get(`${skills}/${after['created']}/history`, after['created']! - 1)).status).toBe(404)
  expect((await get(`${skill}/history`, after['created'])).body).toMatchObject({ version: 1 })
  expect((await get('/api/projects/mindsdb/agents/helper/history', after['renamed'])).body).toMatchObject({ version: 1 })
})

test('a write, and an address that shows nothing of the log, refuse as_of', async () => {
  const before = (await at.service.head()).position
  for (const [method, path, body] of [
    ['POST', skills, { skill: { name: 'x', type: 'sql', params: {} } }],
    ['PUT', `${skills}/lets`, { skill: { type: 'other' } }],
    ['DELETE', `${skills}/lets`, undefined],
    ['POST', '/api/sql/query', { query: 'CREATE PROJECT late' }],
    ['GET', '/api/status', undefined],
    ['GET', '/api/handlers', undefined],
    ['GET', '/api/events', undefined],
  ] as const) {
    const { status, body: said } = await send(at.url, method, `${path}?as_of=1`, body)
    expect({ method, path, status, said }).toMatchObject({ status: 400, said: { code: 'wrong_arguments', hint: expect.any(String) } })
  }
  expect((await at.service.head()).position).toBe(before)
})

test('the document names as_of at every address that takes it', async () => {
  type Operation = { parameters: { name: string }[] }
  const { paths } = (await get('/api/openapi.json')).body as { paths: Record<string, Record<string, Operation>> }
  for (const [path, methods] of Object.entries(paths))
    for (const [method, { parameters }] of Object.entries(methods)) {
      // Agents are asked as of a moment, which is read with the question.
      if (path.includes('/completions')) continue
      const isNamed = parameters.some(({ name }) => name === 'as_of')
      const { body } = await send(at.url, method.toUpperCase(), `${path.replace(/\{\w+\}/g, 'none')}?as_of=0`)
      const isTaken = (body as { title?: string }).title === 'No such position'
      expect({ path, method, isNamed }).toEqual({ path, method, isNamed: isTaken })
    }
})

test('log.resources lists what was there, in SQL too', async () => {
  const rows = async (position: number) =>
    (await sql(at.url, `SELECT kind, project, name, id FROM log.resources AT (VERSION => ${position}) WHERE kind IN ('skill', 'agent')`))
      .data
  expect(await rows(after['agent']!)).toEqual([
    ['skill', 'mindsdb', 'rents', after['created']],
    ['agent', 'mindsdb', 'helper', after['agent']],
  ])
  expect(await rows(after['deleted']!)).toEqual([['skill', 'mindsdb', 'lets', after['created']]])
})

test('when the tables have stopped, what they hold is still answered, later positions with 503, and the present as ever', async () => {
  const model = streamId.parse(uuidv7())
  // Counted by more than a version can have in the tables.
  const data = { model, version: 3_000_000_000, rows: 0, requests: [], payload: null, statement: null, read_at: 1 }
  await at.service.log.submit(writes({ stream: `${model}/predictions`, event: { type: 'PredictionsServed', data } }))
  const stopped = (await at.service.head()).position
  const later = await get(skills, stopped)
  expect(later).toMatchObject({ status: 503, body: { code: 'analytics_unavailable', hint: expect.stringMatching(/Without as_of/) } })
  expect(Number(later.headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await get(skill, after['agent'])).body).toMatchObject({ name: 'rents' })
  expect((await get(skills)).body).toMatchObject([{ name: 'lets' }])
})
