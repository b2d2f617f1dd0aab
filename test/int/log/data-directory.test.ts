import { describe, expect, test } from '@jest/globals'
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from '../../../src/setup/config.js'
import {
  checkDataDirectory,
  dataFormat,
  dataPaths,
  lockDataDirectory,
  nodeIdOf,
  prepareDataDirectory,
  type DataPaths,
} from '../../../src/setup/data-directory.js'
import { MissingKeyError } from '../../../projections/problem.js'
import { openLogReader } from '../../../src/log/sqlite/log-reader.js'
import { SqliteLog } from '../../../src/log/sqlite/sqlite-log.js'
import { findMasterKeys, masterKeys } from '../../../src/vault/key-files.js'
import { Vault } from '../../../src/vault/vault.js'
import { projectCreated, temporaryDirectory, testKey, writes } from '../../support/log/log.js'

const inDirectory = async (run: (root: string) => unknown): Promise<void> => {
  const { path, remove } = temporaryDirectory()
  try {
    await run(join(path, 'data'))
  } finally {
    remove()
  }
}
const refused = (act: () => unknown, ...says: string[]): void => {
  try {
    act()
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError)
    for (const part of says) expect((error as ConfigError).message).toContain(part)
    return
  }
  throw new Error('was not refused')
}

describe('data directory', () => {
  test('is made with its format, for its owner alone, and found again as it is', () =>
    inDirectory((root) => {
      const paths = prepareDataDirectory(root)
      expect(readFileSync(paths.format, 'utf8')).toBe(`${dataFormat}\n`)
      expect(statSync(root).mode & 0o777).toBe(0o700)
      expect(prepareDataDirectory(root)).toEqual(paths)
      refused(() => checkDataDirectory(root), 'holds no log')
      writeFileSync(paths.log, '')
      expect(checkDataDirectory(root)).toEqual(paths)
    }))

  test('a newer format is refused, and what to do is said', () =>
    inDirectory((root) => {
      const { format } = prepareDataDirectory(root)
      writeFileSync(format, `${dataFormat + 1}\n`)
      refused(() => prepareDataDirectory(root), `format ${dataFormat + 1}`, 'newer release')
      refused(() => checkDataDirectory(root), 'newer release')
    }))

  test.each(['', 'one', '0', '-1', '1.5'])('a FORMAT file that says %j is refused', (said) =>
    inDirectory((root) => {
      const { format } = prepareDataDirectory(root)
      writeFileSync(format, said)
      refused(() => prepareDataDirectory(root), format)
    }),
  )

  test('a log without its FORMAT file is refused, and so is a directory that is none', () =>
    inDirectory((root) => {
      mkdirSync(root)
      writeFileSync(dataPaths(root).log, '')
      refused(() => prepareDataDirectory(root), 'no FORMAT file')
      refused(() => checkDataDirectory(root), 'is not a data directory', 'DATA_DIR')
    }))

  test.each([
    ['FORMAT', 'd.prepareDataDirectory(root)', (paths: DataPaths) => prepareDataDirectory(paths.root)],
    ['node.id', 'd.nodeIdOf(d.prepareDataDirectory(root))', nodeIdOf],
  ])('a start that ended while it wrote %s leaves no part of it, and the next one goes on', (name, first, next) =>
    inDirectory((root) => {
      if (name !== 'FORMAT') prepareDataDirectory(root)
      const module = new URL('../../../src/setup/data-directory.js', import.meta.url).href
      const code = `const root = ${JSON.stringify(root)}; const d = await import(${JSON.stringify(module)}); ${first}`
      // The system lets it make the file, and no byte of it.
      const { status } = spawnSync('sh', ['-c', 'ulimit -f 0; exec "$0" "$@"', process.execPath, '--input-type=module', '-e', code])
      expect(status).not.toBe(0)
      expect(existsSync(join(root, name))).toBe(false)
      next(dataPaths(root))
      expect(readFileSync(join(root, name), 'utf8')).not.toBe('')
    }),
  )

  test('a path that cannot be a directory is named', () =>
    inDirectory((root) => {
      writeFileSync(root, 'a file')
      refused(() => prepareDataDirectory(root), root, 'cannot be used as data directory')
    }))

  test('a directory that this user may not write is named, and not taken for one in use', () =>
    inDirectory((root) => {
      const paths = prepareDataDirectory(root)
      chmodSync(join(root, '..'), 0o755)
      chmodSync(root, 0o555)
      const asNobody = process.geteuid?.() === 0
      if (asNobody) process.seteuid?.(65_534)
      try {
        refused(() => lockDataDirectory(paths), root, 'cannot be used as data directory')
        refused(() => prepareDataDirectory(join(root, 'below')), 'below', 'EACCES')
      } finally {
        if (asNobody) process.seteuid?.(0)
        chmodSync(root, 0o700)
      }
    }))

  test('a second server is refused in the same process, and may come when the first has gone', () =>
    inDirectory((root) => {
      const paths = prepareDataDirectory(root)
      const release = lockDataDirectory(paths)
      refused(() => lockDataDirectory(paths), 'in use by another server', root)
      release()
      lockDataDirectory(paths)()
    }))

  test('a second server is refused from another process, also when the first one was killed only a moment ago', () =>
    inDirectory(async (root) => {
      const paths = prepareDataDirectory(root)
      const module = new URL('../../../src/setup/data-directory.js', import.meta.url).href
      const code = `const d = await import(${JSON.stringify(module)}); d.lockDataDirectory(d.dataPaths(${JSON.stringify(root)})); console.log('locked'); setInterval(() => {}, 1000)`
      const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
      const ended = new Promise((resolve) => child.once('exit', resolve))
      try {
        await new Promise((resolve) => child.stdout.once('data', resolve))
        refused(() => lockDataDirectory(paths), 'in use by another server')
      } finally {
        child.kill('SIGKILL')
        await ended
      }
      lockDataDirectory(paths)()
    }))

  test('what an earlier server left half-done is removed, and nothing else', () =>
    inDirectory((root) => {
      const paths = prepareDataDirectory(root)
      lockDataDirectory(paths)()
      writeFileSync(join(paths.temporary, 'half'), '')
      writeFileSync(join(paths.blobs, 'whole'), '')
      lockDataDirectory(paths)()
      expect(existsSync(join(paths.temporary, 'half'))).toBe(false)
      expect(existsSync(join(paths.blobs, 'whole'))).toBe(true)
    }))
})

