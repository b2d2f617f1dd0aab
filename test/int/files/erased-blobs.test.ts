import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { copyFileSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import express from 'express'
import { Ledger } from '../../../src/commands/ledger.js'
import { Erasures } from '../../../src/erasure/erasures.js'
import { removeErasedBlobs } from '../../../src/erasure/unfinished.js'
import { Intake } from '../../../src/files/intake.js'
import { Blobs } from '../../../src/files/blobs.js'
import { forgetErased } from '../../../src/files/shared/forget-erased.js'
import { Call } from '../../../src/http/protocol/call.js'
import { fileRoutes } from '../../../src/http/routes/resources/files.js'
import { verifyLog } from '../../../src/log/verify/verify.js'
import { SharedLog } from '../../../src/log/shared/shared-log.js'
import { TrainingService } from '../../../src/models/training/training-service.js'
import { TableWriter } from '../../../src/sql/facade/table-writer.js'
import { Vault } from '../../../src/vault/vault.js'
import { startS3, type S3Server } from '../../support/files/s3-server.js'
import { problemOf, shaOf, withStores, type Nodes } from '../../support/files/shared-stores.js'
import { logServer } from '../../support/log/each-log.js'
import { origin, testKey, withLog } from '../../support/log/log.js'
import { newest } from '../../support/log/nodes.js'
import { restartable, send, sql, startTestService } from '../../support/service.js'
import { until, whenReached } from '../../support/until.js'

const { server } = logServer()
const mebibyte = 2 ** 20
const aheadOfAll = '2999-01-01T00:00:00.000000Z'

let s3: S3Server
beforeAll(async () => {
  s3 = await startS3()
})
afterAll(() => s3.stop())

const withNodes = (place: 'postgres' | 's3', run: (nodes: Nodes) => Promise<void>): Promise<void> =>
  withStores(server(), place === 's3' ? s3.address : undefined, run)

test('each node wipes an erased blob when it follows the event, and one that was away before it serves', () =>
  withNodes('postgres', async ({ a, b, directory, url, reopen }) => {
    const vault = new Vault(testKey)
    const open = (name: string) => whenReached(() => SharedLog.open({ url, file: join(directory, `${name}.sqlite`), vault }))
    const [here, there] = [await open('here'), await open('there')]
    const stops = [await forgetErased(here, a.blobs), await forgetErased(there, b.blobs)]
    try {
      const ledger = new Ledger(here, vault)
      const erasures = new Erasures({ ledger, log: here, blobs: a.blobs, purge: async () => undefined })
      const uploaded = async (name: string) => {
        const content = await a.blobs.putBytes(Buffer.from(`rows of ${name}`))
        const data = { file: name, content: { content, bytes: 1, row_count: 1, columns: [], original_name: null } }
        await ledger.execute({ type: 'CreateFile', data }, origin)
        await b.blobs.read(content)
        return content
      }
      const erase = (name: string) =>
        erasures.erase({ subject: { what: 'file', of: { name } }, reason: null, shared: false, dryRun: false }, origin)
      const first = await uploaded('first')
      expect((await erase('first')).blobs).toEqual([first])
      expect([existsSync(a.cache.path(first)), await a.blobs.has(first)]).toEqual([false, false])
      await newest(there)
      expect(existsSync(b.cache.path(first))).toBe(false)

      const second = await uploaded('second')
      stops.pop()?.()
      await erase('second')
      await newest(there)
      const again = await reopen()
      expect(again.cache.has(second)).toBe(true)
      stops.push(await forgetErased(there, again.blobs))
      expect(existsSync(again.cache.path(second))).toBe(false)
    } finally {
      for (const stop of stops) stop()
      await here.close()
      await there.close()
    }
  }))

/** Runs a test over the stores of two nodes that follow a log, and the erasures of the first. */
const withErasing = (
  place: 'postgres' | 's3',
  run: (
    nodes: Nodes & { here: SharedLog; there: SharedLog; ledger: Ledger; erasures: Erasures; uploaded: (name: string) => Promise<string> },
  ) => Promise<void>,
): Promise<void> =>
  withNodes(place, async (nodes) => {
    const { a, b, url, directory } = nodes
    const vault = new Vault(testKey)
    const open = (name: string) => whenReached(() => SharedLog.open({ url, file: join(directory, `${name}.sqlite`), vault }))
    const [here, there] = [await open('here'), await open('there')]
    const stops = [await forgetErased(here, a.blobs), await forgetErased(there, b.blobs)]
    try {
      const ledger = new Ledger(here, vault)
      const uploaded = async (name: string) => {
        const content = await a.blobs.putBytes(Buffer.from(`rows of ${name}`))
        const data = { file: name, content: { content, bytes: 1, row_count: 1, columns: [], original_name: null } }
        await ledger.execute({ type: 'CreateFile', data }, origin)
        return content
      }
      const erasures = new Erasures({ ledger, log: here, blobs: a.blobs, purge: async () => undefined })
      await run({ ...nodes, here, there, ledger, erasures, uploaded })
    } finally {
      for (const stop of stops) stop()
      await here.close()
      await there.close()
    }
  })

test('a node that follows an erasure reads nothing of it, although the bytes are still in the store; put again, it does', () =>
  withErasing('postgres', async ({ a, b, there, ledger, uploaded }) => {
    const [known, unknown] = [await uploaded('known'), await uploaded('unknown')]
    const { file } = await b.blobs.hold(known)
    // As a node does that is slow, or ends, before it removes the bytes.
    const data = { what: 'file' as const, subject: 'files.known', reason: null, payloads: [], blobs: [known, unknown] }
    await ledger.execute({ type: 'EraseData', data }, origin)
    await newest(there)
    expect(existsSync(file)).toBe(false)
    for (const sha of [known, unknown])
      for (const { blobs, cache } of [a, b]) {
        expect([await blobs.isLeft(sha), await blobs.has(sha)]).toEqual([true, false])
        expect((await problemOf(blobs.read(sha))).code).toBe('not_found')
        expect(existsSync(cache.path(sha))).toBe(false)
      }
    expect(await a.blobs.putBytes(Buffer.from('rows of known'))).toBe(known)
    for (const { blobs } of [a, b]) expect((await blobs.read(known)).toString()).toBe('rows of known')
    expect(await removeErasedBlobs(there, b.blobs)).toMatchObject({ removed: 1 })
    expect([await b.blobs.isLeft(known), await b.blobs.isLeft(unknown)]).toEqual([true, false])
  }))

test('a content that is erased while it is stored again is not kept', () =>
  withNodes('postgres', async ({ a, b, directory }) => {
    const content = await a.blobs.putBytes(Buffer.from('again'))
    const touch = b.register.touch.bind(b.register)
    b.register.touch = async (sha) => {
      const isKnown = await touch(sha)
      b.blobs.noteErased(sha, aheadOfAll)
      return isKnown
    }
    expect(await problemOf(b.blobs.putBytes(Buffer.from('again')))).toMatchObject({ code: 'busy', title: 'Erased meanwhile' })
    expect(await b.blobs.has(content)).toBe(false)
    expect(readdirSync(join(directory, 'b', 'blobs'))).toEqual([])
  }))

test('an erasure that is sent again is answered when the store has none of the bytes', () =>
  withErasing('s3', async ({ b, there, erasures, uploaded }) => {
    const content = await uploaded('a')
    const stored = () => [...s3.objects.values()].filter((bytes) => shaOf(bytes) === content)
    const erase = () => erasures.erase({ subject: { what: 'file', of: { name: 'a' } }, reason: null, shared: false, dryRun: false }, origin)
    for (let i = 0; i < 2; i++) {
      s3.failures.push(403)
      expect(await problemOf(erase())).toMatchObject({ status: 503 })
      expect(stored()).toHaveLength(1)
    }
    await newest(there)
    expect((await problemOf(b.blobs.read(content))).code).toBe('not_found')
    expect(await erase()).toMatchObject({ positions: [], blobs: [], already_erased: 1 })
    expect(stored()).toEqual([])
    expect(await b.blobs.isLeft(content)).toBe(false)
  }))

test('a content that another file gets while it is erased stays for that file, and the erasure is answered', () =>
  withErasing('postgres', async ({ a, b, here, there, ledger, uploaded }) => {
    const content = await uploaded('a')
    const wipes = { wiped: async () => undefined, everywhere: async () => undefined }
    const erasures = new Erasures({ ledger, log: here, blobs: a.blobs, purge: async () => undefined, wipes })
    const execute = ledger.execute.bind(ledger)
    ledger.execute = async (command, ...rest) => {
      const outcome = await execute(command, ...rest)
      if (command.type === 'EraseData') {
        ledger.execute = execute
        await a.blobs.putBytes(Buffer.from('rows of a'))
        const data = { file: 'b', content: { content, bytes: 1, row_count: 1, columns: [], original_name: null } }
        await execute({ type: 'CreateFile', data }, origin)
      }
      return outcome
    }
    const request = { subject: { what: 'file' as const, of: { name: 'a' } }, reason: null, shared: false, dryRun: false }
    expect(await erasures.erase(request, origin)).toMatchObject({ positions: [2], blobs: [content] })
    await newest(there)
    expect((await b.blobs.read(content)).toString()).toBe('rows of a')
  }))

type Storing = { ledger: Ledger; log: SharedLog; blobs: Nodes['b']['blobs'] }

/** How a node stores the bytes `rows of a` as another file. Resolves when its event is recorded. */
const storing: Record<string, (at: Storing, directory: string) => Promise<unknown>> = {
  'an upload': async (at, temporary) => {
    const intake = new Intake({ blobs: at.blobs, ingester: undefined as never, temporary })
    const upload = fileRoutes({ ...at, reading: (() => ({})) as never, intake }).find((one) => one.method === 'put')
    const app = express().put('/files/:file', (req, res) => {
      upload?.handle(new Call(req, res), req.params).then(
        () => res.json({}),
        (error: unknown) => res.json({ error }),
      )
    })
    const listening = app.listen(0, '127.0.0.1')
    try {
      await new Promise((done) => listening.once('listening', done))
      const body = new FormData()
      body.set('file', new File(['rows of a'], 'b.onnx'))
      const answer = await fetch(`http://127.0.0.1:${(listening.address() as { port: number }).port}/files/b`, { method: 'PUT', body })
      const { error } = (await answer.json()) as { error?: { code: string } }
      if (error) throw Object.assign(new Error(), error)
    } finally {
      listening.closeAllConnections()
      listening.close()
    }
  },
  'a statement': async (at, directory) => {
    const run = async ({ wanted }: { wanted?: unknown }) => {
      await writeFile((wanted as { path: string }).path, 'rows of a')
      return { row: [9, 1, [{ name: 'a', type: 'BIGINT' }]], positions: [] }
    }
    const target = { database: 'files', name: 'b' } as never
    const statement = { kind: 'create_table', target, ifNotExists: false, replace: true, rows: undefined } as never
    await new TableWriter({ ...at, directory }).create(statement, { query: 'SELECT 1', db: 'files', origin, run })
  },
}

test.each(Object.keys(storing))(
  '%s whose bytes are erased before its event is recorded is refused, and accepted when it comes again',
  (how) =>
    withErasing('postgres', async ({ a, b, directory, there, erasures, uploaded }) => {
      const content = await uploaded('a')
      await newest(there)
      const put = b.blobs.put.bind(b.blobs)
      b.blobs.put = async (file) => {
        b.blobs.put = put
        const sha = await put(file)
        const subject = { what: 'file' as const, of: { name: 'a' } }
        expect(await erasures.erase({ subject, reason: null, shared: false, dryRun: false }, origin)).toMatchObject({ blobs: [sha] })
        return sha
      }
      const store = () => storing[how]?.({ ledger: new Ledger(there, new Vault(testKey)), log: there, blobs: b.blobs }, directory)
      await expect(store()).rejects.toMatchObject({ code: 'busy' })
      expect(await there.resources.one('file', 'b')).toBeUndefined()
      await store()
      expect((await there.resources.one('file', 'b'))?.state.content).toBe(content)
      expect(await removeErasedBlobs(there, b.blobs)).toMatchObject({ removed: 0 })
      for (const { blobs } of [a, b]) expect((await blobs.read(content)).toString()).toBe('rows of a')
    }),
)

test('what is stored after the event of its erasure stays, also in the folder of a single process', () =>
  withLog(async ({ log, ledger, file, directory }) => {
    const blobs = new Blobs(join(directory, 'blobs'))
    const store = async (name: string): Promise<string> => {
      const guarded = await ledger.guarded(origin)
      const content = await blobs.putBytes(Buffer.from('rows of a'))
      const data = { file: name, content: { content, bytes: 1, row_count: 1, columns: [], original_name: null } }
      await ledger.execute({ type: 'CreateFile', data }, guarded)
      return content
    }
    const content = await store('a')
    const execute = ledger.execute.bind(ledger)
    ledger.execute = async (...of) => {
      ledger.execute = execute
      const outcome = await execute(...of)
      await store('b')
      return outcome
    }
    const erasures = new Erasures({ ledger, log, blobs, purge: async () => undefined })
    const subject = { what: 'file' as const, of: { name: 'a' } }
    expect(await erasures.erase({ subject, reason: null, shared: false, dryRun: false }, origin)).toMatchObject({ blobs: [content] })
    expect((await blobs.read(content)).toString()).toBe('rows of a')
    const blobHash = async (sha: string) => ((await blobs.has(sha)) ? sha : undefined)
    expect(await verifyLog({ logFile: file, blobHash })).toMatchObject({ findings: [] })
    await log.wipe()
  }))

test('a rollback to a content that is erased meanwhile is refused, and says so when it comes again', async () => {
  const at = await startTestService()
  const has = jest.spyOn(Blobs.prototype, 'has')
  try {
    for (const rows of ['n\n1\n', 'n\n2\n']) {
      const body = new FormData()
      body.set('file', new File([rows], 'a.csv'))
      await send(at.url, 'PUT', '/api/files/a', body)
    }
    has.mockImplementationOnce(async function (this: Blobs, sha) {
      const isThere = await this.has(sha)
      expect(await send(at.url, 'POST', '/api/log/erasures', { file: { name: 'a', version: 1 } })).toMatchObject({ status: 200 })
      return isThere
    })
    const back = () => send(at.url, 'POST', '/api/files/a/rollback', { version: 1 })
    expect(await back()).toMatchObject({ status: 503, body: { code: 'busy' } })
    expect(await back()).toMatchObject({ status: 404, body: { title: 'Content erased' } })
    expect((await sql(at.url, 'SELECT n FROM files.a')).data).toEqual([[2]])
  } finally {
    has.mockRestore()
    await at.stop()
  }
})

test('a table is refused whose query has read rows that are erased before it ends; other erasures let it be written', async () => {
  const at = await startTestService()
  const guarded = jest.spyOn(Ledger.prototype, 'guarded')
  const upload = async (name: string) => {
    const body = new FormData()
    body.set('file', new File([`n\n${name.length}\n`], 'a.csv'))
    await send(at.url, 'PUT', `/api/files/${name}`, body)
  }
  const erasedDuring = async (name: string, statement: string) => {
    await upload('people')
    await upload('other')
    guarded.mockImplementationOnce(async function (this: Ledger, of) {
      expect(await send(at.url, 'POST', '/api/log/erasures', { file: { name } })).toMatchObject({ status: 200 })
      return this.guarded(of)
    })
    return (await sql(at.url, statement)).error_message
  }
  try {
    const refused = expect.stringContaining('data was erased while this was under way')
    const [copy, more] = ['CREATE TABLE files.copy (SELECT * FROM files.people)', 'INSERT INTO files.people (SELECT 2 AS n)']
    for (const statement of [copy, more]) expect(await erasedDuring('people', statement)).toEqual(refused)
    expect(await send(at.url, 'GET', '/api/files/copy')).toMatchObject({ status: 404 })
    for (const statement of [copy, more]) expect(await erasedDuring('other', statement)).toBeUndefined()
    expect((await sql(at.url, 'SELECT n FROM files.copy')).data).toEqual([[6]])
  } finally {
    guarded.mockRestore()
    await at.stop()
  }
})

test('what is put after an erasure stays, also if the time of the erasure is ahead of the clock of PostgreSQL', () =>
  withNodes('postgres', async ({ a, b }) => {
    const content = shaOf('again')
    for (const { blobs } of [a, b]) blobs.noteErased(content, aheadOfAll)
    for (const { blobs } of [a, b, a]) {
      expect(await blobs.putBytes(Buffer.from('again'))).toBe(content)
      expect(await blobs.removeErased(content, aheadOfAll, false)).toBe(false)
    }
    for (const { blobs } of [a, b]) expect((await blobs.read(content)).toString()).toBe('again')
  }))

test('of two erasures of a blob the later one counts, in whatever order a node hears of them', () =>
  withNodes('postgres', async ({ a }) => {
    const content = await a.blobs.putBytes(Buffer.from('twice'))
    a.blobs.noteErased(content, aheadOfAll)
    a.blobs.noteErased(content, '2000-01-01T00:00:00.000000Z')
    expect(await a.blobs.has(content)).toBe(false)
  }))

test('a blob that is erased while it comes from another disk leaves no file', () =>
  withNodes('postgres', async ({ b, directory }) => {
    const elsewhere = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'blobs-'))
    try {
      const file = join(elsewhere, 'file')
      writeFileSync(file, 'abc')
      // Where there is no other disk, it is taken in at once.
      await b.cache.take(file, shaOf('abc'), () => !existsSync(file)).catch(() => undefined)
      b.cache.drop(shaOf('abc'))
      expect(readdirSync(join(directory, 'b', 'blobs'))).toEqual([])
    } finally {
      rmSync(elsewhere, { recursive: true })
    }
  }))

