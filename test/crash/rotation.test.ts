import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test } from '@jest/globals'
import Database from 'better-sqlite3'
import { verifyLog } from '../../src/log/verify/verify.js'
import { dataPaths } from '../../src/setup/data-directory.js'
import { findMasterKeys } from '../../src/vault/key-files.js'
import { Vault, MasterKey } from '../../src/vault/vault.js'
import { countOf } from '../support/counts.js'
import { send, spawnService, sql, temporaryDirectory } from '../support/service.js'

const rounds = countOf('ROTATIONS')
const writers = 8
const directory = temporaryDirectory()
afterEach(() => directory.remove())

type Row = { hash: string; keyId: string; wrapped: Buffer; body: Buffer }

const rowsOf = (file: string): Row[] => {
  const db = new Database(file, { readonly: true })
  const rows = db.prepare<[], Row>('SELECT hash, key_id AS keyId, wrapped, body FROM payloads').all()
  db.close()
  return rows
}

const skillNamed = (name: string) => ({ skill: { name, type: 'sql', params: { api_key: `sk-${name}`, n: 1 } } })

/** Writes skills with secrets until it is stopped, each under a key of its own; those that were acknowledged are noted. */
const write = async (url: string, prefix: string, acknowledged: Set<string>, isStopped: () => boolean): Promise<void> => {
  for (let n = 0; !isStopped(); n++) {
    const name = `${prefix}_${n}`
    const answer = await send(url, 'POST', '/api/projects/mindsdb/skills', skillNamed(name), { 'Idempotency-Key': name }).catch(
      () => undefined,
    )
    if (!answer) return
    if (answer.status === 201) acknowledged.add(name)
  }
}

const isDone = async (url: string): Promise<boolean> => {
  const { rotation } = (await send(url, 'GET', '/api/log/rotations')).body as { rotation: { position: number | null } | null }
  return rotation === null || rotation.position !== null
}

test('payloads are readable with the key in use, and with no other, whenever a rotation is cut off', async () => {
  const acknowledged = new Set<string>()
  const former: Buffer[] = []
  const paths = dataPaths(directory.path)
  for (let round = 0; round < rounds; round++) {
    const { child, url, ended } = await spawnService(directory.path)
    let stopped = false
    const loops = Array.from({ length: writers }, (_, writer) => write(url, `r${round}_w${writer}`, acknowledged, () => stopped))
    await sleep(200)
    former.push(...findMasterKeys(paths).filter((key) => !former.some((known) => known.equals(key))))
    const begun = send(url, 'POST', '/api/log/rotations').catch(() => undefined)
    await sleep(Math.random() * 120)
    child.kill('SIGKILL')
    await ended
    stopped = true
    await Promise.all([...loops, begun])
    former.push(...findMasterKeys(paths).filter((key) => !former.some((known) => known.equals(key))))
  }

  const { child, url, ended } = await spawnService(directory.path)
  while (!(await isDone(url))) await sleep(20)
  // What was asked before a rotation is known after it.
  for (const name of [...acknowledged].slice(0, 5)) {
    const again = await send(url, 'POST', '/api/projects/mindsdb/skills', skillNamed(name), { 'Idempotency-Key': name })
    expect([name, again.status]).toEqual([name, 201])
  }
  const counted = await sql(url, 'SELECT count(*) AS n FROM skills')
  expect(Number(counted.data[0]?.[0])).toBeGreaterThanOrEqual(acknowledged.size)
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])

  const [key, ...others] = findMasterKeys(paths) as [Buffer]
  expect(others).toEqual([])
  const rows = rowsOf(paths.log)
  expect(rows.length).toBeGreaterThanOrEqual(acknowledged.size)
  const vault = new Vault(key)
  expect(rows.filter((row) => vault.open(row) === undefined)).toEqual([])
  for (const old of former.filter((one) => !one.equals(key)))
    expect(rows.filter((row) => new Vault(old).open({ ...row, keyId: new MasterKey(old).id }))).toEqual([])
  expect(await verifyLog({ logFile: paths.log })).toMatchObject({ ok: true, payloads: { erased: 0 } })
})
