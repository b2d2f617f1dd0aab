import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createHash } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import type { ErasureResult } from '../../../src/erasure/plan/plan.js'
import { Blobs } from '../../../src/files/blobs.js'
import { MissingBlobs } from '../../../src/files/missing-blobs.js'
import { hashFile } from '../../../src/basics/disk.js'
import { verifyLog } from '../../../src/log/verify/verify.js'
import { settled, uploadRentals } from '../../support/models/rentals.js'
import { send, sql, startTestService } from '../../support/service.js'
import { filesUnder, tracesInFiles } from '../../support/observe/traces.js'
import { until } from '../../support/until.js'

let at: Awaited<ReturnType<typeof startTestService>>
beforeAll(async () => {
  at = await startTestService()
  await uploadRentals(at.url)
  await sql(
    at.url,
    "CREATE MODEL mindsdb.rent FROM files (SELECT * FROM rentals WHERE sqft < 1000) PREDICT rental_price USING engine = 'linear'",
  )
  expect(await settled(at.url, 'rent')).toBe('complete')
})
afterAll(() => at.stop())

const erase = async (body: object, headers: Record<string, string> = {}) => {
  const { status, body: answer, headers: said } = await send(at.url, 'POST', '/api/log/erasures', body, headers)
  return { status, said, ...(answer as ErasureResult & { detail?: string; title?: string }) }
}
const predict = (request: string, sqft: number) =>
  send(at.url, 'POST', '/api/projects/mindsdb/models/rent/predict', [{ sqft, location: 'good' }], { 'x-request-id': request })
const rows = async (query: string): Promise<unknown[][]> => {
  const answer = await sql(at.url, query)
  expect(answer.error_message).toBeUndefined()
  return answer.data
}
const predictions = (where: string) => rows(`SELECT request, input->>'sqft', readable FROM log.predictions WHERE ${where} ORDER BY request`)
const verified = () => {
  const blobs = new Blobs(join(at.directory, 'blobs'))
  const blobHash = async (hash: string) => ((await blobs.has(hash)) ? hashFile(blobs.path(hash)) : undefined)
  return verifyLog({ logFile: join(at.directory, 'log.sqlite'), blobHash })
}

/** The next microsecond, which may be in the next millisecond. */
const microsecondAfter = (time: string): string => {
  const micros = Number(time.slice(-4, -1)) + 1
  const millis = new Date(Date.parse(`${time.slice(0, -4)}Z`) + Math.floor(micros / 1_000)).toISOString().slice(0, -1)
  return `${millis}${String(micros % 1_000).padStart(3, '0')}Z`
}

