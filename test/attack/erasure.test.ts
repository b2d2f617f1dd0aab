import { afterAll, describe, expect, test } from '@jest/globals'
import Database from 'better-sqlite3'
import { randomBytes, randomInt } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { countOf } from '../support/counts.js'
import { settled, uploadRentals } from '../support/models/rentals.js'
import { send, spawnService, sql, temporaryDirectory } from '../support/service.js'
import { filesUnder, tracesInFiles } from '../support/observe/traces.js'

const planted = countOf('PLANTED')
const kills = countOf('KILLS')

type Running = Awaited<ReturnType<typeof spawnService>>
let running: Running | undefined
const place = temporaryDirectory()
const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
  running?.child.kill(signal)
  await running?.ended
  running = undefined
}
afterAll(async () => {
  await stop()
  place.remove()
})

const unique = (kind: string) => `${kind}${randomBytes(12).toString('hex')}`
const many = (kind: string, count = planted) => Array.from({ length: count }, () => unique(kind))

/** The ways in which a secret comes in: over REST and in statements, in statements that fail, and in URLs. */
const ways: ((url: string, secret: string, n: number) => Promise<unknown>)[] = [
  (url, secret, n) =>
    send(url, 'POST', '/api/projects/mindsdb/agents', {
      agent: { name: `agent_${n}`, model: 'gpt-4o', params: { openai_api_key: secret, deep: { token: secret } } },
    }),
  (url, secret, n) => sql(url, `CREATE SKILL skill_${n} USING type = 'sql', password = '${secret}'`),
  (url, secret, n) => sql(url, `CREATE DATABASE db_${n} WITH ENGINE = 'slack', PARAMETERS = {"token": "${secret}"}`),
  (url, secret, n) =>
    send(url, 'POST', '/api/databases', {
      database: { name: `db_${n}`, engine: 'postgres', parameters: { url: `postgres://u:${secret}@host/db` } },
    }),
  (url, secret, n) => sql(url, `CREATE JOB job_${n} (CREATE SKILL made_${n} USING type = 'sql', api_key = '${secret}') START '2099-01-01'`),
  (url, secret, n) => sql(url, `CREATE ML_ENGINE engine_${n} FROM lightwood USING api_key = '${secret}'`),
  // What is refused leaves no trace either: an unknown project, a statement cut short, a name that is taken.
  (url, secret) => sql(url, `CREATE AGENT nowhere.a USING model = 'm', openai_api_key = '${secret}'`),
  (url, secret) => sql(url, `CREATE DATABASE broken WITH ENGINE = 'slack', PARAMETERS = {"token": "${secret}"`),
  (url, secret) => sql(url, `SELECT * FROM nothing WHERE api_key = '${secret}'`),
  (url, secret) =>
    send(url, 'POST', '/api/projects/mindsdb/skills', {
      skill: { name: 'rents', type: 'sql', params: { token: secret, bad: 'a\u0000b' } },
    }),
  (url, secret, n) =>
    send(
      url,
      'POST',
      '/api/projects/mindsdb/skills',
      { skill: { name: `keyed_${n}`, type: 'sql', params: { token: secret } } },
      { 'idempotency-key': `k${n}` },
    ),
]

const plantSecrets = async (url: string, secrets: readonly string[]) => {
  for (const [n, secret] of secrets.entries()) await ways[n % ways.length]?.(url, secret, n)
}

const plantPredictions = async (url: string, texts: readonly string[]) => {
  const predict = (text: string, headers: Record<string, string> = {}) =>
    send(url, 'POST', '/api/projects/mindsdb/models/rent/predict', [{ sqft: 700, location: text }], headers)
  const ways: ((text: string) => Promise<unknown>)[] = [
    predict,
    (text) => sql(url, `SELECT * FROM mindsdb.rent WHERE location = '${text}' AND sqft = 700`),
    // Answers that are kept for a key are copies, too.
    (text) => predict(text, { 'idempotency-key': randomBytes(8).toString('hex') }),
    (text) =>
      send(
        url,
        'POST',
        '/api/sql/query',
        { query: `SELECT * FROM mindsdb.rent WHERE location = '${text}' AND sqft = 700` },
        { 'idempotency-key': randomBytes(8).toString('hex') },
      ),
  ]
  for (let from = 0; from < texts.length; from += 10)
    await Promise.all(texts.slice(from, from + 10).map((text, i) => (ways[i % ways.length] ?? predict)(text)))
}

const filesOf = (count: number) => Math.max(1, Math.ceil(count / 50))
const plantFiles = async (url: string, texts: readonly string[]) => {
  for (let n = 0; n < filesOf(texts.length); n++) {
    const rows = texts.slice(n * 50, (n + 1) * 50)
    await send(url, 'PUT', `/api/files/people_${n}`, `id,name\n${rows.map((text, i) => `${i},${text}`).join('\n')}\n`, {
      'content-type': 'text/csv',
    })
    await sql(url, `INSERT INTO files.people_${n} VALUES (999, '${rows[0] ?? ''}')`)
    await sql(url, `CREATE TABLE files.copy_${n} (SELECT * FROM files.people_${n} ORDER BY name)`)
    await sql(url, `SELECT name, count(*) FROM files.people_${n} GROUP BY name ORDER BY name`)
  }
}

