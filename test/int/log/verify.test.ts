import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import Database from 'better-sqlite3'
import { closeSync, copyFileSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { genesis, nextChain, sha256Hex } from '../../../events/stored/chain.js'
import { parseEnvelope } from '../../../events/stored/envelope.js'
import { logStream } from '../../../events/records/log.js'
import { predictionsStream } from '../../../events/records/predictions.js'
import { payloadsOf } from '../../../events/catalogue/references.js'
import { Ledger } from '../../../src/commands/ledger.js'
import { PredictionRecorder } from '../../../src/models/serving/prediction-recorder.js'
import { readLogId } from '../../../src/log/storage/schema.js'
import { SqliteLog } from '../../../src/log/sqlite/sqlite-log.js'
import { verifyLog, type VerifyOptions } from '../../../src/log/verify/verify.js'
import { ConfigError } from '../../../src/setup/config.js'
import { Vault } from '../../../src/vault/vault.js'
import { origin, projectCreated, stream, tamperWith, temporaryDirectory, testKey, writes } from '../../support/log/log.js'

const { path: directory, remove } = temporaryDirectory()
const honest = join(directory, 'honest.sqlite')
const blobs = new Map(
  [Buffer.from('table'), Buffer.from('artefact'), Buffer.from('matrix')].map((bytes) => [sha256Hex(bytes), bytes] as const),
)
const [table = '', artefact = '', matrix = ''] = [...blobs.keys()]
const blobHash = async (hash: string): Promise<string | undefined> => {
  const bytes = blobs.get(hash)
  return bytes && sha256Hex(bytes)
}
let copies = 0
let events: { position: number; text: string }[] = []

/** A log with everything in it that a log can have. */
beforeAll(async () => {
  const vault = new Vault(testKey)
  const log = new SqliteLog({ file: honest, vault })
  const ledger = new Ledger(log, vault)
  const run = (command: Parameters<typeof ledger.execute>[0]) => ledger.execute(command, origin)
  await run({ type: 'CreateProject', data: { project: 'shop' } })
  await run({ type: 'CreateSkill', data: { project: 'shop', skill: 'sales', type: 'sql', params: { api_key: 'sk-1' } } })
  await run({
    type: 'CreateAgent',
    data: { project: 'shop', agent: 'helper', model_name: null, provider: null, skills: [{ name: 'sales', params: {} }], params: {} },
  })
  await run({ type: 'CreateView', data: { project: 'shop', view: 'v', query: 'SELECT 1', database: 'files' } })
  await run({ type: 'DeleteView', data: { project: 'shop', view: 'v' } })
  const content = { content: table, bytes: 5, row_count: 1, columns: [], original_name: null }
  await run({ type: 'CreateFile', data: { file: 'table', content } })
  const request = { engine: 'lightwood', target: 'y', database: 'files', query: 'SELECT 1', using: {}, seed: 1, activate: true, tag: null }
  const model = await run({ type: 'CreateModel', data: { project: 'shop', model: 'm', request } })
  const where = { stream: model.stream as never, version: 1 }
  await run({ type: 'StartTraining', data: where })
  const result = { version: 1, artefact, matrix, read_at: 6, rows: 1, accuracy: 1, report: {}, runtime: {}, seconds: 1 }
  await run({ type: 'CompleteTraining', data: { ...where, result } })
  await new PredictionRecorder(ledger, log).served({
    model: where.stream,
    version: 1,
    origin,
    rows: [{ input: { a: 1 }, output: { value: 2 } }],
    readAt: 9,
  })
  events = await log.readAll(0, 100)
  await log.close()
})
afterAll(remove)

const trainedAt = () => events.find(({ text }) => text.includes('"type":"ModelTrained"'))?.position ?? 0

/** The findings in a copy of the honest log after a change. */
const findingsAfter = async (change: (db: Database.Database) => void, more: Partial<VerifyOptions> = {}) => {
  const logFile = join(directory, `${++copies}.sqlite`)
  copyFileSync(honest, logFile)
  tamperWith(logFile, change)
  return (await verifyLog({ logFile, blobHash, ...more })).findings
}
const at = (position: number | null, what: string | RegExp) => ({ position, what: expect.stringMatching(what) as unknown })

describe('an honest log', () => {
  test('verifies, with all it holds', async () => {
    const verification = await verifyLog({ logFile: honest, blobHash })
    expect(verification).toMatchObject({ ok: true, findings: [], provenTo: null, payloads: { readable: 2, erased: 0 } })
    expect(verification.head.position).toBe(events.length)
    expect(events.some(({ text }) => text.includes(predictionsStream(stream(0)).slice(36)))).toBe(true)
  })

  test('is proven up to a head that was kept, at every position', async () => {
    let chain = genesis((await verifyLog({ logFile: honest })).head.logId)
    const { logId } = (await verifyLog({ logFile: honest })).head
    for (const { position, text } of [{ position: 0, text: '' }, ...events]) {
      if (position > 0) chain = nextChain(chain, text)
      const kept = { logId, position, chain: chain.toString('hex') }
      expect(await verifyLog({ logFile: honest, kept })).toMatchObject({ ok: true, provenTo: position })
    }
  })

  test('whose secret and content were erased by an event verifies; without the event, or with the key put back, it does not', async () => {
    const file = join(directory, 'erased.sqlite')
    copyFileSync(honest, file)
    const log = new SqliteLog({ file, vault: new Vault(testKey) })
    const [hash = ''] = payloadsOf('SkillCreated', parseEnvelope(events[1]?.text ?? '').data)
    const subject = { what: 'secrets' as const, subject: 'skill shop.sales', reason: null }
    const data = { ...subject, payloads: [{ hash, replacement: null }], blobs: [table] }
    await log.submit(writes({ stream: logStream, event: { type: 'DataErased', data } }))
    await log.close()
    const withoutTable = async (sha: string) => (sha === table ? undefined : blobHash(sha))
    expect(await verifyLog({ logFile: file, blobHash: withoutTable })).toMatchObject({ findings: [], payloads: { readable: 1, erased: 1 } })
    tamperWith(file, (db) => void db.prepare(`UPDATE payloads SET wrapped = x'00' WHERE hash = ?`).run(hash))
    expect((await verifyLog({ logFile: file, blobHash: withoutTable })).findings).toEqual([
      at(2, 'was erased at position .*, but its key is there'),
    ])
    expect(await findingsAfter((db) => void db.prepare('UPDATE payloads SET wrapped = NULL WHERE hash = ?').run(hash))).toEqual([
      at(2, 'no key, and no event says that it was erased'),
    ])
  })

  test('verifies beside a server that goes on writing', async () => {
    const file = join(directory, 'busy.sqlite')
    copyFileSync(honest, file)
    const log = new SqliteLog({ file, vault: new Vault(testKey) })
    const ledger = new Ledger(log, new Vault(testKey))
    const writing = Promise.all(
      Array.from({ length: 200 }, (_, i) => ledger.execute({ type: 'CreateProject', data: { project: `p${i}` } }, origin)),
    )
    expect((await verifyLog({ logFile: file })).findings).toEqual([])
    await writing
    expect((await verifyLog({ logFile: file })).findings).toEqual([])
    await log.close()
  })

  test.each([
    ['an unknown type', (text: string) => text.replace('ProjectCreated', 'PlanetCreated'), 'a newer release wrote'],
    ['unknown fields', (text: string) => text.replace(/"source":"\w+"/, '"source":"telepathy"'), 'a newer release wrote'],
    ['other rules', (text: string) => text.replace('"p2"', '"p1"'), 'a newer release, with other rules, wrote'],
  ])('of a newer release with %s is not opened, and the refusal names the event and what to do', async (_, change, says) => {
    const file = join(directory, `newer-${copies++}.sqlite`)
    const vault = new Vault(testKey)
    const log = new SqliteLog({ file, vault })
    const ledger = new Ledger(log, vault)
    for (const project of ['p1', 'p2']) await ledger.execute({ type: 'CreateProject', data: { project } }, origin)
    await log.close()
    tamperWith(file, (db) => {
      const text = db.prepare<[], string>('SELECT text FROM events WHERE position = 2').pluck().get() ?? ''
      db.prepare('UPDATE events SET text = ? WHERE position = 2').run(change(text))
      rechain(db)
      db.exec(`UPDATE meta SET value = 'a newer release' WHERE key = 'resources_built_by'`)
    })
    const open = () => new SqliteLog({ file, vault })
    expect(open).toThrow(ConfigError)
    expect(open).toThrow(`${says} the event at position 2, of the type `)
    expect(open).toThrow(/Created: start that release$/)
  })

  const bot = { project: stream(1), name: 'Bot', agent: null, model_name: null, database: stream(2), params: {} }
  const vault = new Vault(testKey)

  /** A log in which an older release made a chatbot, without one of its members. */
  const olderLog = async (member: string): Promise<string> => {
    const file = join(directory, `old-${copies++}.sqlite`)
    const log = new SqliteLog({ file, vault })
    await log.submit({
      origin,
      lookups: {},
      payloads: [],
      decide: () => [{ stream: stream(3), event: { type: 'ChatbotCreated', data: { ...bot, is_running: true } } }],
    })
    await log.close()
    tamperWith(file, (db) => {
      db.exec(`UPDATE events SET text = json_set(json_remove(text, '$.data.${member}'), '$.schema', 1)`)
      rechain(db)
      db.exec(`UPDATE meta SET value = 'an older release' WHERE key = 'resources_built_by'`)
    })
    return file
  }

  test('of an older release verifies and folds in today’s shape', async () => {
    const file = await olderLog('is_running')
    const again = new SqliteLog({ file, vault })
    expect((await again.resources.byStream('chatbot', stream(3)))?.state).toEqual({ ...bot, is_running: false })
    await again.close()
    expect((await verifyLog({ logFile: file })).findings).toEqual([])
  })

  test('of an older release that this one cannot bring to today’s shape is not opened, by its own fault', async () => {
    const file = await olderLog('database')
    const open = () => new SqliteLog({ file, vault })
    const says = 'a fault of this release: it cannot apply the event at position 1, of the type ChatbotCreated'
    expect(open).toThrow(`${says}: start a release without this fault`)
    expect(open).not.toThrow(ConfigError)
    expect(open).toThrow(expect.objectContaining({ cause: expect.objectContaining({ name: 'ZodError' }) as unknown }))
  })
})

/** What somebody with time does: gives every text the chain that fits. */
const rechain = (db: Database.Database) => {
  let chain = genesis(readLogId(db))
  const rows = db.prepare<[], { position: number; text: string }>('SELECT position, text FROM events ORDER BY position').all()
  for (const { position, text } of rows) {
    chain = nextChain(chain, text)
    db.prepare('UPDATE events SET chain = ? WHERE position = ?').run(chain, position)
  }
}

describe('every single byte', () => {
  test('of every text and chain, changed by SQL, is found at its position', async () => {
    const logFile = join(directory, 'flip.sqlite')
    copyFileSync(honest, logFile)
    const db = new Database(logFile)
    // Of generated columns SQLite says itself that a text is no JSON; without them the walk alone has to find it.
    db.exec('CREATE TABLE plain AS SELECT position, text, chain FROM events; DROP TABLE events; ALTER TABLE plain RENAME TO events')
    const write = {
      text: db.prepare<[Buffer, number]>('UPDATE events SET text = CAST(? AS TEXT) WHERE position = ?'),
      chain: db.prepare<[Buffer, number]>('UPDATE events SET chain = ? WHERE position = ?'),
    }
    const read = db.prepare<[number], { text: Buffer; chain: Buffer }>(
      'SELECT CAST(text AS BLOB) AS text, chain FROM events WHERE position = ?',
    )
    const missed: string[] = []
    for (const position of [1, 5, events.length])
      for (const part of ['text', 'chain'] as const) {
        const bytes = read.get(position)![part]
        for (let i = 0; i < bytes.length; i++) {
          const changed = Buffer.from(bytes)
          changed[i] = changed[i]! ^ (1 << (i % 8))
          write[part].run(changed, position)
          const { findings } = await verifyLog({ logFile })
          if (!findings.some((finding) => finding.position === position)) missed.push(`${position} ${part} ${i}`)
        }
        write[part].run(bytes, position)
      }
    expect(missed).toEqual([])
    expect((await verifyLog({ logFile })).findings).toEqual([])
    db.close()
  })

  test('of every text, changed in the file itself, is found at its position', async () => {
    const logFile = join(directory, 'raw.sqlite')
    copyFileSync(honest, logFile)
    const bytes = readFileSync(logFile)
    const handle = openSync(logFile, 'r+')
    const missed: string[] = []
    for (const { position, text } of events.slice(0, 4)) {
      // Pages that were split leave dead copies behind; the live one is among them all.
      const copies: number[] = []
      for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) copies.push(at)
      expect(copies.length).toBeGreaterThan(0)
      for (let i = 0; i < Buffer.byteLength(text); i++) {
        for (const start of copies) writeSync(handle, Buffer.of(bytes[start + i]! ^ (1 << (i % 8))), 0, 1, start + i)
        const { findings } = await verifyLog({ logFile })
        if (!findings.some((finding) => finding.position === position)) missed.push(`${position} at ${i}`)
        for (const start of copies) writeSync(handle, bytes, start + i, 1, start + i)
      }
    }
    closeSync(handle)
    expect(missed).toEqual([])
  })

  test('anywhere in the file either is found or leaves every event as it was', async () => {
    const logFile = join(directory, 'any.sqlite')
    copyFileSync(honest, logFile)
    const bytes = readFileSync(logFile)
    const handle = openSync(logFile, 'r+')
    const missed: number[] = []
    for (let i = 17; i < bytes.length; i += 89) {
      writeSync(handle, Buffer.of(bytes[i]! ^ (1 << (i % 8))), 0, 1, i)
      const found = await verifyLog({ logFile }).then(
        ({ ok }) => !ok,
        () => true,
      )
      if (!found && !sameEvents(logFile)) missed.push(i)
      writeSync(handle, bytes, i, 1, i)
    }
    closeSync(handle)
    expect(missed).toEqual([])
  })
})

