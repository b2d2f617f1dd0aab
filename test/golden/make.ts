import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { catalogue } from '../../events/catalogue/catalogue.js'
import { nextChain } from '../../events/stored/chain.js'
import { foldName } from '../../events/common.js'
import { instant, parseEnvelope, renderEnvelope } from '../../events/stored/envelope.js'
import { readConfig } from '../../src/setup/config.js'
import { dataPaths } from '../../src/setup/data-directory.js'
import { rebuildResources } from '../../src/log/sqlite/rebuild.js'
import { openForWriting, readLogId, type LogConnection } from '../../src/log/storage/schema.js'
import { readTail } from '../../src/log/storage/events.js'
import { startService, type Service } from '../../src/main.js'
import { readVersion } from '../../src/setup/version.js'
import { send, sql } from '../support/service.js'
import { goldenQueries, goldenReads, goldenRow, type Golden } from './golden.js'

// How test/golden/format-1 was made, once, with the release that it names:
//   npx tsc -p tsconfig.json && node dist/test/golden/make.js test/golden/format-1
// It is kept as it is: every later release has to open what this one wrote. A new data format gets a directory of its own.

const table = (seed: number): string =>
  [
    'size,rooms,district,rent',
    ...Array.from({ length: 40 }, (_, i) => {
      const size = 20 + ((i * 37 + seed) % 90)
      const district = ['north', 'south', 'harbour'][i % 3]
      return `${size},${1 + (i % 4)},${district},${400 + size * 9 + (i % 3) * 55 + (i % 4) * 20}`
    }),
  ].join('\n')

