import { describe, expect, test } from '@jest/globals'
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { Ledger } from '../../../src/commands/ledger.js'
import { ownMasterKeys } from '../../../src/cli/access/own-keys.js'
import { prepareDataDirectory, type DataPaths } from '../../../src/setup/data-directory.js'
import { openLogReader } from '../../../src/log/sqlite/log-reader.js'
import type { FileLog } from '../../../src/log/sqlite/file-log.js'
import { verifyLog } from '../../../src/log/verify/verify.js'
import { findMasterKeys, masterKeys } from '../../../src/vault/key-files.js'
import { KeyRotation } from '../../../src/key-rotation/key-rotation.js'
import { Vault } from '../../../src/vault/vault.js'
import { eachLog } from '../../support/log/each-log.js'
import { origin, patiently, projectCreated, refusal, stream, temporaryDirectory, writes, type OpenAt } from '../../support/log/log.js'

type Opened = { paths: DataPaths; log: FileLog; vault: Vault; rotation: KeyRotation; told: string[][] }

const opening =
  (openAt: OpenAt) =>
  async (paths: DataPaths, given: readonly Buffer[] = []): Promise<Opened> => {
    const vault = new Vault(...masterKeys(paths, given))
    const log = await openAt(paths.log, vault)
    const told: string[][] = []
    const tellReaders = async () => void told.push(vault.keys().map((key) => new Vault(key).keyId))
    const onFailed = (error: unknown) => {
      throw error
    }
    const rotation = new KeyRotation({
      log,
      ledger: new Ledger(log, vault),
      vault,
      paths,
      isKeyGiven: given.length > 0,
      tellReaders,
      onFailed,
    })
    return { paths, log, vault, rotation, told }
  }

const inDirectory = async (run: (paths: DataPaths) => Promise<void>): Promise<void> => {
  const { path, remove } = temporaryDirectory()
  try {
    await run(prepareDataDirectory(join(path, 'data')))
  } finally {
    remove()
  }
}

const secretOf = (n: number): string => `secret ${n} ${'x'.repeat((n * 131) % 5_000)}`

/** Writes secrets, several in a commit, and gives the hashes of their payloads. */
const writeSecrets = async ({ log, vault }: Opened, count: number, from = 0): Promise<string[]> => {
  const payloads = Array.from({ length: count }, (_, i) => vault.seal(Buffer.from(secretOf(from + i))))
  await Promise.all(
    payloads.map((payload, i) => {
      const data = { project: stream(1), name: `s${from + i}`, type: 't', params: { token: { $secret: payload.hash } } }
      return log.submit({ ...writes({ stream: stream(from + i + 10), event: { type: 'SkillCreated', data } }), payloads: [payload] })
    }),
  )
  return payloads.map(({ hash }) => hash)
}

type Row = { hash: string; keyId: string; wrapped: Buffer; body: Buffer }

const rowsOf = ({ log: file }: DataPaths): Row[] => {
  const db = new Database(file, { readonly: true })
  const rows = db.prepare<[], Row>('SELECT hash, key_id AS keyId, wrapped, body FROM payloads').all()
  db.close()
  return rows
}

const filesOf = ({ log }: DataPaths): Buffer =>
  Buffer.concat(['', '-wal'].flatMap((suffix) => (existsSync(log + suffix) ? [readFileSync(log + suffix)] : [])))

/** Lets it do some steps, then ends it as a stop does. */
const cutOff = async ({ log, rotation }: Opened, steps: number): Promise<void> => {
  for (let step = 0; step < steps; step++) await log.rotation()
  await rotation.stop()
  await log.close()
}

