import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import Sqlite from 'better-sqlite3'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { limits } from '../../../src/basics/limits.js'
import { until } from '../../support/until.js'
import { formOf, settled, trainRent } from '../../support/models/rentals.js'
import { send, sql, startTestService } from '../../support/service.js'

let at: Awaited<ReturnType<typeof startTestService>>
beforeAll(async () => {
  at = await startTestService()
})
afterAll(() => at.stop())

const project = '/api/projects/mindsdb'
const head = async () => (await at.service.head()).position
const back = (path: string, version: unknown, headers = {}) => send(at.url, 'POST', `${path}/rollback`, { version }, headers)
const put = (path: string, body: unknown) => send(at.url, 'PUT', path, body)
const get = async (path: string) => (await send(at.url, 'GET', path)).body as Record<string, unknown>
const lastEvents = async (n: number) => {
  const events = await at.service.log.readAll((await head()) - n, n)
  return events.map(({ text }) => {
    const { type, data } = JSON.parse(text) as { type: string; data: object }
    return { type, data }
  })
}

describe('a skill', () => {
  const path = `${project}/skills/rents`
  beforeAll(async () => {
    await send(at.url, 'POST', `${project}/skills`, { skill: { name: 'rents', type: 'sql', params: { tables: ['a'], api_key: 'sk-1' } } })
    await put(path, { skill: { type: 'text2sql', params: { tables: ['a', 'b'], api_key: 'sk-2' } } })
    await put(path, { skill: { name: 'flats' } })
  })

  test('goes back as ordinary events with the values that result, and its history goes on', async () => {
    const reply = await back(`${project}/skills/flats`, 1)
    expect(reply).toMatchObject({ status: 200, body: { name: 'rents', type: 'sql', params: { tables: ['a'], api_key: '******' } } })
    expect(reply.headers.get('etag')).toBe('"5"')
    const [updated, renamed] = await lastEvents(2)
    expect(updated).toEqual({
      type: 'SkillUpdated',
      data: { type: 'sql', params: { tables: ['a'], api_key: { $secret: expect.any(String) } } },
    })
    expect(renamed).toEqual({ type: 'SkillRenamed', data: { name: 'rents' } })
    expect(await get(path)).toEqual(reply.body)
    expect((await sql(at.url, "SELECT name, type FROM skills WHERE name = 'rents'")).data).toEqual([['rents', 'sql']])
    const secret = (updated?.data as { params: { api_key: { $secret: string } } }).params.api_key.$secret
    expect((await at.service.log.payload(secret))?.toString()).toBe('"sk-1"')
  })

  test('only what differs becomes another', async () => {
    expect(await back(path, 4)).toMatchObject({ status: 200, body: { name: 'flats' } })
    expect(await lastEvents(1)).toEqual([{ type: 'SkillRenamed', data: { name: 'flats' } }])
    await back(`${project}/skills/flats`, 5)
  })

  test('a version that is not there, or that it is at, is refused', async () => {
    const position = await head()
    const { headers } = await send(at.url, 'PUT', path, { skill: {} })
    const now = Number(headers.get('etag')?.replaceAll('"', ''))
    expect(await back(path, now)).toMatchObject({ status: 400, body: { detail: expect.stringContaining(`at version ${now}`) } })
    expect(await back(path, now - 2)).toMatchObject({ status: 400, body: { detail: expect.stringContaining('is the same as at version') } })
    expect(await back(path, now + 1)).toMatchObject({
      status: 404,
      body: { title: 'Version not found', hint: expect.stringContaining(`1 to ${now}`) },
    })
    expect(await back(path, 1_000_000_000)).toMatchObject({ status: 400 })
    for (const version of [0, -1, 1.5, '1', null, undefined]) expect((await back(path, version)).status).toBe(400)
    expect(await back(`${project}/skills/nothing`, 1)).toMatchObject({ status: 404, body: { title: 'Skill not found' } })
    expect(await back('/api/projects/nowhere/skills/x', 1)).toMatchObject({ status: 404, body: { title: 'Project not found' } })
    expect(await head()).toBe(position)
  })

  test('an earlier version after too many events is refused before they are folded; the newest one needs no fold', async () => {
    const { log } = at.service
    const shop = await log.resources.one('project', 'mindsdb')
    const found = await log.resources.one('skill', 'rents', shop)
    if (!found) throw new Error('there is no skill')
    const long = { ...found, version: 2 * limits.rollbackMaxVersion }
    await expect(log.earlier(long, limits.rollbackMaxVersion + 1)).rejects.toMatchObject({
      code: 'wrong_arguments',
      extras: { hint: expect.stringContaining(`up to ${limits.rollbackMaxVersion}`) },
    })
    const planted = { ...found.state, type: 'planted' }
    expect(await log.earlier({ ...long, state: planted }, long.version)).toMatchObject({ state: { type: 'planted' } })
  })

  test('a name that is taken since is refused', async () => {
    await send(at.url, 'POST', `${project}/skills`, { skill: { name: 'Flats', type: 't', params: {} } })
    expect(await back(path, 3)).toMatchObject({ status: 409, body: { title: 'Skill already exists' } })
  })

  test('takes If-Match, a dry run and a key', async () => {
    const position = await head()
    expect((await back(path, 2, { 'if-match': '"2"' })).status).toBe(412)
    expect(await back(path, 2, { prefer: 'dry-run' })).toMatchObject({
      status: 200,
      body: { events: [{ type: 'SkillUpdated' }], resource: { type: 'text2sql' } },
    })
    expect(await head()).toBe(position)
    const keyed = () => back(path, 2, { 'idempotency-key': 'back' })
    const first = await keyed()
    expect(first.status).toBe(200)
    await put(path, { skill: { type: 'other' } })
    expect(await keyed()).toMatchObject({ status: 200, body: first.body })
    expect(await head()).toBe(position + 2)
  })

  test('secrets that were erased are told, not brought back', async () => {
    const db = new Sqlite(join(at.directory, 'log.sqlite'))
    db.prepare('UPDATE payloads SET wrapped = NULL').run()
    db.close()
    expect(await back(path, 1)).toMatchObject({ status: 404, body: { title: 'Secrets erased', hint: expect.any(String) } })
  })
})