describe('rows of predictions', () => {
  test('of one request go, and its neighbours in the same payload stay readable', async () => {
    let attempt = 0
    let requests: string[] = []
    // Those share a payload that wait for the same commit, which a busy machine may let none do.
    await until(async () => {
      attempt += 1
      requests = Array.from({ length: 12 }, (_, i) => `together-${attempt}-${String(i).padStart(2, '0')}`)
      await Promise.all(requests.map((request, i) => predict(request, 500 + i)))
      const [[shared] = []] = await rows(
        `SELECT max(c) FROM (SELECT count(*) AS c FROM log.predictions WHERE request IN ('${requests.join("', '")}') GROUP BY position)`,
      )
      return Number(shared) > 1
    })
    const [third, seventh] = [`together-${attempt}-03`, `together-${attempt}-07`]
    const ofThese = `request IN ('${requests.join("', '")}')`
    expect(await predictions(`${ofThese} AND readable`)).toHaveLength(12)

    const planned = await erase({ request: third }, { prefer: 'dry-run' })
    expect(planned).toMatchObject({ status: 200, positions: [], payloads: 1, rows: 1 })
    expect(planned.said.get('preference-applied')).toBe('dry-run')
    expect(await predictions(`${ofThese} AND readable`)).toHaveLength(12)

    const first = await erase({ request: third, reason: 'Article 17' })
    expect(first).toMatchObject({ status: 200, rows: 1, already_erased: 0 })
    expect(first.positions).toHaveLength(1)
    expect(await erase({ request: seventh })).toMatchObject({ rows: 1 })
    const left = await predictions(ofThese)
    expect(left).toEqual(
      requests.map((request, i) => (request === third || request === seventh ? [request, null, false] : [request, String(500 + i), true])),
    )
    // The past does not show it either.
    expect(
      await rows(`SELECT readable FROM log.predictions AT (VERSION => ${first.positions[0]! - 1}) WHERE request = '${third}'`),
    ).toEqual([[false]])
    expect(await erase({ request: third })).toMatchObject({ positions: [], payloads: 0, already_erased: 1 })
    expect(await rows(`SELECT what, subject, reason, payloads FROM log.erasures WHERE position = ${first.positions[0]!}`)).toEqual([
      ['request', third, 'Article 17', 1],
    ])
    expect((await verified()).findings).toEqual([])
  })

  test('go once for a key, and who sends it again is told the same', async () => {
    await predict('keyed', 690)
    const headers = { 'idempotency-key': 'erase-keyed' }
    const first = await erase({ request: 'keyed' }, headers)
    expect(first).toMatchObject({ status: 200, rows: 1 })
    const again = await erase({ request: 'keyed' }, headers)
    expect({ ...again, said: 0 }).toEqual({ ...first, said: 0 })
    expect((await erase({ request: 'another' }, headers)).status).toBe(422)
    // What shows no rows is told again after other erasures, too.
    await predict('later', 691)
    expect(await erase({ request: 'later' })).toMatchObject({ rows: 1 })
    expect({ ...(await erase({ request: 'keyed' }, headers)), said: 0 }).toEqual({ ...first, said: 0 })
    expect((await erase({ request: 'keyed' }, { prefer: 'dry-run=no' })).status).toBe(400)
  })

  test('of one event go by its position', async () => {
    await predict('alone', 700)
    const [[position] = []] = await rows(`SELECT position FROM log.predictions WHERE request = 'alone'`)
    expect(await erase({ prediction: position })).toMatchObject({ payloads: 1, rows: 1 })
    expect(await predictions(`request = 'alone'`)).toEqual([['alone', null, false]])
    expect(await erase({ prediction: position })).toMatchObject({ positions: [], already_erased: 1 })
  })

  test('that are older than a time go, and so do secrets that nothing uses any more', async () => {
    await send(at.url, 'POST', '/api/databases', { database: { name: 'gone', engine: 'slack', parameters: { token: 'xoxb-old' } } })
    await send(at.url, 'DELETE', '/api/databases/gone')
    await send(at.url, 'POST', '/api/databases', { database: { name: 'kept', engine: 'slack', parameters: { token: 'xoxb-new' } } })
    await predict('older', 710)
    const time = new Date(Date.now() + 1).toISOString()
    await new Promise((resolve) => setTimeout(resolve, 5))
    await predict('younger', 720)
    const before = await erase({ before: time, dry_run: true })
    const after = await erase({ before: time })
    expect(after).toMatchObject({ payloads: before.payloads, rows: before.rows })
    expect(await predictions('readable')).toEqual([['younger', '720', true]])
    expect((await erase({ secrets: { kind: 'database', name: 'kept' } })).payloads).toBe(1)
    expect((await verified()).findings).toEqual([])
  })

  test('that were recorded in the microsecond before a time go, too', async () => {
    await predict('just-before', 730)
    const [[position] = []] = await rows(`SELECT position FROM log.predictions WHERE request = 'just-before'`)
    const { body } = await send(at.url, 'GET', `/api/events/${String(position)}`)
    const { recorded_at } = body as { recorded_at: string }
    expect(await erase({ before: recorded_at })).toMatchObject({ subject: recorded_at })
    expect(await predictions(`request = 'just-before'`)).toEqual([['just-before', '730', true]])
    await erase({ before: microsecondAfter(recorded_at) })
    expect(await predictions(`request = 'just-before'`)).toEqual([['just-before', null, false]])
  })

  test('of what was never kept are not found; a body without one subject is refused', async () => {
    expect(await erase({ request: 'never' })).toMatchObject({ status: 404 })
    expect(await erase({ prediction: 1 })).toMatchObject({ status: 404 })
    expect(await erase({})).toMatchObject({ status: 400, detail: expect.stringContaining('names none') })
    expect(await erase({ request: 'a', prediction: 1 })).toMatchObject({ status: 400 })
    expect(await erase({ prediction: 1, unknown: 1 })).toMatchObject({ status: 400 })
  })
})

