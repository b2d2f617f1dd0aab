import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { dataPaths, prepareDataDirectory } from '../../../src/setup/data-directory.js'
import { SqliteLog } from '../../../src/log/sqlite/sqlite-log.js'
import { masterKeys } from '../../../src/vault/key-files.js'
import { Vault } from '../../../src/vault/vault.js'
import { cliFile, mindledger } from '../../support/cli.js'
import { stream, temporaryDirectory, writes } from '../../support/log/log.js'

let place: ReturnType<typeof temporaryDirectory>
let keyFile: string
beforeEach(async () => {
  place = temporaryDirectory()
  const paths = prepareDataDirectory(join(place.path, 'data'))
  keyFile = paths.vaultKey
  const vault = new Vault(...masterKeys(paths))
  const log = new SqliteLog({ file: paths.log, vault })
  const secret = vault.seal(Buffer.from('sk-1'))
  const data = { project: stream(1), name: 's', type: 't', params: { token: { $secret: secret.hash } } }
  await log.submit({ ...writes({ stream: stream(2), event: { type: 'SkillCreated', data } }), payloads: [secret] })
  await log.close()
})
afterEach(() => place.remove())

/** Backs the log up, and restores it into a directory in which a master key waits for it. */
const restoreWith = async (name: string, putKey: (file: string) => void) => {
  const environment = { DATA_DIR: join(place.path, 'data') }
  const backup = join(place.path, `backup ${name}`)
  expect(await mindledger(['backup', '--into', backup], environment)).toMatchObject({ code: 0 })
  const into = join(place.path, name)
  mkdirSync(into)
  putKey(dataPaths(into).vaultKey)
  const ended = await mindledger(['restore', backup, '--into', into], environment)
  return { ...ended, isThere: existsSync(dataPaths(into).log) }
}

test('a restore checks payloads with the key that waits in the directory, and refuses another log’s', async () => {
  const own = (file: string) => copyFileSync(keyFile, file)
  expect(await restoreWith('sound', own)).toMatchObject({ code: 0, isThere: true, out: expect.not.stringContaining('Bring the master') })
  const foreign = await restoreWith('foreign', (file) => writeFileSync(file, `${randomBytes(32).toString('hex')}\n`))
  expect(foreign).toMatchObject({ code: 2, isThere: false })
  expect(foreign.err).toMatch(/foreign\/vault\.key holds another one/)
  const db = new Database(join(place.path, 'data/log.sqlite'))
  db.exec('UPDATE payloads SET wrapped = zeroblob(length(wrapped))')
  db.close()
  const damaged = await restoreWith('damaged', own)
  expect(damaged).toMatchObject({ code: 1, isThere: false })
  expect(damaged.out).toContain('the key of its payload is not one that was wrapped under the master key')
})

test('indexes of an earlier log in the directory do not outlive a restore, and a full disk is no damage of the backup', async () => {
  const environment = { DATA_DIR: join(place.path, 'data') }
  const backup = join(place.path, 'backup')
  expect(await mindledger(['backup', '--into', backup], environment)).toMatchObject({ code: 0 })
  const into = join(place.path, 'used')
  const { knowledge } = dataPaths(into)
  mkdirSync(knowledge, { recursive: true })
  writeFileSync(join(knowledge, 'earlier.sqlite'), 'newer than the backup')
  copyFileSync(keyFile, dataPaths(into).vaultKey)
  const full = spawnSync('sh', ['-c', `ulimit -f 8 && exec "${process.execPath}" "${cliFile}" restore "${backup}" --into "${into}"`], {
    env: { ...process.env, ...environment },
    encoding: 'utf8',
  })
  expect(full.status).not.toBe(0)
  expect(full.stderr).not.toMatch(/damaged/)
  expect(await mindledger(['restore', backup, '--into', into], environment)).toMatchObject({ code: 0 })
  expect(existsSync(knowledge)).toBe(false)
})