/** The beginnings of all wrapped keys: with the master key they would open what is left of a ciphertext. */
const wrappedKeys = (directory: string): Buffer[] => {
  const db = new Database(join(directory, 'log.sqlite'), { readonly: true })
  const rows = db.prepare<[], { wrapped: Buffer }>('SELECT wrapped FROM payloads WHERE wrapped IS NOT NULL').all()
  db.close()
  return rows.map(({ wrapped }) => wrapped.subarray(0, 12))
}

const found = async (directory: string, needles: readonly (string | Buffer)[]): Promise<string[]> => {
  const traces = tracesInFiles(
    filesUnder(directory),
    needles.map((needle) => Buffer.from(needle)),
  ).map(({ file, needles: which }) => `${file.slice(directory.length + 1)}: ${which.length}, such as ${String(needles[which[0] ?? 0])}`)
  // So long a search outlives idle connections: their end has to be heard of before the next request.
  await sleep(200)
  return traces
}

type Listed = { name: string; project: string | null; kind: string }[]

/** Every erasure that there is something for: all that has secrets, all rows, all files. */
const eraseAll = async (url: string): Promise<void> => {
  const post = async (body: object) => {
    const { status, body: answer } = await send(url, 'POST', '/api/log/erasures', body)
    if (status !== 200 && status !== 404) throw new Error(JSON.stringify(answer))
  }
  const { column_names: names, data } = await sql(url, 'SELECT kind, project, name FROM log.resources')
  const resources = data.map((row) => Object.fromEntries(names.map((name, i) => [name, row[i]]))) as Listed
  await post({ before: new Date(Date.now() + 3_600_000).toISOString() })
  for (const { kind, project, name } of resources) {
    if (kind === 'file' && name !== 'rentals') await post({ file: { name }, shared: true })
    if (['agent', 'skill', 'database', 'job', 'engine'].includes(kind))
      await post({ secrets: { kind, name, ...(project !== null && { project }) } })
  }
}

const begin = async (directory: string): Promise<string> => {
  running = await spawnService(directory, { LOG_LEVEL: 'trace' })
  return running.url
}

const trained = async (url: string): Promise<void> => {
  await uploadRentals(url)
  await sql(url, 'CREATE MODEL mindsdb.rent FROM files (SELECT * FROM rentals WHERE sqft < 500) PREDICT rental_price')
  expect(await settled(url, 'rent')).toBe('complete')
}

const keyed = (url: string) =>
  send(url, 'POST', '/api/sql/query', { query: 'SELECT * FROM mindsdb.rent WHERE sqft = 700' }, { 'idempotency-key': 'kept' })

describe('planted bytes', () => {
  const directory = join(place.path, 'planted')
  const secrets = many('sk')
  const rows = many('row')
  const inFiles = many('person')
  test('secrets are in no file and no line of the log in plain, however they came', async () => {
    const url = await begin(directory)
    await trained(url)
    await plantSecrets(url, secrets)
    await plantPredictions(url, rows)
    await plantFiles(url, inFiles)
    await sql(url, 'SELECT count(*) FROM log.events')
    await sql(url, 'SELECT max(input) FROM log.predictions')
    expect((await keyed(url)).status).toBe(200)
    expect(await found(directory, secrets)).toEqual([])
    const printed = Buffer.from(running?.lines.join('\n') ?? '')
    expect(secrets.filter((secret) => printed.includes(secret))).toEqual([])
    // What is not secret is there to be found, so that finding nothing afterwards says something.
    expect(await found(directory, rows)).not.toEqual([])
    expect(await found(directory, inFiles)).not.toEqual([])
  })

  test('after the erasure no file has rows, secrets or keys, while the service runs and after it', async () => {
    const keys = wrappedKeys(directory)
    expect(keys.length).toBeGreaterThan(planted / 2)
    await eraseAll(running?.url ?? '')
    const all = [...secrets, ...rows, ...inFiles, ...keys]
    expect(await found(directory, all)).toEqual([])
    // The answer that was kept for a key is none any more; a second prediction it is not either.
    expect(await keyed(running?.url ?? '')).toMatchObject({ status: 410, body: { title: 'Erased' } })
    expect(await sql(running?.url ?? '', 'SELECT count(*) FROM log.predictions WHERE readable')).toMatchObject({ data: [[0]] })
    await stop()
    expect(await found(directory, all)).toEqual([])
    const url = await begin(directory)
    await sql(url, 'SELECT count(*) FROM log.events')
    expect(await found(directory, all)).toEqual([])
  })
})

test('an erasure that is killed at any moment is whole after the next start, or can be sent again', async () => {
  await stop()
  const directory = join(place.path, 'killed')
  let url = await begin(directory)
  await trained(url)
  for (let round = 0; round < kills; round++) {
    const rows = many('row', 20)
    const inFiles = many('person', 50)
    const secrets = many('sk', ways.length)
    await sql(url, 'DROP TABLE IF EXISTS files.people_0, files.copy_0')
    await plantSecrets(url, secrets)
    await plantPredictions(url, rows)
    await plantFiles(url, inFiles)
    const keys = wrappedKeys(directory)
    const erasing = eraseAll(url).catch(() => undefined)
    await sleep(randomInt(1_500))
    await stop('SIGKILL')
    await erasing
    url = await begin(directory)
    // It comes behind what the start still has to finish.
    await eraseAll(url)
    expect((await sql(url, 'SELECT count(*) FROM log.predictions WHERE readable')).data).toEqual([[0]])
    expect(await found(directory, [...secrets, ...rows, ...inFiles, ...keys])).toEqual([])
  }
})
