import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { pino } from 'pino'
import { tableText } from '../../src/cli/terminal/table-text.js'
import { readConfig } from '../../src/setup/config.js'
import { startService } from '../../src/main.js'

// A tour of the service on real tables: every line that begins with an arrow is a request of a client.

const say = (text = '') => console.log(text)
const data = mkdtempSync(join(tmpdir(), 'mindledger-demo-'))
const service = await startService(readConfig({ PORT: '0', DATA_DIR: data }), pino({ level: 'silent' }))
const cli = fileURLToPath(new URL('../../bin/mindledger.js', import.meta.url))
const tables = join(dirname(createRequire(import.meta.url).resolve('vega-datasets')), '..', 'data')

type Answer = { type?: string; column_names?: string[]; data?: unknown[][]; error_message?: string }

const call = async (method: string, path: string, body?: unknown): Promise<unknown> => {
  const text = body === undefined ? undefined : JSON.stringify(body)
  say(`→ ${method} ${path}${text === undefined ? '' : `  ${text.length > 150 ? `${text.slice(0, 150)}…` : text}`}`)
  const response = await fetch(service.url + path, {
    method,
    ...(text !== undefined && { body: text, headers: { 'content-type': 'application/json' } }),
  })
  const answer: unknown = response.status === 204 ? '' : await response.json()
  if (!response.ok) throw new Error(`${response.status}: ${JSON.stringify(answer)}`)
  return answer
}

const show = (answer: unknown) => say(`  ${JSON.stringify(answer)}`)

const sql = async (query: string): Promise<unknown[][]> => {
  say(`→ SQL  ${query}`)
  const response = await fetch(`${service.url}/api/sql/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query, context: { db: 'garage' } }),
  })
  const { type, column_names = [], data: rows = [], error_message } = (await response.json()) as Answer
  if (type === 'error') throw new Error(`${query}: ${error_message ?? ''}`)
  if (type === 'table') for (const line of tableText(column_names, rows)) say(`  ${line}`)
  else say('  ok')
  return rows
}

const upload = async (name: string, file: string) => {
  say(`→ PUT /api/files/${name}  (${file} of the npm package vega-datasets)`)
  const form = new FormData()
  form.set('file', new Blob([readFileSync(join(tables, file))]), file)
  const response = await fetch(`${service.url}/api/files/${name}`, { method: 'PUT', body: form })
  if (!response.ok) throw new Error(await response.text())
}

const trained = async (model: string) => {
  for (;;) {
    const { status, error, accuracy, training_time } = (await (
      await fetch(`${service.url}/api/projects/garage/models/${model}`)
    ).json()) as {
      status: string
      error: string | null
      accuracy: number
      training_time: number
    }
    if (status === 'error') throw new Error(`${model}: ${error ?? ''}`)
    if (status === 'complete') {
      say(`  ${model} is complete after ${training_time} s; accuracy out of fold ${accuracy.toFixed(3)}`)
      return
    }
    await sleep(100)
  }
}

const run = async (...args: string[]) => {
  say(`→ mindledger ${args.join(' ')}`)
  const { stdout } = await promisify(execFile)(process.execPath, [cli, ...args], { env: { ...process.env, DATA_DIR: data } })
  say(`  ${stdout.trim().replaceAll('\n', '\n  ')}`)
}

const section = (title: string) => say(`\n${title}\n${'-'.repeat(title.length)}`)

try {
  say(`Mindledger serves at ${service.url} from a temporary directory.`)

  // SQL starts a moment after REST.
  while (!(await fetch(`${service.url}/ready`)).ok) await sleep(100)

  section('Real tables become files')
  await upload('cars', 'cars.json')
  await upload('penguins', 'penguins.json')
  await sql('SELECT Origin, count(*) AS cars, round(avg(Miles_per_Gallon), 1) AS mpg FROM files.cars GROUP BY Origin ORDER BY cars DESC')

  section('A project with a skill, an agent and a chatbot')
  await sql('CREATE PROJECT garage')
  show(
    await call('POST', '/api/projects/garage/skills', {
      skill: { name: 'car_facts', type: 'sql', params: { database: 'files', tables: ['cars'] } },
    }),
  )
  show(
    await call('POST', '/api/projects/garage/agents', {
      agent: {
        name: 'mechanic',
        model_name: 'gpt-4o',
        skills: ['car_facts'],
        params: { openai_api_key: 'sk-demo', prompt_template: 'Be brief.' },
      },
    }),
  )
  await call('POST', '/api/databases', { database: { name: 'team_chat', engine: 'slack', parameters: { token: 'xoxb-demo' } } })
  show(
    await call('POST', '/api/projects/garage/chatbots', { chatbot: { name: 'desk', agent_name: 'mechanic', database_name: 'team_chat' } }),
  )

  section('Two models, each one statement')
  await sql('CREATE MODEL garage.mpg FROM files (SELECT * EXCLUDE (Name) FROM cars) PREDICT Miles_per_Gallon')
  await sql('CREATE MODEL garage.species FROM files (SELECT * FROM penguins) PREDICT Species')
  await trained('mpg')
  await trained('species')

  section('Predictions over REST and in SQL')
  show(
    await call('POST', '/api/projects/garage/models/mpg/predict', [
      { Cylinders: 4, Displacement: 120, Horsepower: 88, Weight_in_lbs: 2400, Origin: 'Japan' },
    ]),
  )
  await sql('SELECT Species, Species_confidence FROM species WHERE "Beak Length (mm)" = 46 AND "Flipper Length (mm)" = 215')
  await sql(
    'SELECT t.Name, t.Miles_per_Gallon AS real, round(m.Miles_per_Gallon, 1) AS predicted, m.Miles_per_Gallon_anomaly AS anomaly ' +
      'FROM files.cars AS t JOIN mpg AS m WHERE t.Miles_per_Gallon IS NOT NULL ORDER BY abs(t.Miles_per_Gallon - m.Miles_per_Gallon) DESC LIMIT 3',
  )

  section('A change, and the history that it leaves')
  await call('PUT', '/api/projects/garage/agents/mechanic', { agent: { params: { prompt_template: 'Explain each answer.' } } })
  await sql(
    `SELECT valid_from, changed_by, change, params->>'prompt_template' AS prompt, params->>'openai_api_key' AS key FROM agents_history WHERE name = 'mechanic'`,
  )
  await sql('SELECT position, type, actor, source FROM log.events ORDER BY position DESC LIMIT 5')
  await sql('SELECT model, version, input, output FROM log.predictions LIMIT 3')

  section('An audit')
  await run('verify')
  await run('replay', '--into', join(data, 'audit.duckdb'))
  say('\nThat was all of it. Serve for real with:  npm start')
} finally {
  await service.close()
  rmSync(data, { recursive: true, force: true })
}