test('an agent and a chatbot go back only to what is still there', async () => {
  const skill = async (name: string) => send(at.url, 'POST', `${project}/skills`, { skill: { name, type: 't', params: {} } })
  await skill('one')
  await skill('two')
  await send(at.url, 'POST', `${project}/agents`, { agent: { name: 'a', model_name: 'm', skills: ['one'] } })
  await put(`${project}/agents/a`, { agent: { skills_to_add: ['two'], skills_to_remove: ['one'] } })
  await put(`${project}/agents/a`, { agent: { model_name: 'n' } })
  expect(await back(`${project}/agents/a`, 1)).toMatchObject({ status: 200, body: { model_name: 'm', skills: [{ name: 'one' }] } })
  await send(at.url, 'DELETE', `${project}/skills/two`)
  expect(await back(`${project}/agents/a`, 3)).toMatchObject({
    status: 404,
    body: { detail: expect.stringContaining('a skill of that version') },
  })

  for (const name of ['chat', 'other'])
    await send(at.url, 'POST', '/api/databases', { database: { name, engine: 'slack', parameters: {} } })
  await send(at.url, 'POST', `${project}/agents`, { agent: { name: 'b', model_name: 'm' } })
  const chatbot = { name: 'c', agent_name: 'b', database_name: 'chat', is_running: true }
  await send(at.url, 'POST', `${project}/chatbots`, { chatbot })
  await put(`${project}/chatbots/c`, { chatbot: { agent_name: 'a', is_running: false } })
  await put(`${project}/chatbots/c`, { chatbot: { database_name: 'other' } })
  expect(await back(`${project}/chatbots/c`, 2)).toMatchObject({ status: 200 })
  expect(await get(`${project}/chatbots/c`)).toMatchObject({ database: 'chat', is_running: false, agent: { name: 'a' } })
  await send(at.url, 'DELETE', '/api/databases/other')
  expect(await back(`${project}/chatbots/c`, 3)).toMatchObject({ status: 404, body: { detail: expect.stringContaining('the connection') } })
  await send(at.url, 'DELETE', `${project}/agents/b`)
  expect(await back(`${project}/chatbots/c`, 1)).toMatchObject({ status: 404, body: { detail: expect.stringContaining('the agent') } })
})

