import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { calls, questionOf, resultsOf, ScriptedModel } from '../../support/agents/scripted-model.js'
import { RawServer, stream } from '../../support/llm/raw-server.js'
import { restartable, send, sql } from '../../support/service.js'

const model = new ScriptedModel()
/** A model that begins an answer, and says nothing. */
const silent = new RawServer()
const service = restartable()
let url: string
const project = '/api/projects/mindsdb'

beforeAll(async () => {
  await Promise.all([model.start(), silent.start()])
  url = await service.start()
})
afterEach(() => silent.reset())
afterAll(async () => {
  await service.remove()
  silent.stop()
  await model.stop()
})

const isAsked = (): Promise<void> =>
  new Promise((asked) => {
    silent.answer = (response) => {
      stream(response).write(': still here\n\n')
      asked()
    }
  })
const hung = () => ({ ...model.model, base_url: `${silent.url}/v1` })
const restart = async (): Promise<void> => {
  await service.stop()
  url = await service.start()
}

test('a search in a query of an agent that is under way when the service stops is on record', async () => {
  await send(url, 'POST', `${project}/knowledge_bases`, { knowledge_base: { name: 'attic', reranking_model: hung() } })
  await send(url, 'PUT', `${project}/knowledge_bases/attic`, { knowledge_base: { rows: [{ id: 'a', content: 'a lamp' }] } })
  await sql(url, "CREATE VIEW lamps AS (SELECT id FROM attic WHERE content = 'which lamp')")
  await send(url, 'POST', `${project}/agents`, { agent: { name: 'viewer', model: model.model, data: { tables: ['mindsdb.lamps'] } } })
  model.script = (asked) => (resultsOf(asked).length === 0 ? calls(['sql', { query: 'SELECT * FROM mindsdb.lamps' }]) : 'One.')
  const asked = isAsked()
  const messages = [{ role: 'user', content: 'Which lamp?' }]
  const asking = send(url, 'POST', `${project}/agents/viewer/completions`, { messages }).catch(() => undefined)
  await asked
  await restart()
  await asking
  const { data } = await sql(url, 'SELECT purpose, outcome, question, exchanges FROM log.knowledge_searches')
  expect(data.map((row) => row.slice(0, 3))).toEqual([['skill', 'failed', 'which lamp']])
  expect(JSON.parse(String(data[0]?.[3]))).toMatchObject([{ new: [{}, { role: 'user' }], response: { text: '', error: 'Stopping' } }])
  expect((await sql(url, 'SELECT outcome FROM log.answers')).data).toEqual([['aborted']])
})

test('an evaluation that is under way when the service stops is on record, with what was asked of its judge', async () => {
  await send(url, 'POST', `${project}/agents`, { agent: { name: 'seller', model: model.model } })
  await sql(url, "CREATE TABLE files.questions (SELECT 'How many?' AS question, '40' AS answer)")
  model.script = (asked) => `It is ${questionOf(asked)}`
  const asked = isAsked()
  const statement = `EVALUATE AGENT mindsdb.seller USING test_table = 'files.questions', metrics = 'judge', judge = ${JSON.stringify(hung())}`
  const evaluating = sql(url, statement).catch(() => undefined)
  await asked
  await restart()
  await evaluating
  const { data } = await sql(url, 'SELECT question, judge_input, judge_output FROM log.evaluation_cases')
  expect(data).toEqual([['How many?', expect.stringContaining('How many?'), '']])
})
