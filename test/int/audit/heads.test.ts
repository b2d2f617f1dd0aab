import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import Database from 'better-sqlite3'
import { spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import { leafHash } from '../../../events/stored/chain.js'
import { readHeads } from '../../../src/audit/kept-heads.js'
import { readVerifierKey } from '../../../src/audit/note-key.js'
import { judge } from '../../../src/audit/note.js'
import { head, type HeadOptions } from '../../../src/cli/commands/head.js'
import { verify } from '../../../src/cli/commands/verify.js'
import { readConfig } from '../../../src/setup/config.js'
import { startService, type Service } from '../../../src/main.js'
import { until } from '../../support/until.js'
import { mth } from '../../support/log/rfc9162.js'
import { send, temporaryDirectory } from '../../support/service.js'

const open: { stop: () => Promise<void> }[] = []
afterEach(async () => {
  for (const { stop } of open.splice(0).reverse()) await stop()
})

const place = (): string => {
  const { path, remove } = temporaryDirectory()
  open.push({ stop: async () => remove() })
  return path
}
type Environment = Record<string, string>
const configOf = (path: string, environment: Environment) => readConfig({ PORT: '0', DATA_DIR: join(path, 'data'), ...environment })

const serve = async (path: string, environment: Environment = {}): Promise<Service> => {
  const service = await startService(configOf(path, environment), pino({ level: 'silent' }))
  open.push({ stop: () => service.close() })
  return service
}
const grow = (service: Service, name: string) => send(service.url, 'POST', '/api/projects', { project: { name } })

/** What a command of the CLI says, and its status. */
const said = async (run: (out: { line: (text: string) => void; progress: () => void }) => Promise<number>) => {
  const lines: string[] = []
  const status = await run({ line: (text) => lines.push(text), progress: () => undefined })
  return { status, out: `${lines.join('\n')}\n` }
}
const none = { into: undefined, key: false, json: false, newKey: false }
const headOf = (path: string, options: Partial<HeadOptions> = {}, environment: Environment = {}) =>
  said((out) => head(configOf(path, environment), { ...none, ...options }, out))
const verifyOf = (path: string, heads: string[], vkey?: string) => said((out) => verify(configOf(path, {}), { heads, vkey }, out))

/** What an auditor gets, who has the files alone, and the status. */
const offline = (...args: string[]) => {
  const { status, stdout } = spawnSync(process.execPath, [fileURLToPath(new URL('../../../bin/verifier.js', import.meta.url)), ...args])
  return { status, out: stdout.toString() }
}

const rootOf = async (service: Service, size: number) => mth((await service.log.readAll(0, size)).map(({ text }) => leafHash(text)))

describe('the key that signs heads', () => {
  test('is made at the first start, for its owner alone, and stays', async () => {
    const path = place()
    const first = await serve(path)
    const key = readFileSync(join(path, 'data', 'head.key'), 'utf8')
    expect(key).toMatch(/^[0-9a-f]{64}\n$/)
    expect(statSync(join(path, 'data', 'head.key')).mode & 0o777).toBe(0o600)
    const { out: vkey } = await headOf(path, { key: true })
    expect((await send(first.url, 'GET', '/api/log/key')).body).toBe(vkey)
    await first.close()
    await serve(path)
    expect(readFileSync(join(path, 'data', 'head.key'), 'utf8')).toBe(key)
    expect((await headOf(path, { key: true })).out).toBe(vkey)
  })

  test('may be given, and then no file holds one', async () => {
    const path = place()
    await serve(path, { HEAD_KEY: 'ab'.repeat(32) })
    expect(existsSync(join(path, 'data', 'head.key'))).toBe(false)
    expect((await headOf(path, { key: true }, { HEAD_KEY: 'ab'.repeat(32) })).status).toBe(0)
    await expect(headOf(path)).rejects.toThrow('head.key is missing and HEAD_KEY is not set')
  })

  test('is missed by name when it is lost, cut short or another one', async () => {
    const path = place()
    const file = join(path, 'data', 'head.key')
    await (await serve(path)).close()
    const key = readFileSync(file)
    for (const unfit of ['', 'ab', `${'ab'.repeat(31)}xx`]) {
      writeFileSync(file, unfit)
      await expect(serve(path)).rejects.toThrow('head.key does not hold a key of 64 hex digits')
    }
    writeFileSync(file, 'cd'.repeat(32))
    await expect(serve(path)).rejects.toThrow("this log's heads are signed with the key mindledger/")
    rmSync(file)
    await expect(serve(path)).rejects.toThrow("the key that signs this log's heads is lost")
    expect(existsSync(file)).toBe(false)
    writeFileSync(file, key)
    await serve(path)
  })

  test('can be begun anew, and what the old one signed stays proven', async () => {
    const path = place()
    const service = await serve(path)
    const heads = join(path, 'old.txt')
    const { out: oldKey } = await headOf(path, { key: true })
    writeFileSync(heads, (await headOf(path)).out)
    await expect(headOf(path, { newKey: true })).rejects.toThrow('in use by another server')
    await service.close()
    await expect(headOf(path, { newKey: true })).rejects.toThrow('a key is never overwritten')
    renameSync(join(path, 'data', 'head.key'), join(path, 'old.key'))
    const { out: vkey } = await headOf(path, { newKey: true })
    const again = await serve(path)
    expect((await send(again.url, 'GET', '/api/log/key')).body).toBe(vkey)
    await grow(again, 'later')
    appendFileSync(heads, `\n${(await headOf(path)).out}`)
    const keys = join(path, 'keys.txt')
    writeFileSync(keys, oldKey + vkey)
    const proven = { status: 0, out: expect.stringContaining('Proven: positions 1 to 2') as unknown }
    for (const given of [undefined, keys]) expect(await verifyOf(path, [heads], given)).toMatchObject(proven)
    for (const key of [oldKey, vkey]) expect((await verifyOf(path, [heads], key.trim())).status).toBe(1)
    const kept = async (name: string, address: string) => {
      const answer = await fetch(again.url + address, { headers: { accept: 'text/plain' } })
      writeFileSync(join(path, name), await answer.text())
      return join(path, name)
    }
    const exported = await kept('export.jsonl', '/api/log/export')
    for (const options of [[], ['--vkey', keys]])
      expect(offline(exported, '--head', heads, ...options)).toMatchObject({
        status: 0,
        out: expect.stringContaining('the first 1 events are those of then') as unknown,
      })
    for (const key of [oldKey, vkey]) expect(offline(exported, '--head', heads, '--vkey', key.trim()).status).toBe(1)
    const proof = await kept('proof.txt', '/api/log/proofs/inclusion?position=1&size=2')
    const event = await kept('event.json', '/api/events/1')
    expect(offline(proof, '--event', event, '--vkey', keys).status).toBe(0)
    expect(offline(proof, '--event', event, '--vkey', oldKey.trim()).status).toBe(1)
  })
})

describe('mindledger head', () => {
  test('signs the root over all events, beside a server and without one', async () => {
    const path = place()
    const service = await serve(path)
    await grow(service, 'more')
    const { out } = await headOf(path)
    expect((await send(service.url, 'GET', '/api/log/checkpoint')).body).toBe(out)
    expect(out.split('\n').slice(0, 3)).toEqual([`mindledger/${service.log.id}`, '2', (await rootOf(service, 2)).toString('base64')])
    await service.close()
    expect((await headOf(path)).out).toBe(out)
    expect(JSON.parse((await headOf(path, { json: true })).out)).toMatchObject({ logId: service.log.id, position: 2 })
  })

  test('appends to a file that verify reads as one', async () => {
    const path = place()
    const service = await serve(path)
    const into = join(path, 'heads.txt')
    for (const name of ['a', 'b', 'c']) {
      await headOf(path, { into })
      await grow(service, name)
    }
    expect(readHeads(into).map(({ head: { position } }) => position)).toEqual([1, 2, 3])
    const { status, out } = await verifyOf(path, [into])
    expect([status, out]).toEqual([0, expect.stringContaining('Proven: positions 1 to 3, by the head that was kept.')])
    expect(out).toContain('Unproven: positions 4 to 4')
  })
})

describe('verify with heads', () => {
  // What only reads shares one service.
  const lasting: typeof open = []
  let shared: Awaited<ReturnType<typeof kept>>
  beforeAll(async () => {
    shared = await kept()
    lasting.push(...open.splice(0))
  })
  afterAll(async () => {
    for (const { stop } of lasting.reverse()) await stop()
  })

  const kept = async () => {
    const path = place()
    const service = await serve(path)
    for (const name of ['a', 'b', 'c']) await grow(service, name)
    const file = join(path, 'head.txt')
    const { out: note } = await headOf(path)
    writeFileSync(file, note)
    const { out: vkey } = await headOf(path, { key: true })
    return { path, service, file, note, vkey: vkey.trim() }
  }

  test('takes several files, of both forms, and a key', async () => {
    const { path, file, vkey } = shared
    const older = join(path, 'older.json')
    writeFileSync(older, (await headOf(path, { json: true })).out)
    expect((await verifyOf(path, [file, older], vkey)).status).toBe(0)
  })

  test('tells without one that nothing is proven', async () => {
    const { path } = shared
    expect((await verifyOf(path, [])).out).toContain('Unproven: positions 1 to 4.')
  })

  test.each([
    ['whose size was changed', (note: string) => note.replace('\n4\n', '\n3\n'), 'its signature does not match its text'],
    ['whose root was changed', (note: string) => note.replace(/\n4\n.{4}/, '\n4\nAAAA'), 'its signature does not match its text'],
    ['that another key signed', (note: string) => note.replace(/ (\S{6})(\S+)\n$/, ' AAAAAA$2\n'), 'it is not signed by mindledger/'],
  ])('refuses a head %s', async (_, change, what) => {
    const { path, file, note } = shared
    writeFileSync(file, change(note))
    const { status, out } = await verifyOf(path, [file])
    expect([status, out]).toEqual([1, expect.stringContaining(what)])
    expect(out).toContain('Unproven: positions 1 to 4')
  })

  test('a history that was made anew, with a chain, a tree and a key of its own, is found by the head that was kept', async () => {
    const { path, service, file, vkey } = await kept()
    await service.close()
    const other = await kept()
    await other.service.close()
    // Who can write the data directory can make one that holds in itself, under the same id even.
    const id = service.log.id
    renameSync(join(other.path, 'data'), join(path, 'forged'))
    renameSync(join(path, 'data'), join(path, 'honest'))
    renameSync(join(path, 'forged'), join(path, 'data'))
    expect((await verifyOf(path, [])).status).toBe(0)
    expect((await verifyOf(path, [file])).status).toBe(1)
    const db = new Database(join(path, 'data', 'log.sqlite'))
    db.prepare(`UPDATE meta SET value = ? WHERE key = 'head_keys'`).run(vkey)
    db.prepare(`UPDATE meta SET value = ? WHERE key = 'log_id'`).run(id)
    db.close()
    expect((await verifyOf(path, [file], vkey)).out).toContain('position 4: the root differs from the head that was kept')
    expect(readVerifierKey(vkey)).toBeDefined()
  })

  test('refuses a text that is no key', async () => {
    const { path, file } = shared
    await expect(verifyOf(path, [file], 'no key')).rejects.toThrow('--vkey is not a verifier key')
  })
})

describe('HEAD_FILE', () => {
  const heads = (file: string) => (existsSync(file) ? readHeads(file) : [])
  const positions = (file: string) => heads(file).map(({ head: { position } }) => position)

  test('gets a head at the start, at an interval in which the log grew, and at the end', async () => {
    const path = place()
    const file = join(path, 'heads.txt')
    const service = await serve(path, { HEAD_FILE: file, HEAD_INTERVAL: '1s' })
    expect(positions(file)).toEqual([1])
    await grow(service, 'one')
    // The file has a head before the status says so.
    const told = async () => ((await send(service.url, 'GET', '/api/status')).body as { heads: { position: number | null } }).heads
    await until(async () => (await told()).position === 2)
    expect(await told()).toMatchObject({ file, position: 2, error: null })
    expect(positions(file)).toEqual([1, 2])
    await grow(service, 'two')
    await service.close()
    expect(positions(file)).toEqual([1, 2, 3])
    const key = readVerifierKey((await headOf(path, { key: true })).out.trim())!
    expect(heads(file).map(({ note }) => judge(note!, key))).toEqual(['signed', 'signed', 'signed'])
    await (await serve(path, { HEAD_FILE: file })).close()
    expect(positions(file)).toEqual([1, 2, 3, 3])
    expect((await verifyOf(path, [file])).status).toBe(0)
  })

  test('that cannot be written stops nothing, and shows in the status', async () => {
    const path = place()
    const file = join(path, 'not', 'there.txt')
    const service = await serve(path, { HEAD_FILE: file })
    expect((await grow(service, 'one')).status).toBe(201)
    const { body } = await send(service.url, 'GET', '/api/status')
    expect(body).toMatchObject({ heads: { file, position: null, error: expect.stringContaining('ENOENT') as unknown } })
    await service.close()
  })

  test.each(['0s', '1', 'soon', '21d', '1w'])('an interval of %s is refused by name', (interval) =>
    expect(() => configOf('/tmp', { HEAD_INTERVAL: interval })).toThrow('HEAD_INTERVAL: must be a time from 1s to 20d'),
  )
})
