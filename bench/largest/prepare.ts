import { readFileSync } from 'node:fs'
import { pino } from 'pino'
import { v7 as uuidv7 } from 'uuid'
import { streamId } from '../../events/common.js'
import { limits } from '../../src/basics/limits.js'
import { Blobs } from '../../src/files/blobs.js'
import type { NewEvent } from '../../src/log/contract/log.js'
import { readConfig, startService } from '../../src/main.js'
import { dataPaths } from '../../src/setup/data-directory.js'
import { jobWithRuns } from '../../test/support/jobs/job-runs.js'
import { writes } from '../../test/support/log/log.js'
import { onnxBytes } from '../../test/support/models/onnx-models.js'
import { ask, send, trainModel, upload, type Target } from '../harness/harness.js'
import { largestQuestion } from '../harness/language-model.js'
import type { Ids } from './body.js'
import { vegaFile } from './uploads.js'

const writers = 64
const inProject = '/api/projects/mindsdb'

/** The secret of the connection of the chatbot `talker`. */
export const webhookSecret = 'a-secret-of-the-bench'

/** The request id of the largest predictions. */
export const predictionId = 'largest-predictions'

const eventsAtOnce = 100

/** The events of files with one content. */
const filesOf = (content: string, count: number): NewEvent[] =>
  Array.from({ length: count }, (_, n) => ({
    stream: streamId.parse(uuidv7()),
    event: { type: 'FileCreated', data: { name: `f${n}`, content, bytes: 1, row_count: 1, columns: fileColumns, original_name: null } },
  }))
const fileColumns = Array.from({ length: 12 }, (_, n) => ({ name: `column${n}`, type: 'VARCHAR' }))

/** Writes into a new data directory what takes too long to make by requests: the job `busy` with its runs, and many files. */
export const writeHistory = async (directory: string, size: { chars: number; runs: number; files: number }): Promise<void> => {
  const { log, close } = await startService(readConfig({ PORT: '0', DATA_DIR: directory }), pino({ level: 'silent' }))
  try {
    const project = await log.resources.one('project', 'mindsdb')
    if (!project) throw new Error('there is no project')
    const content = await new Blobs(dataPaths(directory).blobs).putBytes(Buffer.from('a'))
    const events = [...jobWithRuns(project.stream, 'busy', size), ...filesOf(content, size.files)]
    for (let n = 0; n < events.length; n += eventsAtOnce) await log.submit(writes(...events.slice(n, n + eventsAtOnce)))
  } finally {
    await close()
  }
}

/**
 * What to prepare: `skills` skills for the lists, `agents` agents that all use one of them, `chatbots` chatbots that an agent answers for, a
 * resource with `changes` changes, and answers of a share of their largest size.
 */
type Sizes = { skills: number; agents: number; chatbots: number; changes: number; share: number; model: object }

/** Creates the resources that the requests name. Returns the ids that the service gave. */
export const prepare = async (target: Target, sizes: Sizes): Promise<Ids> => {
  const { skills, agents, chatbots, changes, share, model } = sizes
  const make = (path: string, body: object) => send(target, 'POST', path, body)
  await upload(target, 'cars', 'cars.json', readFileSync(vegaFile('cars.json'), 'utf8'))
  for (const rows of ['1,a\n', '1,a\n2,b\n']) await upload(target, 'pairs', 'pairs.csv', `n,word\n${rows}`)
  await make('/api/databases', { database: { name: 'chat', engine: 'slack' } })
  for (const name of ['sales', 'taken']) await make(`${inProject}/skills`, { skill: { name, type: 'sql', params: {} } })
  for (const name of ['helper', 'taken']) await make(`${inProject}/agents`, { agent: { name, model_name: 'm', skills: ['sales'] } })
  await make(`${inProject}/chatbots`, { chatbot: { name: 'taken', agent_name: 'helper', database_name: 'chat' } })
  await make(`${inProject}/knowledge_bases`, { knowledge_base: { name: 'documents' } })
  await make(`${inProject}/views`, { view: { name: 'stored', query: 'SELECT 1' } })
  await make(`${inProject}/jobs`, { job: { name: 'taken', query: 'SELECT 1', start_at: '2099-01-01' } })
  await trainModels(target)
  const [predicted, answered] = [await predictTwice(target), await converse(target, share, model)]
  for (let n = 0; n < changes; n++)
    await send(target, 'PUT', `${inProject}/skills/taken`, { skill: { params: { text: `${n} ${'x'.repeat(100_000)}` } } })
  await makeMany(skills, (n) => make(`${inProject}/skills`, { skill: { name: `s${n}`, type: 'sql', params: { about: 'x'.repeat(100) } } }))
  await makeMany(agents, (n) => make(`${inProject}/agents`, { agent: { name: `a${n}`, model_name: 'm', skills: ['sales'] } }))
  await makeMany(chatbots, (n) =>
    make(`${inProject}/chatbots`, { chatbot: { name: `c${n}`, agent_name: 'helper', database_name: 'chat' } }),
  )
  await upload(target, 'asked', 'asked.csv', questions(Math.ceil(share * limits.evaluationCasesMax)))
  const { head } = (await send(target, 'GET', '/api/events?limit=1')) as { head: number }
  return { ...predicted, ...answered, head: String(head) }
}

