import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { send, trainModel, upload, type Target } from '../harness.js'

const cars = join(dirname(createRequire(import.meta.url).resolve('vega-datasets')), '..', 'data', 'cars.json')
const writers = 64
const inProject = '/api/projects/mindsdb'

/** Creates what the requests name, `skills` skills for the lists, and a resource with `changes` changes. */
export const prepare = async (target: Target, { skills, changes }: { skills: number; changes: number }): Promise<void> => {
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
  for (let n = 0; n < changes; n++)
    await send(target, 'PUT', `${inProject}/skills/taken`, { skill: { params: { text: `${n} ${'x'.repeat(100_000)}` } } })
  let next = 0
  const write = async () => {
    for (let n = next++; n < skills; n = next++)
      await make(`${inProject}/skills`, { skill: { name: `s${n}`, type: 'sql', params: { about: 'x'.repeat(100) } } })
  }
  await Promise.all(Array.from({ length: writers }, write))
}