describe('the kept answer of a JOIN, which left no rows but a receipt,', () => {
  const query = 'SELECT w.word, m.rental_price FROM files.words AS w JOIN mindsdb.rent AS m'
  const ask = (key: string) => send(at.url, 'POST', '/api/sql/query', { query }, { 'idempotency-key': key, 'x-request-id': key })
  beforeAll(async () => {
    await send(at.url, 'PUT', '/api/files/words', 'word,sqft\nkept,600\n', { 'content-type': 'text/csv' })
  })

  test('goes with its request, and with the event at the position of the receipt', async () => {
    for (const key of ['joined', 'joined-too']) {
      const first = await ask(key)
      expect(first).toMatchObject({ status: 200, body: { data: [['kept', expect.any(Number)]] } })
      expect((await ask(key)).body).toEqual(first.body)
    }
    const planned = { status: 200, payloads: 0, rows: 0, kept_answers: true }
    expect(await erase({ request: 'joined', dry_run: true })).toMatchObject({ ...planned, positions: [] })
    expect(await erase({ request: 'joined' })).toMatchObject({ ...planned, positions: [expect.any(Number)] })
    expect(await ask('joined')).toMatchObject({ status: 410, body: { title: 'Erased' } })
    expect(await erase({ request: 'joined' })).toMatchObject({ status: 200, positions: [], kept_answers: false, already_erased: 1 })
    expect((await ask('joined-later')).status).toBe(200)
    const [[position] = []] = await rows(`SELECT position FROM log.prediction_receipts WHERE request = 'joined-later'`)
    expect(await erase({ prediction: position })).toMatchObject({ status: 200, payloads: 0, positions: [expect.any(Number)] })
    expect((await ask('joined-later')).status).toBe(410)
    expect((await verified()).findings).toEqual([])
  })

  test('goes with all before a time, once', async () => {
    const all = { before: '2999-01-01' }
    await erase(all)
    expect((await ask('joined-before')).status).toBe(200)
    expect(await erase(all)).toMatchObject({ status: 200, payloads: 0, positions: [expect.any(Number)] })
    expect((await ask('joined-before')).status).toBe(410)
    expect(await erase(all)).toMatchObject({ status: 200, payloads: 0, positions: [] })
  })

  test('is not erased if the request had no key: nothing was kept', async () => {
    await erase({ before: '2999-01-01' })
    expect((await send(at.url, 'POST', '/api/sql/query', { query }, { 'x-request-id': 'keyless' })).status).toBe(200)
    expect(await erase({ request: 'keyless' })).toMatchObject({ status: 200, payloads: 0, positions: [], already_erased: 0 })
  })
})

