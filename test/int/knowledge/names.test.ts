import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { send, sql, startTestService } from '../../support/service.js'

let at: Awaited<ReturnType<typeof startTestService>>
beforeAll(async () => {
  at = await startTestService()
  await sql(at.url, 'CREATE TABLE files.homes (SELECT range AS size, range * 2 AS rent FROM range(60))')
})
afterAll(() => at.stop())

const making = {
  view: (name: string) => `CREATE VIEW ${name} AS (SELECT 1 AS one)`,
  model: (name: string) => `CREATE MODEL ${name} FROM files (SELECT * FROM homes) PREDICT rent`,
  agent: (name: string) => `CREATE AGENT ${name} USING model = {'provider': 'openai', 'model_name': 'm', 'api_key': 'k'}`,
  knowledge_base: (name: string) => `CREATE KNOWLEDGE_BASE ${name}`,
}
type Kind = keyof typeof making
const words: Record<Kind, string> = { view: 'a view', model: 'a model', agent: 'an agent', knowledge_base: 'a knowledge base' }
const kinds = Object.keys(making) as Kind[]
/** A model and an agent may share a name. */
const mayShare = (one: Kind, other: Kind) => [one, other].every((kind) => kind === 'model' || kind === 'agent')

describe('a name that FROM would take for something else', () => {
  test.each(
    kinds.flatMap((there) => kinds.filter((kind) => kind !== there && !mayShare(there, kind)).map((kind) => [there, kind] as const)),
  )('is that of %s, and is refused for %s', async (there, kind) => {
    const name = `${there}_${kind}`
    expect(await sql(at.url, making[there](name))).not.toMatchObject({ type: 'error' })
    const refused = await sql(at.url, making[kind](name))
    expect(refused).toMatchObject({ type: 'error', error_message: expect.stringContaining(`${name} is the name of ${words[there]}`) })
  })

  test('is refused over REST too, and when something is renamed or rolled back', async () => {
    const path = '/api/projects/mindsdb'
    await sql(at.url, making.knowledge_base('taken'))
    expect(await send(at.url, 'POST', `${path}/views`, { view: { name: 'taken', query: 'SELECT 1' } })).toMatchObject({ status: 409 })
    expect(await send(at.url, 'POST', `${path}/agents`, { agent: { name: 'taken', model_name: 'm', provider: 'openai' } })).toMatchObject({
      status: 409,
    })
    await send(at.url, 'POST', `${path}/agents`, { agent: { name: 'free', model_name: 'm', provider: 'openai' } })
    expect(await send(at.url, 'PUT', `${path}/agents/free`, { agent: { name: 'taken' } })).toMatchObject({ status: 409 })
    expect((await send(at.url, 'PUT', `${path}/agents/free`, { agent: { name: 'freer' } })).status).toBe(200)
    await sql(at.url, making.view('free'))
    expect(await send(at.url, 'POST', `${path}/agents/freer/rollback`, { version: 1 })).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining('free is the name of a view') },
    })
  })
})

test('knowledge bases stand in the lists of tables, of columns and in the tree, and not in SHOW TABLES', async () => {
  await sql(at.url, "CREATE KNOWLEDGE_BASE shelf USING metadata_columns = ['year']")
  const { data } = await sql(
    at.url,
    "SELECT table_type FROM information_schema.tables WHERE table_name = 'shelf' AND table_schema = 'mindsdb'",
  )
  expect(data).toEqual([['KNOWLEDGE_BASE']])
  const columns = await sql(
    at.url,
    "SELECT column_name FROM information_schema.columns WHERE table_name = 'shelf' ORDER BY ordinal_position",
  )
  expect(columns.data).toEqual([['id'], ['chunk_id'], ['chunk_content'], ['metadata'], ['relevance'], ['distance'], ['year']])
  expect((await sql(at.url, 'SHOW FULL TABLES')).data.flat()).not.toContain('shelf')
  const tree = await send(at.url, 'GET', '/api/tree/mindsdb')
  expect(tree.body).toContainEqual({ name: 'shelf', schema: null, class: 'table', type: 'knowledge_base', engine: null, deletable: true })
})