const must = async (url: string, method: string, path: string, body?: unknown): Promise<void> => {
  const { status, body: answer } = await send(url, method, path, body)
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answer)}`)
}

const upload = async (url: string, name: string, seed: number): Promise<void> => {
  const form = new FormData()
  form.set('file', new Blob([table(seed)]), `${name}.csv`)
  await must(url, 'PUT', `/api/files/${name}`, form)
}

const run = async (url: string, query: string, db = 'shop'): Promise<void> => {
  const { type, error_message } = await sql(url, query, db)
  if (type === 'error') throw new Error(`${query}: ${error_message ?? ''}`)
}

const ended = async (url: string, model: string, version: number): Promise<void> => {
  for (;;) {
    const { data } = await sql(url, `SELECT status FROM models WHERE name = '${model}' AND version = ${version}`, 'shop')
    if (data[0]?.[0] === 'complete' || data[0]?.[0] === 'error') return
    await sleep(50)
  }
}

const resources = async (url: string): Promise<void> => {
  const shop = '/api/projects/shop'
  for (const name of ['shop', 'doomed']) await must(url, 'POST', '/api/projects', { project: { name } })
  await must(url, 'DELETE', '/api/projects/doomed')

  for (const name of ['prices', 'doomed'])
    await must(url, 'POST', `${shop}/skills`, {
      skill: { name, type: 'sql', params: { database: 'files', tables: ['flats'], api_key: 'sk-golden-1' } },
    })
  await must(url, 'PUT', `${shop}/skills/prices`, { skill: { params: { tables: ['flats', 'houses'] } } })
  await must(url, 'PUT', `${shop}/skills/prices`, { skill: { name: 'Preise für Wohnungen' } })
  await must(url, 'DELETE', `${shop}/skills/doomed`)

  for (const name of ['broker', 'doomed'])
    await must(url, 'POST', `${shop}/agents`, {
      agent: {
        name,
        model_name: 'gpt-4o',
        skills: ['Preise für Wohnungen'],
        params: { openai_api_key: 'sk-golden-2', prompt_template: 'Be brief.' },
      },
    })
  await must(url, 'PUT', `${shop}/agents/broker`, { agent: { params: { prompt_template: 'Explain.' } } })
  await run(url, "ALTER AGENT broker USING name = 'agent_of_flats'")
  await must(url, 'DELETE', `${shop}/agents/doomed`)

  for (const name of ['chat', 'doomed'])
    await must(url, 'POST', '/api/databases', { database: { name, engine: 'slack', parameters: { token: 'xoxb-golden', team: 'flats' } } })
  await must(url, 'PUT', '/api/databases/chat', { database: { parameters: { team: 'rents' } } })
  await must(url, 'DELETE', '/api/databases/doomed')

  for (const name of ['desk', 'doomed'])
    await must(url, 'POST', `${shop}/chatbots`, {
      chatbot: { name, agent_name: 'agent_of_flats', database_name: 'chat', is_running: true },
    })
  await must(url, 'PUT', `${shop}/chatbots/desk`, { chatbot: { is_running: false, params: { channel: 'rents' } } })
  await must(url, 'PUT', `${shop}/chatbots/desk`, { chatbot: { name: 'front_desk' } })
  await must(url, 'DELETE', `${shop}/chatbots/doomed`)

  await upload(url, 'flats', 1)
  await upload(url, 'houses', 2)

  await run(url, 'CREATE VIEW large AS (SELECT * FROM files.flats WHERE size > 90)')
  await run(url, 'ALTER VIEW large AS (SELECT * FROM files.flats WHERE size > 80)')
  await run(url, 'CREATE VIEW doomed AS (SELECT 1 AS one)')
  await run(url, 'DROP VIEW doomed')
}

const models = async (url: string): Promise<void> => {
  await run(url, 'CREATE MODEL rent FROM files (SELECT * FROM flats) PREDICT rent')
  await ended(url, 'rent', 1)
  await run(url, 'RETRAIN rent FROM files (SELECT * FROM flats WHERE rooms < 4) PREDICT rent')
  await ended(url, 'rent', 2)
  await run(url, 'SET active rent.1')
  await run(url, 'DROP MODEL rent.2')
  await run(url, 'CREATE MODEL hopeless FROM files (SELECT * FROM flats) PREDICT price')
  await ended(url, 'hopeless', 1)
  await run(url, 'CREATE MODEL doomed FROM files (SELECT * FROM flats) PREDICT rent')
  await ended(url, 'doomed', 1)
  await run(url, 'DROP MODEL doomed')
  await must(url, 'POST', '/api/projects/shop/models/rent/predict', [goldenRow])
  await run(url, 'SELECT t.size, m.rent FROM files.flats AS t JOIN rent AS m LIMIT 3')
}

// What the log knows and no path of this release asks for.
const origin = { actor: 'system', source: 'system', request: null, correlation: null, causation: null } as const

const replacement = async ({ log, url }: Service): Promise<void> => {
  const flats = await log.resources.one('file', 'flats')
  const houses = await log.resources.one('file', 'houses')
  if (!flats || !houses) throw new Error('no files')
  const { name: _, ...data } = houses.state
  await log.submit({ origin, lookups: {}, decide: () => [{ stream: flats.stream, event: { type: 'FileReplaced', data } }], payloads: [] })
  await must(url, 'DELETE', '/api/files/houses')
}

const renames = async ({ log }: Service): Promise<void> => {
  const project = await log.resources.one('project', 'shop')
  const rename = async (
    stream: string | undefined,
    event: { type: 'ProjectRenamed' | 'ViewRenamed' | 'DatabaseRenamed'; data: { name: string } },
  ) => {
    if (stream === undefined) throw new Error(`nothing to rename with ${event.type}`)
    await log.submit({ origin, lookups: {}, decide: () => [{ stream, event }], payloads: [] })
  }
  await rename((await log.resources.one('view', 'large', project))?.stream, { type: 'ViewRenamed', data: { name: 'large_flats' } })
  await rename((await log.resources.one('database', 'chat'))?.stream, { type: 'DatabaseRenamed', data: { name: 'team_chat' } })
  await rename(project?.stream, { type: 'ProjectRenamed', data: { name: 'flats_shop' } })
}

/** A chatbot as the first release of its event wrote it: schema version 1, which had no `is_running`. Chained by hand. */
const oldChatbot = (db: LogConnection): void => {
  const find = db.prepare<[string, string], string>('SELECT stream FROM resources WHERE kind = ? AND name = ?').pluck()
  const { position, chain, microseconds } = readTail(db)
  const text = renderEnvelope({
    position: position + 1,
    stream: '01890a5d-ac96-774b-bcce-b302099a8057',
    version: 1,
    type: 'ChatbotCreated',
    schema: 1,
    recorded_at: instant(Math.floor(microseconds / 1000) + 1),
    actor: 'anonymous',
    source: 'rest',
    request: null,
    correlation: null,
    causation: null,
    data: {
      project: find.get('project', foldName('flats_shop')) ?? '',
      name: 'old_timer',
      agent: find.get('agent', foldName('agent_of_flats')) ?? '',
      model_name: null,
      database: find.get('database', foldName('team_chat')) ?? '',
      params: {},
    },
  })
  db.prepare('INSERT INTO events (position, text, chain) VALUES (?, ?, ?)').run(position + 1, text, nextChain(chain, text))
}

const missingTypes = (db: LogConnection): string[] => {
  const texts = db.prepare<[], string>('SELECT text FROM events').pluck().all()
  const written = new Set(texts.map((text) => parseEnvelope(text).type))
  return [...catalogue.keys()].filter((type) => !written.has(type))
}

const start = (directory: string) => startService(readConfig({ PORT: '0', DATA_DIR: directory }), pino({ level: 'silent' }))

const expectations = async (directory: string): Promise<Pick<Golden, 'rest' | 'sql' | 'prediction'>> => {
  const service = await start(directory)
  const rest: Golden['rest'] = {}
  for (const path of goldenReads) rest[path] = (await send(service.url, 'GET', path)).body
  const answers: Golden['sql'] = {}
  for (const query of goldenQueries) {
    const { type, column_names, data, error_message } = await sql(service.url, query, 'flats_shop')
    if (type !== 'table') throw new Error(`${query}: ${error_message ?? ''}`)
    answers[query] = { column_names, data }
  }
  const prediction = (await send(service.url, 'POST', '/api/projects/flats_shop/models/rent/predict', [goldenRow])).body
  await service.close()
  return { rest, sql: answers, prediction }
}

const target = process.argv[2]
if (target === undefined || existsSync(target)) throw new Error('give a directory that does not exist yet')
const work = mkdtempSync(join(tmpdir(), 'golden-'))
try {
  const service = await start(work)
  await resources(service.url)
  await replacement(service)
  await models(service.url)
  await renames(service)
  await service.close()

  const paths = dataPaths(work)
  const db = openForWriting(paths.log, () => '')
  oldChatbot(db)
  rebuildResources(db)
  const missing = missingTypes(db)
  if (missing.length > 0) throw new Error(`no event of type ${missing.join(', ')}`)
  db.exec('VACUUM')
  db.pragma('wal_checkpoint(TRUNCATE)')
  const { position, chain } = readTail(db)
  const head = { logId: readLogId(db), position, chain: chain.toString('hex') }
  db.close()

  const made = dataPaths(target)
  mkdirSync(made.root)
  for (const name of ['format', 'log', 'vaultKey'] as const) copyFileSync(paths[name], made[name])
  cpSync(paths.blobs, made.blobs, { recursive: true })
  const golden: Golden = { release: readVersion(), head, ...(await expectations(work)) }
  writeFileSync(`${target}.json`, `${JSON.stringify(golden, null, 1)}\n`)
} finally {
  rmSync(work, { recursive: true, force: true })
}