describe('a file', () => {
  const upload = (name: string, text: string) => send(at.url, 'PUT', `/api/files/${name}`, text, { 'content-type': 'text/csv' })

  test('loses one content or all; queries, REST and SHOW say so, and it can begin anew', async () => {
    await upload('people', 'id,name\n1,Ada\n2,Grace\n')
    await sql(at.url, `INSERT INTO files.people VALUES (3, 'Edsger')`)
    const first = await erase({ file: { name: 'people', version: 1 }, reason: 'Article 17' })
    expect(first).toMatchObject({ status: 200, payloads: 0 })
    expect(first.blobs).toHaveLength(1)
    expect(first.also_in[0]).toContain('versions 2')
    expect(await rows('SELECT count(*) FROM files.people')).toEqual([[3]])
    // A content that is gone is no copy.
    expect(await erase({ file: { name: 'people', version: 2 }, dry_run: true })).toMatchObject({ also_in: [] })
    expect(await erase({ file: { name: 'people' } })).toMatchObject({ already_erased: 1 })
    const refused = await sql(at.url, 'SELECT * FROM files.people')
    expect(refused.error_message).toContain('The content of files.people was erased (position ')
    expect((await sql(at.url, `INSERT INTO files.people VALUES (4, 'Barbara')`)).error_message).toContain('was erased')
    expect((await send(at.url, 'GET', '/api/files/people')).body).toMatchObject({ name: 'people', erased: { reason: null } })
    const history = await rows(
      `SELECT version, erased_at IS NOT NULL FROM information_schema.files_history WHERE name = 'people' ORDER BY version`,
    )
    expect(history).toEqual([
      [1, true],
      [2, true],
    ])
    await sql(at.url, `CREATE OR REPLACE TABLE files.people (SELECT 1 AS id)`)
    expect(await rows('SELECT id FROM files.people')).toEqual([[1]])
    expect((await verified()).findings).toEqual([])
  })

  test('whose bytes are another’s, too, is erased only when that is meant', async () => {
    await sql(at.url, `CREATE TABLE files.one (SELECT 'shared' AS text)`)
    await sql(at.url, `CREATE TABLE files.two (SELECT * FROM files.one)`)
    const refused = await erase({ file: { name: 'one' } })
    expect(refused).toMatchObject({ status: 409, title: 'Shared content', detail: expect.stringContaining('file two') })
    expect((await erase({ file: { name: 'one' }, dry_run: true })).shared_with).toHaveLength(1)
    expect(await rows('SELECT text FROM files.two')).toEqual([['shared']])
    expect(await erase({ file: { name: 'one' }, shared: true })).toMatchObject({ status: 200 })
    expect((await sql(at.url, 'SELECT * FROM files.two')).error_message).toContain('was erased')
    // The same content, stored again, is there again.
    await sql(at.url, `CREATE OR REPLACE TABLE files.two (SELECT 'shared' AS text)`)
    expect(await rows('SELECT text FROM files.two')).toEqual([['shared']])
    expect((await verified()).findings).toEqual([])
  })

  test('with a number as its name leads no erasure to the file that has this number as its id', async () => {
    const created = async (name: string, text: string) => {
      await upload(name, text)
      const [[stream, id] = []] = await rows(
        `SELECT stream, position FROM log.events WHERE type = 'FileCreated' AND (data->>'name') = '${name}' ORDER BY position DESC LIMIT 1`,
      )
      return { stream: String(stream), id: String(id) }
    }
    const staff = await created('staff', 'id,name\n1,Ada\n')
    expect(await erase({ file: { name: staff.id } })).toMatchObject({ status: 404 })
    await upload(staff.id, 'id\n7\n')
    expect(await erase({ file: { name: staff.id }, dry_run: true })).toMatchObject({ status: 200, subject: `files.${staff.id}` })
    await send(at.url, 'DELETE', `/api/files/${staff.id}`)
    expect(await erase({ file: { name: staff.id } })).toMatchObject({ status: 404 })
    expect(await rows('SELECT name FROM files.staff')).toEqual([['Ada']])

    // The id of a deleted file, which is also the name of another, leads to neither; a stream leads to one.
    await send(at.url, 'DELETE', '/api/files/staff')
    const number = await created(staff.id, 'id\n8\n')
    const refused = await erase({ file: { name: staff.id } })
    expect(refused).toMatchObject({ status: 400, detail: expect.stringContaining(`${number.stream} and ${staff.stream}`) })
    expect(await erase({ file: { name: staff.stream } })).toMatchObject({ status: 200, subject: 'files.staff' })
    expect(await rows(`SELECT id FROM files."${staff.id}"`)).toEqual([[8]])
    expect((await verified()).findings).toEqual([])
  })
})

test('a training matrix goes: the model still answers, FINETUNE says why it cannot go on, RETRAIN can', async () => {
  const subject = { project: 'mindsdb', model: 'rent', version: 1 }
  const erased = await erase({ matrix: subject })
  expect(erased).toMatchObject({ status: 200, payloads: 0 })
  expect(erased.blobs).toHaveLength(1)
  expect((await predict('still', 800)).status).toBe(200)
  const tuned = await sql(at.url, 'FINETUNE mindsdb.rent FROM files (SELECT * FROM rentals WHERE sqft >= 1000)')
  expect(tuned.error_message).toContain('The training matrix of version 1 was erased')
  expect(await erase({ matrix: subject })).toMatchObject({ positions: [], already_erased: 1 })
  expect(await erase({ matrix: { ...subject, version: 9 } })).toMatchObject({ status: 404 })
})