const sameEvents = (file: string): boolean => {
  const db = new Database(file, { readonly: true })
  try {
    const read = db.prepare<[], { position: number; text: string }>('SELECT position, text FROM events ORDER BY position').all()
    return JSON.stringify(read) === JSON.stringify(events)
  } finally {
    db.close()
  }
}

describe('what somebody did to the log', () => {
  test('two texts swapped', async () => {
    const findings = await findingsAfter((db) => {
      const [a, b] = [events[1]!.text, events[3]!.text]
      db.exec('DROP INDEX events_by_stream')
      db.prepare('UPDATE events SET text = ? WHERE position = 2').run(b)
      db.prepare('UPDATE events SET text = ? WHERE position = 4').run(a)
    })
    expect(findings).toEqual(expect.arrayContaining([at(2, 'not the one that was chained'), at(4, 'not the one that was chained')]))
  })

  test('two events swapped with their chains', async () => {
    const findings = await findingsAfter((db) => {
      db.exec(
        'UPDATE events SET position = 100 WHERE position = 2; UPDATE events SET position = 2 WHERE position = 4; UPDATE events SET position = 4 WHERE position = 100',
      )
    })
    expect(findings).toEqual(expect.arrayContaining([at(2, 'its text says position 4'), at(4, 'its text says position 2')]))
  })

  test('an event removed', async () =>
    expect(await findingsAfter((db) => void db.exec('DELETE FROM events WHERE position = 3'))).toEqual(
      expect.arrayContaining([at(3, 'missing: the next event in the file has position 4')]),
    ))

  test('an event removed and the rest moved up', async () => {
    const findings = await findingsAfter((db) => {
      db.exec('DELETE FROM events WHERE position = 3')
      for (let p = 4; p <= events.length; p++) db.exec(`UPDATE events SET position = ${p - 1} WHERE position = ${p}`)
    })
    expect(findings[0]?.position).toBe(3)
  })

  test('an event removed, the rest moved up and chained anew: their texts still say where they stood', async () => {
    const findings = await findingsAfter((db) => {
      db.exec('DELETE FROM events WHERE position = 3')
      for (let p = 4; p <= events.length; p++) db.exec(`UPDATE events SET position = ${p - 1} WHERE position = ${p}`)
      rechain(db)
    })
    expect(findings[0]).toEqual(at(3, 'its text says position 4'))
  })

  test('an event inserted', async () => {
    const findings = await findingsAfter((db) => {
      for (let p = events.length; p >= 4; p--) db.exec(`UPDATE events SET position = ${p + 1} WHERE position = ${p}`)
      db.exec(`INSERT INTO events (position, text, chain) SELECT 4, json_set(text, '$.version', 99), chain FROM events WHERE position = 3`)
    })
    expect(findings[0]?.position).toBe(4)
  })

  test('an event put before the first', async () =>
    expect(
      await findingsAfter(
        (db) =>
          void db.exec(
            `INSERT INTO events (position, text, chain) SELECT -5, json_set(text, '$.version', 99), chain FROM events WHERE position = 1`,
          ),
      ),
    ).toEqual([at(-5, 'begins at position 1')]))

  test('a text edited and the whole log chained anew: found with a head that was kept, and in resources', async () => {
    const kept = (await verifyLog({ logFile: honest })).head
    const edit = (db: Database.Database) => {
      db.exec(`UPDATE events SET text = replace(text, '"name":"sales"', '"name":"sold"') WHERE position = 2`)
      rechain(db)
    }
    expect(await findingsAfter(edit)).toEqual([at(2, 'differs from what its events say')])
    expect(await findingsAfter(edit, { kept })).toEqual(expect.arrayContaining([at(kept.position, 'history before it was changed')]))
  })

  test('the tail cut off, resources adjusted: found with a head that was kept', async () => {
    const kept = (await verifyLog({ logFile: honest })).head
    const cut = (db: Database.Database) => void db.exec(`DELETE FROM events WHERE position = ${events.length}`)
    expect(await findingsAfter(cut)).toEqual([])
    expect(await findingsAfter(cut, { kept })).toEqual([at(events.length, `the log ends at ${events.length - 1}`)])
  })

  test('another log in its place', async () => {
    const kept = (await verifyLog({ logFile: honest })).head
    const other = { ...kept, logId: 'another' }
    expect(await findingsAfter(() => undefined, { kept: other })).toEqual(expect.arrayContaining([at(null, 'belongs to another log')]))
    expect(await findingsAfter((db) => void db.exec(`UPDATE meta SET value = 'x' WHERE key = 'log_id'`))).toEqual([at(1, 'not the one')])
  })

  test.each([
    ['state', `UPDATE resources SET state = json_set(state, '$.params', json('{}')) WHERE kind = 'skill'`, 2],
    ['name', `UPDATE resources SET name = 'x' WHERE kind = 'skill'`, 2],
    ['version', `UPDATE resources SET version = 9 WHERE kind = 'agent'`, 3],
    ['time', `UPDATE resources SET updated_at = created_at || ' ' WHERE kind = 'model'`, 7],
    ['absence', `DELETE FROM resources WHERE kind = 'file'`, 6],
    [
      'presence',
      `INSERT INTO resources SELECT 'new', kind, project, 'new', 99, version, created_at, updated_at, state FROM resources WHERE kind = 'file'`,
      null,
    ],
    ['links', `DELETE FROM links`, null],
  ])('a row of resources edited: %s', async (_, statement, position) => {
    const findings = await findingsAfter((db) => void db.exec(statement))
    expect(findings).toEqual([at(position, /resources|links/)])
  })

  test('a payload removed, or its body changed', async () => {
    const gone = await findingsAfter((db) => void db.exec('DELETE FROM payloads'))
    expect(gone).toEqual([at(2, 'payload is missing'), at(events.length, 'payload is missing')])
    const changed = await findingsAfter((db) => void db.exec(`UPDATE payloads SET body = CAST(body || x'00' AS BLOB)`))
    expect(changed).toEqual([at(2, 'payload is not the one'), at(events.length, 'payload is not the one')])
  })

  test('a payload without its key, which no event says to be erased', async () => {
    const findings = await findingsAfter((db) => void db.exec('UPDATE payloads SET wrapped = NULL'))
    expect(findings).toEqual([at(2, 'no key, and no event says'), at(events.length, 'no key, and no event says')])
  })

  test('a blob removed, or its bytes changed', async () => {
    const without = (lost: string, found: string | undefined) => ({ blobHash: async (hash: string) => (hash === lost ? found : hash) })
    expect(await findingsAfter(() => undefined, without(table, undefined))).toEqual([at(6, `blob ${table} is missing`)])
    expect(await findingsAfter(() => undefined, without(matrix, 'ff'))).toEqual([at(trainedAt(), `blob ${matrix} has other content`)])
    expect(await findingsAfter(() => undefined, without(artefact, undefined))).toHaveLength(1)
  })

  test('an event of a type, or a schema version, that nobody knows', async () => {
    expect(
      await findingsAfter((db) => {
        db.exec(`UPDATE events SET text = json_set(text, '$.type', 'Unheard') WHERE position = 2`)
        db.exec(`UPDATE events SET text = json_set(text, '$.schema', 9) WHERE position = 6`)
        rechain(db)
      }),
    ).toEqual(expect.arrayContaining([at(2, 'unknown event type'), at(6, 'newer release')]))
  })
})

/** The same log, its last row changed on its page to have the position 5, at which no query for what follows position 5 ends. */
const goBack = (file: string, last: number): void => {
  const bytes = readFileSync(file)
  const text = bytes.lastIndexOf(`{"position":${last},`)
  const rowid = bytes.lastIndexOf(Buffer.from([0x80 | (last >> 7), last & 0x7f]), text)
  expect(text - rowid).toBeLessThan(16)
  bytes.set([0x80, 5], rowid)
  writeFileSync(file, bytes)
}

test('a damaged page that leads back to earlier events is told of, and does not keep the walks for ever', async () => {
  const file = join(directory, 'back.sqlite')
  const log = new SqliteLog({ file, vault: new Vault(testKey) })
  await log.submit(writes(...Array.from({ length: 300 }, (_, n) => projectCreated(n))))
  await log.close()
  goBack(file, 300)
  const said = async (threadFrom: number) => (await verifyLog({ logFile: file, threadFrom })).findings
  expect(await said(Infinity)).toContainEqual(at(257, 'goes back to position 5'))
  // Two walks go up to the last position that the file names, which is 5 here.
  expect(await said(0)).toContainEqual(at(null, 'the file is damaged'))
})
