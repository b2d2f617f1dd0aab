import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Ledger } from '../../../src/commands/ledger.js'
import { Erasures } from '../../../src/erasure/erasures.js'
import { removeErasedBlobs } from '../../../src/erasure/unfinished.js'
import { forgetErased } from '../../../src/files/shared/forget-erased.js'
import { SharedLog } from '../../../src/log/shared/shared-log.js'
import { Vault } from '../../../src/vault/vault.js'
import { startS3, type S3Server } from '../../support/files/s3-server.js'
import { problemOf, shaOf, withStores, type Nodes } from '../../support/files/shared-stores.js'
import { logServer } from '../../support/log/each-log.js'
import { origin, testKey } from '../../support/log/log.js'
import { until } from '../../support/until.js'

const { server } = logServer()
const mebibyte = 2 ** 20

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
    const open = (name: string) => SharedLog.open({ url, file: join(directory, `${name}.sqlite`), vault })
    const [here, there] = [await open('here'), await open('there')]
    const stops = [await forgetErased(here, a.blobs), await forgetErased(there, b.blobs)]
    try {
      const ledger = new Ledger(here, vault)
      const erasures = new Erasures({ ledger, blobs: a.blobs, purge: async () => undefined })
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
      await there.newest()
      expect(existsSync(b.cache.path(first))).toBe(false)

      const second = await uploaded('second')
      stops.pop()?.()
      await erase('second')
      await there.newest()
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
    nodes: Nodes & { there: SharedLog; ledger: Ledger; erasures: Erasures; uploaded: (name: string) => Promise<string> },
  ) => Promise<void>,
): Promise<void> =>
  withNodes(place, async (nodes) => {
    const { a, b, url, directory } = nodes
    const vault = new Vault(testKey)
    const open = (name: string) => SharedLog.open({ url, file: join(directory, `${name}.sqlite`), vault })
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
      await run({ ...nodes, there, ledger, erasures: new Erasures({ ledger, blobs: a.blobs, purge: async () => undefined }), uploaded })
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
    await there.newest()
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
      b.blobs.noteErased(sha, '2999-01-01T00:00:00.000000Z')
      return isKnown
    }
    expect(await problemOf(b.blobs.putBytes(Buffer.from('again')))).toMatchObject({ code: 'storage_failed', title: 'Blob damaged' })
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
    await there.newest()
    expect((await problemOf(b.blobs.read(content))).code).toBe('not_found')
    expect(await erase()).toMatchObject({ positions: [], blobs: [], already_erased: 1 })
    expect(stored()).toEqual([])
    expect(await b.blobs.isLeft(content)).toBe(false)
  }))

test('a content that another file gets while it is erased stays for that file, and the erasure is answered', () =>
  withErasing('postgres', async ({ a, b, there, ledger, uploaded }) => {
    const content = await uploaded('a')
    const wipes = { wiped: async () => undefined, everywhere: async () => undefined }
    const erasures = new Erasures({ ledger, blobs: a.blobs, purge: async () => undefined, wipes })
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
    await there.newest()
    expect((await b.blobs.read(content)).toString()).toBe('rows of a')
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