test('a view is checked as when it is written', async () => {
  await send(at.url, 'POST', `${project}/views`, { view: { name: 'ground', query: 'SELECT 1 AS one' } })
  await send(at.url, 'POST', `${project}/views`, { view: { name: 'v', query: 'SELECT one FROM ground' } })
  await put(`${project}/views/v`, { view: { query: 'SELECT 3 AS three' } })
  expect(await back(`${project}/views/v`, 1)).toMatchObject({ status: 200, body: { query: 'SELECT one FROM ground' } })
  await back(`${project}/views/v`, 2)
  await send(at.url, 'DELETE', `${project}/views/ground`)
  expect(await back(`${project}/views/v`, 1)).toMatchObject({ status: 404 })
})

test('a connection goes back, but not to a name that something else has', async () => {
  await send(at.url, 'POST', '/api/databases', { database: { name: 'd1', engine: 'slack', parameters: { token: 't1' } } })
  await put('/api/databases/d1', { database: { engine: 'postgres', parameters: { token: null, host: 'h' } } })
  await sql(at.url, "ALTER DATABASE d1 NAME = 'd2'")
  expect(await back('/api/databases/d2', 2)).toMatchObject({ status: 200, body: { name: 'd1', engine: 'postgres' } })
  expect(await back('/api/databases/d1', 1)).toMatchObject({ status: 200, body: { engine: 'slack', connection_data: { token: '******' } } })
  await send(at.url, 'POST', '/api/projects', { project: { name: 'd2' } })
  expect(await back('/api/databases/d1', 3)).toMatchObject({ status: 409 })
})

test('a file goes back to earlier rows, while they are kept', async () => {
  await send(at.url, 'PUT', '/api/files/f', formOf('a\n1\n', 'f.csv'))
  const { content } = await get('/api/files/f')
  await sql(at.url, 'INSERT INTO files.f SELECT 2')
  const second = (await get('/api/files/f'))['content']
  expect(await back('/api/files/f', 1)).toMatchObject({ status: 200, body: { content, row_count: 1 } })
  expect((await sql(at.url, 'SELECT * FROM files.f')).data).toEqual([[1]])
  await rm(join(at.directory, 'blobs', String(second)))
  expect(await back('/api/files/f', 2)).toMatchObject({ status: 404, body: { title: 'Content erased' } })
})

test('a job goes back to earlier statements and times, and its runs stay', async () => {
  const path = `${project}/jobs/j`
  const runsOf = async () => (await send(at.url, 'GET', `${path}/history`)).body as { run_end: string | null; query: string }[]
  const query = "SELECT 1 WHERE token = 'sk-planted'"
  const shown = "SELECT 1 WHERE token = '******'"
  await send(at.url, 'POST', `${project}/jobs`, { job: { name: 'j', query, schedule_str: 'every hour' } })
  await until(async () => (await runsOf()).every(({ run_end }) => run_end !== null) && (await runsOf()).length > 0)
  expect(await back(path, 1)).toMatchObject({ status: 400, body: { detail: 'job j is the same as at version 1' } })
  await put(path, { job: { query: 'SELECT 2', if_query: 'SELECT 3', schedule_str: 'every day' } })
  expect(await back(path, 1)).toMatchObject({
    status: 200,
    body: { query: shown, if_query: null, schedule_str: 'every hour' },
  })
  const [updated] = await lastEvents(1)
  expect(updated).toEqual({
    type: 'JobUpdated',
    data: {
      ...{ query: shown, if_query: null, sealed: { $secret: expect.any(String) } },
      ...{ schedule: { count: 1, unit: 'hour', said: 'every hour' }, next_run_at: expect.any(String) },
    },
  })
  expect(await back(path, 4)).toMatchObject({ status: 200, body: { query: 'SELECT 2', schedule_str: 'every day' } })
  expect((await runsOf()).map((run) => run.query)).toEqual([shown])
})

test('a model activates an earlier version', async () => {
  await trainRent(at.url)
  await sql(at.url, "RETRAIN rent USING preset = 'fast'")
  expect(await settled(at.url, 'rent.2')).toBe('complete')
  expect(await get(`${project}/models/rent`)).toMatchObject({ version: 2, active: true })
  expect(await back(`${project}/models/rent`, 1)).toMatchObject({ status: 200, body: { version: 1, active: true } })
  expect(await back(`${project}/models/rent`, 3)).toMatchObject({ status: 404 })
})