test('secrets of a resource go, whatever it was called; it takes new ones', async () => {
  const agent = { name: 'broker', model: 'gpt-4o', params: { openai_api_key: 'sk-first', other: 1 } }
  await send(at.url, 'POST', '/api/projects/mindsdb/agents', { agent })
  await send(at.url, 'PUT', '/api/projects/mindsdb/agents/broker', { agent: { params: { openai_api_key: 'sk-second' } } })
  expect(await erase({ secrets: { kind: 'agent', project: 'mindsdb', name: 'broker' } })).toMatchObject({ payloads: 2 })
  const read = async () => (await send(at.url, 'GET', '/api/projects/mindsdb/agents/broker')).body
  expect(JSON.stringify(await read())).toContain('******')
  await send(at.url, 'PUT', '/api/projects/mindsdb/agents/broker', { agent: { params: { openai_api_key: 'sk-third' } } })
  expect(await erase({ secrets: { kind: 'agent', project: 'mindsdb', name: 'broker' } })).toMatchObject({ payloads: 1, already_erased: 2 })
  await send(at.url, 'DELETE', '/api/projects/mindsdb/agents/broker')
  expect(await erase({ secrets: { kind: 'agent', project: 'mindsdb', name: 'broker' } })).toMatchObject({ status: 404 })
})

test('a secret that a rollback gives back while old ones are erased stays, and the one that it replaced goes', async () => {
  const database = (token: string) => ({ database: { name: 'turning', engine: 'slack', parameters: { token } } })
  await send(at.url, 'POST', '/api/databases', database('xoxb-first'))
  await send(at.url, 'PUT', '/api/databases/turning', database('xoxb-second'))
  const { log } = at.service
  const submit = log.submit.bind(log)
  log.submit = async (submission) => {
    log.submit = submit
    expect((await send(at.url, 'POST', '/api/databases/turning/rollback', { version: 1 })).status).toBe(200)
    return submit(submission)
  }
  expect(await erase({ before: '2999-01-01' })).toMatchObject({ status: 200, positions: [expect.any(Number)] })
  const all = await log.readAll(0, 10_000)
  const tokens = all.flatMap(({ text }) => {
    const { type, data } = JSON.parse(text) as { type: string; data: { name?: string; parameters?: { token?: { $secret: string } } } }
    return type === 'DatabaseCreated' && data.name !== 'turning' ? [] : (data.parameters?.token?.$secret ?? [])
  })
  const [first = '', second = ''] = tokens.slice(-3)
  expect(tokens.at(-1)).toBe(first)
  expect(String(await log.payload(first))).toContain('xoxb-first')
  expect(await log.payload(second)).toBeUndefined()
  expect((await verified()).findings).toEqual([])
})