describe('master key', () => {
  test('is made once, for its owner alone, and kept', () =>
    inDirectory((root) => {
      const paths = prepareDataDirectory(root)
      const mask = process.umask(0)
      const [key] = masterKeys(paths)
      process.umask(mask)
      expect(statSync(paths.vaultKey).mode & 0o777).toBe(0o600)
      expect(key).toHaveLength(32)
      expect(masterKeys(paths)).toEqual([key])
      expect(findMasterKeys(paths)).toEqual([key])
    }))

  test('a given key is used, and not written down', () =>
    inDirectory((root) => {
      const paths = prepareDataDirectory(root)
      expect(masterKeys(paths, [testKey])).toEqual([testKey])
      expect(existsSync(paths.vaultKey)).toBe(false)
    }))

  test('a lost key is refused as soon as there is a log, instead of making another one', () =>
    inDirectory(async (root) => {
      const paths = prepareDataDirectory(root)
      await new SqliteLog({ file: paths.log, vault: new Vault(...masterKeys(paths)) }).close()
      rmSync(paths.vaultKey)
      refused(() => masterKeys(paths), 'master key is lost', paths.vaultKey, 'VAULT_KEY')
      expect(existsSync(paths.vaultKey)).toBe(false)
    }))

  test('a key file that holds something else is refused', () =>
    inDirectory((root) => {
      const paths = prepareDataDirectory(root)
      writeFileSync(paths.vaultKey, 'not a key')
      refused(() => masterKeys(paths), paths.vaultKey, '64 hex digits')
    }))

  test('another key than the log was sealed with is refused, names both, and leaves the log free', () =>
    inDirectory(async (root) => {
      const { log: file } = prepareDataDirectory(root)
      const [right, wrong] = [new Vault(testKey), new Vault(Buffer.alloc(32))]
      await new SqliteLog({ file, vault: right }).close()
      refused(() => new SqliteLog({ file, vault: wrong }), right.keyId, wrong.keyId, 'VAULT_KEY')
      expect(existsSync(`${file}-wal`)).toBe(false)
      await new SqliteLog({ file, vault: right }).close()
    }))
})

describe('reading beside the server', () => {
  test('sees every commit at once, and payloads with the key', () =>
    inDirectory(async (root) => {
      const paths = prepareDataDirectory(root)
      const vault = new Vault(testKey)
      const log = new SqliteLog({ file: paths.log, vault })
      const reader = openLogReader(root, [testKey])
      const [keyless, wrong] = [openLogReader(root), openLogReader(root, [Buffer.alloc(32)])]
      expect([reader.id, reader.head(), reader.read(0, 10)]).toEqual([log.id, 0, []])
      const payload = vault.seal(Buffer.from('rows'))
      const data = { project: projectCreated(1).stream as never, name: 's', type: 't', params: { token: { $secret: payload.hash } } }
      for (let i = 1; i <= 20; i++) {
        await log.submit(writes(projectCreated(i)))
        expect(reader.head()).toBe(i)
        await reader.confirm()
        expect(reader.read(i - 1, 10)).toEqual(await log.readAll(i - 1, 10))
      }
      await log.submit({ ...writes({ stream: 's', event: { type: 'SkillCreated', data } }), payloads: [payload] })
      expect(reader.payload(payload.hash)?.toString()).toBe('rows')
      expect([keyless.payload(payload.hash), wrong.payload(payload.hash), reader.payload('x')]).toEqual([undefined, undefined, undefined])
      // Who keeps what it reads does not take it for erased.
      const keeping = openLogReader(root, [Buffer.alloc(32)], true)
      expect(() => keeping.payload(payload.hash)).toThrow(MissingKeyError)
      keeping.useKeys([testKey])
      expect([keeping.payload(payload.hash)?.toString(), keeping.payload('x')]).toEqual(['rows', undefined])
      for (const one of [reader, keyless, wrong, keeping]) one.close()
      await log.close()
    }))

  test('a page of it stays whole while the server goes on writing', () =>
    inDirectory(async (root) => {
      const { log: file } = prepareDataDirectory(root)
      const log = new SqliteLog({ file, vault: new Vault(testKey) })
      const reader = openLogReader(root)
      const seen: number[] = []
      const writing = (async () => {
        for (let i = 0; i < 30; i++)
          await Promise.all(Array.from({ length: 20 }, (_, j) => log.submit(writes(projectCreated(i * 20 + j + 1)))))
      })()
      while (seen.length < 600) {
        for (const { position } of reader.read(seen.length, 100)) seen.push(position)
        await new Promise((resolve) => setImmediate(resolve))
      }
      await writing
      expect(seen).toEqual(seen.map((_, i) => i + 1))
      reader.close()
      await log.close()
    }))

  test('without a log there is a message', () =>
    inDirectory((root) => {
      prepareDataDirectory(root)
      refused(() => openLogReader(root), root, 'holds no log')
    }))
})