test('a blob that is erased while a node fetches it leaves no file there', () =>
  withNodes('postgres', async ({ a, b, directory }) => {
    const sha = await a.blobs.putBytes(Buffer.alloc(20 * mebibyte, 'some bytes'))
    const folder = join(directory, 'b', 'blobs')
    const reading = problemOf(b.blobs.read(sha))
    await until(() => readdirSync(folder).length > 0)
    b.blobs.forget(sha)
    expect(readdirSync(folder)).toEqual([])
    expect((await reading).code).toBe('not_found')
    expect(readdirSync(folder)).toEqual([])
  }))

test('a start removes an erased blob that a crash left, before trainings and jobs can read it', async () => {
  const at = restartable()
  const resume = jest.spyOn(TrainingService.prototype, 'resume')
  try {
    const first = await at.start()
    const body = new FormData()
    body.set('file', new File(['n\n1\n'], 'a.csv'))
    expect(await send(first, 'PUT', '/api/files/a', body)).toMatchObject({ status: 200 })
    const folder = join(at.path, 'blobs')
    const [blob, ...others] = readdirSync(folder)
      .filter((name) => !name.endsWith('.unnamed'))
      .map((name) => join(folder, name))
    expect(others).toEqual([])
    const copy = join(at.path, 'copy')
    copyFileSync(blob ?? '', copy)
    expect(await send(first, 'POST', '/api/log/erasures', { file: { name: 'a' } })).toMatchObject({ status: 200 })
    await at.stop()
    expect(existsSync(blob ?? '')).toBe(false)
    // As a process leaves it that is killed between the event and the removal of the file.
    renameSync(copy, blob ?? '')
    let isThere = true
    resume.mockImplementationOnce(async () => {
      isThere = existsSync(blob ?? '')
    })
    await at.start()
    expect(isThere).toBe(false)
  } finally {
    resume.mockRestore()
    await at.remove()
  }
})