describe('recording', () => {
  const recorded = async () => Number((await rows(`SELECT count(*) FROM log.prediction_receipts WHERE model = 'rent'`))[0]?.[0])
  const ask = () => sql(at.url, 'SELECT rental_price FROM mindsdb.rent WHERE sqft = 700')

  test('that is switched off leaves no payload and no event, over REST and SQL; its history shows the switch', async () => {
    const off = await send(at.url, 'PUT', '/api/projects/mindsdb/models/rent', { model: { recording: 'off' } })
    expect(off).toMatchObject({ status: 200, body: { name: 'rent', recording: 'off' } })
    const before = await at.service.head()
    expect((await predict('unseen', 700)).status).toBe(200)
    const keyed = { 'idempotency-key': 'off' }
    const row = { sqft: 700, location: 'kept-by-nobody' }
    for (let twice = 0; twice < 2; twice++)
      expect(await send(at.url, 'POST', '/api/projects/mindsdb/models/rent/predict', [row], keyed)).toMatchObject({
        status: 200,
        body: [row],
      })
    expect(tracesInFiles(filesUnder(at.directory), [Buffer.from(row.location)])).toEqual([])
    expect((await ask()).error_message).toBeUndefined()
    expect(await at.service.head()).toEqual(before)
    const count = await recorded()
    expect((await sql(at.url, `ALTER MODEL mindsdb.rent SET recording = 'all'`)).error_message).toBeUndefined()
    await predict('seen', 700)
    expect((await ask()).error_message).toBeUndefined()
    expect(await recorded()).toBe(count + 2)
    expect(await rows(`SELECT recording FROM model_activations_history WHERE name = 'rent' AND change = 'ModelRecordingChanged'`)).toEqual([
      ['off'],
      ['all'],
    ])
  })

  test('is shown by a dry run as it would be', async () => {
    const path = '/api/projects/mindsdb/models/rent'
    const planned = await send(at.url, 'PUT', path, { model: { recording: 'off' } }, { prefer: 'dry-run' })
    expect(planned).toMatchObject({ status: 200, body: { resource: { name: 'rent', recording: 'off' } } })
    expect((await send(at.url, 'GET', path)).body).toMatchObject({ recording: 'all' })
  })

  test('that was off stays off for a deleted model, which a query can still read as of the past', async () => {
    await sql(
      at.url,
      `CREATE MODEL mindsdb.hushed FROM files (SELECT * FROM rentals WHERE sqft < 1000) PREDICT rental_price USING engine = 'linear', recording = 'off'`,
    )
    expect(await settled(at.url, 'hushed')).toBe('complete')
    const { position } = await at.service.head()
    expect((await sql(at.url, 'DROP MODEL mindsdb.hushed')).error_message).toBeUndefined()
    const before = await at.service.head()
    expect(await rows(`SELECT rental_price FROM mindsdb.hushed AT (VERSION => ${position}) WHERE sqft = 700`)).toHaveLength(1)
    expect(await at.service.head()).toEqual(before)
  })

  test('can be off from the start; what is neither all nor off is refused', async () => {
    await sql(
      at.url,
      `CREATE MODEL mindsdb.quiet FROM files (SELECT * FROM rentals) PREDICT rental_price USING engine = 'constant', recording = 'off'`,
    )
    expect((await send(at.url, 'GET', '/api/projects/mindsdb/models/quiet')).body).toMatchObject({ recording: 'off' })
    for (const statement of [
      `ALTER MODEL quiet SET recording = 'some'`,
      `ALTER MODEL quiet SET recording = 'off', depth = 2`,
      `RETRAIN quiet USING recording = 'off'`,
    ])
      expect((await sql(at.url, statement)).error_message).toContain('recording')
  })
})

test('a content that is erased is gone from the disk', async () => {
  await sql(at.url, `CREATE TABLE files.last (SELECT 'planted-in-a-file' AS text)`)
  const { body } = await send(at.url, 'GET', '/api/files/last')
  const { content } = body as { content: string }
  const path = join(at.directory, 'blobs', content)
  expect(createHash('sha256').update(readFileSync(path)).digest('hex')).toBe(content)
  await erase({ file: { name: 'last', content } })
  expect(() => readFileSync(path)).toThrow('ENOENT')
})

test('a content that was stored again after its erasure, and is lost, is missing and not erased', async () => {
  const upload = () => send(at.url, 'PUT', '/api/files/again', 'id,name\n1,planted again\n', { 'content-type': 'text/csv' })
  await upload()
  const { content } = (await send(at.url, 'GET', '/api/files/again')).body as { content: string }
  await erase({ file: { name: 'again' } })
  expect((await sql(at.url, 'SELECT * FROM files.again')).error_message).toContain('was erased')
  await upload()
  expect(await rows('SELECT id FROM files.again')).toEqual([[1]])
  rmSync(join(at.directory, 'blobs', content))
  expect((await sql(at.url, 'SELECT * FROM files.again')).error_message).toContain('is missing where contents are kept')
  expect((await sql(at.url, `INSERT INTO files.again VALUES (2, 'x')`)).error_message).not.toContain('was erased')
  expect((await send(at.url, 'GET', '/api/files/again')).body).not.toHaveProperty('erased')
  const blobs = new Blobs(join(at.directory, 'blobs'))
  const missing = new MissingBlobs({ log: at.service.log, blobs, logger: pino({ level: 'silent' }) })
  missing.start()
  await missing.stop()
  expect(missing.warning()).toContain('1 contents of files or models are missing')
})