eachLog(({ openAt, isShared }) =>
  describe('a rotation of the master key', () => {
    const open = opening(openAt)

    test('leaves every payload readable with the new key alone, and nothing that the old one opens', () =>
      inDirectory(async (paths) => {
        const opened = await open(paths)
        const { log, rotation, vault, told } = opened
        const hashes = await writeSecrets(opened, 700)
        const before = rowsOf(paths)
        const [old] = findMasterKeys(paths) as [Buffer]
        const texts = await log.readAll(0, 1_000)

        const begun = await rotation.begin(origin)
        expect(begun).toMatchObject({ payloads: 0, position: null, from: new Vault(old).keyId })
        expect(await refusal(rotation.begin(origin))).toBe('busy')
        const during = await writeSecrets(opened, 50, 700)
        await rotation.ended
        expect(rotation.status).toEqual({ ...begun, payloads: 700, position: 751 })
        expect(told).toEqual([[begun.from, begun.to], [begun.from, begun.to], [begun.to]])
        await log.close()

        const [next, ...others] = findMasterKeys(paths) as [Buffer]
        expect([others, existsSync(paths.nextVaultKey), statSync(paths.vaultKey).mode & 0o777]).toEqual([[], false, 0o600])
        expect(vault.keys()).toEqual([next])
        const after = rowsOf(paths)
        const [newVault, oldVault] = [new Vault(next), new Vault(old)]
        const plain = new Map(after.map((row) => [row.hash, newVault.open(row)?.toString()]))
        expect([...hashes, ...during].map((hash) => plain.get(hash))).toEqual(Array.from({ length: 750 }, (_, n) => secretOf(n)))
        expect(after.filter((row) => oldVault.open(row) ?? oldVault.open({ ...row, keyId: oldVault.keyId }))).toEqual([])
        const files = filesOf(paths)
        expect(before.filter(({ wrapped }) => files.includes(wrapped.subarray(0, 20)))).toEqual([])
        expect(before.every(({ hash, body }) => after.find((row) => row.hash === hash)?.body.equals(body))).toBe(true)

        const again = await open(paths)
        expect((await again.log.readAll(0, 1_000)).slice(0, 700)).toEqual(texts)
        await again.log.close()
        expect(await verifyLog({ logFile: paths.log })).toMatchObject({ ok: true, payloads: { readable: 750, erased: 0 } })
      }))

    test.each([0, 1, 2, 3, 5, 9])('that is cut off after %i looks is taken up at the next start', (steps) =>
      inDirectory(async (paths) => {
        const opened = await open(paths)
        const hashes = await writeSecrets(opened, 1_500)
        const { to } = await opened.rotation.begin(origin)
        await cutOff(opened, steps)

        const again = await open(paths)
        expect(again.vault.keyId).toBe(to)
        expect(await Promise.all(hashes.map((hash) => again.log.payload(hash)))).not.toContain(undefined)
        await again.rotation.resume()
        await again.rotation.ended
        const events = await again.log.readStream('log', 0, 10)
        expect(events.map(({ text }) => (JSON.parse(text) as { data: unknown }).data)).toEqual([
          { from: opened.rotation.status?.from, to, payloads: 1_500 },
        ])
        await again.log.close()
        const [key] = findMasterKeys(paths) as [Buffer]
        const vault = new Vault(key)
        expect(rowsOf(paths).filter((row) => vault.open(row) === undefined)).toEqual([])
        expect(existsSync(paths.nextVaultKey)).toBe(false)
      }),
    )

    test('with keys that are given needs the next one from then on, and that one only', () =>
      inDirectory(async (paths) => {
        const [first, second] = [randomBytes(32), randomBytes(32)]
        const opened = await open(paths, [first])
        const hashes = await writeSecrets(opened, 1_500)
        expect(await refusal(opened.rotation.begin(origin))).toBe('wrong_arguments')
        expect(await refusal(opened.rotation.begin(origin, first))).toBe('wrong_arguments')
        await opened.rotation.begin(origin, second)
        await cutOff(opened, 2)
        expect(existsSync(paths.vaultKey) || existsSync(paths.nextVaultKey)).toBe(false)

        // Some payloads still need the first key, which the log keeps wrapped under the second until it ends.
        const masterKeys = ownMasterKeys({ masterKeys: [second] }, paths)
        expect(await verifyLog({ logFile: paths.log, masterKeys })).toMatchObject({ findings: [], payloads: { readable: 1_500 } })
        await expect(open(paths, [first])).rejects.toThrow(/is being changed from [0-9a-f]{16} to [0-9a-f]{16}, which is not at hand/)
        const again = await open(paths, [second])
        expect(await Promise.all(hashes.map((hash) => again.log.payload(hash)))).not.toContain(undefined)
        const reader = openLogReader(paths.root, [second])
        expect(hashes.filter((hash) => reader.payload(hash) === undefined)).toEqual([])
        reader.close()
        await again.rotation.resume()
        await again.rotation.ended
        await again.log.close()
        await expect(open(paths, [first])).rejects.toThrow(/is sealed with the master key/)
        await (await open(paths, [second])).log.close()
      }))

    if (!isShared)
      test('is not held up by a payload whose key is damaged, which verify tells of before and afterwards', () =>
        inDirectory(async (paths) => {
          const opened = await open(paths)
          const [first = '', second = '', third = ''] = await writeSecrets(opened, 3)
          const db = new Database(paths.log)
          db.prepare('UPDATE payloads SET wrapped = zeroblob(length(wrapped)) WHERE hash = ?').run(second)
          db.close()
          const found = async () =>
            (await verifyLog({ logFile: paths.log, masterKeys: findMasterKeys(paths) })).findings.map(({ what }) => what)
          const damaged = ['the key of its payload is not one that was wrapped under the master key']
          expect(await found()).toEqual(damaged)
          await opened.rotation.begin(origin)
          await opened.rotation.ended
          expect(opened.rotation.status).toMatchObject({ payloads: 2, position: 4 })
          expect([first, second, third].map((hash) => rowsOf(paths).find((row) => row.hash === hash)?.keyId)).toEqual([
            opened.vault.keyId,
            opened.rotation.status?.from,
            opened.vault.keyId,
          ])
          expect(await found()).toEqual(damaged)
          // No key will come that opens it: tables do not wait for one.
          const reader = openLogReader(paths.root, [], true)
          expect([first, second, third].map((hash) => reader.payload(hash)?.toString())).toEqual([secretOf(0), undefined, secretOf(2)])
          reader.close()
          await opened.log.close()
        }))

    test('that has begun already is not noted again, and one to the key in use is refused', () =>
      inDirectory(async (paths) => {
        const opened = await open(paths)
        const { log, vault, rotation } = opened
        const [hash] = await writeSecrets(opened, 1)
        const to = vault.add(randomBytes(32))
        const begun = await log.beginRotation(to)
        expect(begun).toMatchObject({ from: masterKeys(paths).map((key) => new Vault(key).keyId)[0], to })
        // As a node does that was halted, and follows the log to the beginning by another node.
        expect(await log.beginRotation(to)).toEqual(begun)
        await rotation.resume()
        await rotation.ended
        expect((await log.payload(hash!))?.toString()).toBe(secretOf(0))
        expect(await refusal(log.beginRotation(to))).toBe('wrong_arguments')
        expect(await log.rotation()).toBeUndefined()
        await log.close()
      }))

    test('that goes on refuses another next key than its own, which would be taken for the key in use', () =>
      inDirectory(async (paths) => {
        const { log, vault, rotation } = await open(paths)
        const [next, other] = [randomBytes(32), randomBytes(32)]
        const { to } = await log.beginRotation(vault.add(next))
        expect(await refusal(rotation.begin(origin, other))).toBe('wrong_arguments')
        expect(await refusal(rotation.resume(other))).toBe('wrong_arguments')
        expect(rotation.status).toBeUndefined()
        await rotation.resume(next)
        await rotation.ended
        expect(rotation.status).toMatchObject({ to, position: 1 })
        await log.close()
      }))

    test('that another node ended is known by its event, however much was erased since', () =>
      inDirectory(async (paths) => {
        const { log, vault, rotation } = await open(paths)
        const ledger = new Ledger(log, vault)
        const data = { what: 'before' as const, subject: 'all', reason: null, payloads: [], blobs: [] }
        const rewrapSome = log.rewrapSome.bind(log)
        log.rewrapSome = async (after) => {
          const next = await rewrapSome(after)
          const under = await log.rotation()
          if (next !== undefined || !under) return next
          const { from, to, payloads } = under
          await ledger.execute({ type: 'EndKeyRotation', data: { from, to, payloads } }, origin)
          for (let n = 0; n < 101; n++) await ledger.execute({ type: 'EraseData', data }, origin)
          return undefined
        }
        const { to } = await rotation.begin(origin)
        await rotation.ended
        expect(rotation.status).toMatchObject({ to, position: 1, error: null })
        await log.close()
      }))

    test('that an error stops says so, and goes on with the same key when it is begun again', () =>
      inDirectory(async (paths) => {
        const opened = await open(paths)
        const { log, vault } = opened
        await writeSecrets(opened, 3)
        const [failures, disk] = [[] as unknown[], { isFull: true }]
        const rotation = new KeyRotation({
          ...{ log, ledger: new Ledger(log, vault), vault, paths, isKeyGiven: false },
          // The rotation is recorded by the time that only one key is left.
          tellReaders: async () => {
            if (disk.isFull && vault.keys().length === 1) throw new Error('no room in /var/lib/mindledger')
          },
          onFailed: (error) => void failures.push(error),
        })
        const begun = await rotation.begin(origin)
        await expect(rotation.ended).rejects.toThrow('no room')
        expect(rotation.status).toMatchObject({ to: begun.to, position: null, error: 'no room in a file' })
        expect(failures).toHaveLength(1)
        expect(await refusal(rotation.begin(origin, randomBytes(32)))).toBe('wrong_arguments')
        disk.isFull = false
        expect(await rotation.begin(origin)).toMatchObject({ to: begun.to, position: null, error: null })
        await rotation.ended
        expect(rotation.status).toEqual({ ...begun, payloads: 3, position: 4 })
        expect(await log.streamVersion('log')).toBe(1)
        expect((await rotation.begin(origin)).to).not.toBe(begun.to)
        await rotation.ended
        await log.close()
      }))

    test('that ends between the sealing of a payload and its commit leaves it readable', () =>
      inDirectory(async (paths) => {
        const { log, vault, rotation } = await open(paths)
        const late = vault.seal(Buffer.from('late'))
        await rotation.begin(origin)
        await rotation.ended
        const data = { project: stream(1), name: 'late', type: 't', params: { token: { $secret: late.hash } } }
        await log.submit({ ...writes({ stream: stream(12), event: { type: 'SkillCreated', data } }), payloads: [late] })
        const row = rowsOf(paths).find(({ hash }) => hash === late.hash)
        expect(row && vault.open(row)?.toString()).toBe('late')
        await rotation.stop()
        await log.close()
      }))

    test('that never began leaves the key in use', () =>
      inDirectory(async (paths) => {
        const opened = await open(paths)
        const hashes = await writeSecrets(opened, 3)
        const [key] = findMasterKeys(paths)
        await opened.log.close()
        const { keepNextKey } = await import('../../../src/vault/key-files.js')
        await keepNextKey(paths, randomBytes(32))
        const again = await open(paths)
        await again.rotation.resume()
        expect(findMasterKeys(paths)).toEqual([key])
        expect(await again.log.payload(hashes[0] ?? '')).toBeDefined()
        await again.log.close()
      }))

    test('is not felt by who reads beside it, opened before, meanwhile or afterwards', () =>
      inDirectory(async (paths) => {
        const opened = await open(paths)
        const hashes = await writeSecrets(opened, 600)
        const early = openLogReader(paths.root)
        const unreadable = (reader = openLogReader(paths.root), isOwn = true): number => {
          const looked = hashes.filter((_, i) => i % 40 === 0)
          const count = looked.filter((hash) => reader.payload(hash) === undefined).length
          if (isOwn) reader.close()
          return count
        }
        for (let round = 0; round < 2; round++) {
          await opened.rotation.begin(origin)
          const over = { yet: false }
          void opened.rotation.ended.then(() => (over.yet = true))
          while (!over.yet) {
            expect([unreadable(early, false), unreadable()]).toEqual([0, 0])
            await opened.log.rotation()
            await new Promise((resolve) => setImmediate(resolve))
          }
          expect([unreadable(early, false), unreadable()]).toEqual([0, 0])
        }
        early.close()
        await opened.log.close()
      }))

    test('leaves the answers to requests that are sent again, which hang on no master key', () =>
      inDirectory(async (paths) => {
        const opened = await open(paths)
        const request = { key: 'k', fingerprint: opened.vault.fingerprint('the request') }
        const { positions } = await opened.log.submit({ ...writes(projectCreated(1)), idempotency: request })
        for (let round = 0; round < 2; round++) {
          await opened.rotation.begin(origin)
          await opened.rotation.ended
        }
        await opened.log.close()
        const again = await open(paths)
        const idempotency = { key: 'k', fingerprint: again.vault.fingerprint('the request') }
        const repeated = await patiently(() => again.log.submit({ ...writes(projectCreated(2)), idempotency }))
        expect(repeated).toMatchObject({ positions, repeated: true })
        await again.log.close()
      }))

    test('leaves kept answers with rows, whose key the new one opens', () =>
      inDirectory(async (paths) => {
        const opened = await open(paths)
        const keyed = { origin, idempotency: { key: 'k', fingerprint: 'f' } }
        const reply = { status: 200, type: null, etag: null, body: 'a row', rows: true as const }
        await opened.log.keepReply(keyed, reply, 0)
        await opened.rotation.begin(origin)
        await opened.rotation.ended
        await opened.log.close()
        const again = await open(paths)
        expect(await patiently(() => again.log.replyTo(keyed))).toEqual(reply)
        await again.log.close()
      }))

    if (!isShared)
      test('leaves answers that were given before there was a key of its own for them', () =>
        inDirectory(async (paths) => {
          const opened = await open(paths)
          const [key] = findMasterKeys(paths) as [Buffer]
          const fingerprint = new Vault(key).fingerprint('the request')
          await opened.log.submit({ ...writes(projectCreated(1)), idempotency: { key: 'k', fingerprint } })
          await opened.log.close()
          const db = new Database(paths.log)
          db.exec(`DELETE FROM meta WHERE key = 'fingerprint_key'`)
          db.close()
          const today = await open(paths)
          await today.rotation.begin(origin)
          await today.rotation.ended
          expect(today.vault.fingerprint('the request')).toBe(fingerprint)
          await today.log.close()
        }))
  }),
)
