import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { limits } from '../../src/basics/limits.js'
import { send, trainModel, upload, type Target } from '../harness/harness.js'

const cars = join(dirname(createRequire(import.meta.url).resolve('vega-datasets')), '..', 'data', 'cars.json')
const writers = 64
const inProject = '/api/projects/mindsdb'

/** The secret of the connection of the chatbot `talker`. */
export const webhookSecret = 'a-secret-of-the-bench'

/** The request id of the largest predictions. */
export const predictionId = 'largest-predictions'

/** The id of an agent's answer, the id of a chatbot's message, and the address where the chatbot gets messages. */
type Made = { answer: string; conversation: string; message: string; token: string }

/**
 * Creates the resources that the requests name, `skills` skills for the lists, and a resource with `changes` changes. Returns the ids of
 * the answer and the message.
 */
export const prepare = async (
  target: Target,
  { skills, changes, model }: { skills: number; changes: number; model: object },
): Promise<Made> => {
  const make = (path: string, body: object) => send(target, 'POST', path, body)
  await upload(target, 'cars', 'cars.json', readFileSync(cars, 'utf8'))
  await upload(target, 'pairs', 'pairs.csv', 'n,word\n1,a\n')
  await make('/api/databases', { database: { name: 'chat', engine: 'slack' } })
  for (const name of ['sales', 'taken']) await make(`${inProject}/skills`, { skill: { name, type: 'sql', params: {} } })
  for (const name of ['helper', 'taken']) await make(`${inProject}/agents`, { agent: { name, model_name: 'm', skills: ['sales'] } })
  await make(`${inProject}/chatbots`, { chatbot: { name: 'taken', agent_name: 'helper', database_name: 'chat' } })
  await make(`${inProject}/knowledge_bases`, { knowledge_base: { name: 'documents' } })
  await make(`${inProject}/views`, { view: { name: 'stored', query: 'SELECT 1' } })
  await make(`${inProject}/jobs`, { job: { name: 'taken', query: 'SELECT 1', start_at: '2099-01-01' } })
  await trainModel(target, 'cars_model', 'CREATE MODEL cars_model FROM files (SELECT * EXCLUDE (Name) FROM cars) PREDICT Miles_per_Gallon')
  await trainModel(target, 'origin_model', 'CREATE MODEL origin_model FROM files (SELECT * EXCLUDE (Name) FROM cars) PREDICT Origin')
  const rows = Array.from({ length: limits.predictMaxRows }, (_, n) => ({ Horsepower: n % 200, Weight_in_lbs: 2_000 + n }))
  await send(target, 'POST', `${inProject}/models/origin_model/predict`, rows, { 'x-request-id': predictionId })
  const made = await converse(target, model)
  for (let n = 0; n < changes; n++)
    await send(target, 'PUT', `${inProject}/skills/taken`, { skill: { params: { text: `${n} ${'x'.repeat(100_000)}` } } })
  let next = 0
  const write = async () => {
    for (let n = next++; n < skills; n = next++)
      await make(`${inProject}/skills`, { skill: { name: `s${n}`, type: 'sql', params: { about: 'x'.repeat(100) } } })
  }
  await Promise.all(Array.from({ length: writers }, write))
  return made
}

/** An agent with a language model and a chatbot, which have each answered once. */
const converse = async (target: Target, model: object): Promise<Made> => {
  const make = (path: string, body: object) => send(target, 'POST', `${inProject}${path}`, body)
  await make('/agents', { agent: { name: 'speaker', model, data: { tables: ['files.cars'] } } })
  const question = { messages: [{ role: 'user', content: 'How many?' }] }
  const answered = (await make('/agents/speaker/completions', question)) as { message: { trace_id: string } }
  const chatbot = { name: 'talker', agent_name: 'speaker', is_running: true, db_engine: 'webhook', db_params: { secret: webhookSecret } }
  const { webhook_token: token } = (await make('/chatbots', { chatbot })) as { webhook_token: string }
  const said = (await make('/chatbots/talker/messages', { text: 'How many?' })) as { conversation: string; message: string }
  return { answer: answered.message.trace_id, conversation: said.conversation, message: said.message, token }
}