/** Makes resources, some at a time. */
const makeMany = async (count: number, make: (n: number) => Promise<unknown>): Promise<void> => {
  let next = 0
  const write = async () => {
    for (let n = next++; n < count; n = next++) await make(n)
  }
  await Promise.all(Array.from({ length: writers }, write))
}

/** Questions with an answer and a document that is expected, as CSV. */
const questions = (count: number): string =>
  `question,answer,doc_id\n${Array.from({ length: count }, (_, n) => `${n} ${'which '.repeat(500)},word,d${n}\n`).join('')}`

/** The sales of two shops on ninety days from 2024 on, as CSV. */
const sales = (): string => {
  const dayOf = (n: number) => new Date(Date.UTC(2024, 0, 1 + n)).toISOString().slice(0, 10)
  const soldOn = (n: number) => 50 + 10 * (n % 7) + ((n * n) % 5)
  const of = (shop: string) => Array.from({ length: 90 }, (_, n) => `${dayOf(n)},${shop},${soldOn(n)}\n`).join('')
  return `day,shop,sold\n${of('a')}${of('b')}`
}

/** Models of numbers, of classes, of a series, and one that was trained elsewhere. */
const trainModels = async (target: Target): Promise<void> => {
  const cars = 'FROM files (SELECT * EXCLUDE (Name) FROM cars)'
  await trainModel(target, 'cars_model', `CREATE MODEL cars_model ${cars} PREDICT Miles_per_Gallon`)
  await trainModel(target, 'origin_model', `CREATE MODEL origin_model ${cars} PREDICT Origin`)
  await trainModel(
    target,
    'again_model',
    'CREATE MODEL again_model FROM files (SELECT Acceleration AS a, Horsepower AS b FROM cars) PREDICT a',
  )
  await upload(target, 'days', 'days.csv', sales())
  const series = 'PREDICT sold ORDER BY day GROUP BY shop HORIZON 7'
  await trainModel(target, 'forecast_model', `CREATE MODEL forecast_model FROM files (SELECT * FROM days) ${series}`)
  await upload(target, 'rent', 'rent.onnx', onnxBytes('rent'))
  await trainModel(target, 'rent_model', "CREATE MODEL rent_model PREDICT rent USING engine = 'onnx', file = 'rent'")
}

/** Records the largest predictions under their request id, and again without one. */
const predictTwice = async (target: Target): Promise<Ids> => {
  const rows = Array.from({ length: limits.predictMaxRows }, (_, n) => ({ Horsepower: n % 200, Weight_in_lbs: 2_000 + n }))
  const predict = (headers: Record<string, string>) => send(target, 'POST', `${inProject}/models/origin_model/predict`, rows, headers)
  await predict({ 'x-request-id': predictionId })
  await predict({})
  const [[position] = []] = await ask(target, "SELECT max(position) FROM log.events WHERE type = 'PredictionsServed'")
  return { prediction: String(position) }
}

/** An agent with a language model and a chatbot, which have each given their largest answer. */
const converse = async (target: Target, share: number, model: object): Promise<Ids> => {
  const make = (path: string, body: object) => send(target, 'POST', `${inProject}${path}`, body)
  await make('/agents', { agent: { name: 'speaker', model, data: { tables: ['files.cars'] } } })
  const question = { messages: [{ role: 'user', content: largestQuestion(share) }] }
  const answered = (await make('/agents/speaker/completions', question)) as { message: { trace_id: string } }
  const chatbot = { name: 'talker', agent_name: 'speaker', is_running: true, db_engine: 'webhook', db_params: { secret: webhookSecret } }
  const { webhook_token: token } = (await make('/chatbots', { chatbot })) as { webhook_token: string }
  const said = (await make('/chatbots/talker/messages', { text: largestQuestion(share) })) as { conversation: string; message: string }
  return { answer: answered.message.trace_id, conversation: said.conversation, message: said.message, token }
}
