import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { diskFull, isDiskFull } from '../../../src/basics/errors.js'
import { cliFile, freePort, mindledger, mindledgerWithoutRights } from '../../support/cli.js'
import { until } from '../../support/until.js'
import { restartable, send, sql, temporaryDirectory } from '../../support/service.js'

let place: ReturnType<typeof restartable>
beforeEach(() => {
  place = restartable()
})
afterEach(() => place.remove())

const chmodAll = (path: string, directories: number, files: number): void => {
  const isDirectory = lstatSync(path).isDirectory()
  if (isDirectory) for (const name of readdirSync(path)) chmodAll(join(path, name), directories, files)
  chmodSync(path, isDirectory ? directories : files)
}

test('on a directory that cannot be written, commands that need to say so in one line, and never with the status of a difference', async () => {
  const url = await place.start()
  await send(url, 'POST', '/api/projects/mindsdb/skills', { skill: { name: 'one', type: 'sql', params: {} } })
  await place.stop()
  chmodAll(place.path, 0o555, 0o444)
  try {
    for (const args of [['diff'], ['reproduce', '--all'], ['rebuild'], ['log'], ['verify'], ['sql', 'SELECT 1']]) {
      const { code, out, err } = await mindledgerWithoutRights(args, { DATA_DIR: place.path })
      expect({ args, code, out }).toEqual({ args, code: 2, out: '' })
      expect(err).toMatch(/^mindledger: [^\n]+\n$/)
      if (args[0] === 'verify') expect(err).toContain('or read a backup')
    }
  } finally {
    chmodAll(place.path, 0o755, 0o644)
  }
})

test('on a backup that cannot be written, commands that need to say that it is a backup', async () => {
  const url = await place.start()
  await send(url, 'POST', '/api/projects/mindsdb/skills', { skill: { name: 'one', type: 'sql', params: {} } })
  await place.stop()
  const outside = temporaryDirectory()
  const backup = join(outside.path, 'backup')
  expect(await mindledger(['backup', '--into', backup], { DATA_DIR: place.path })).toMatchObject({ code: 0 })
  const keys = { VAULT_KEY: readFileSync(join(place.path, 'vault.key'), 'utf8').trim() }
  chmodAll(backup, 0o555, 0o444)
  try {
    for (const args of [['diff'], ['rebuild'], ['sql', 'SELECT 1']]) {
      const { code, out, err } = await mindledgerWithoutRights(args, { DATA_DIR: backup, ...keys })
      expect({ args, code, out }).toEqual({ args, code: 2, out: '' })
      expect(err).toMatch(/^mindledger: [^\n]+ is a backup, which stays as it is\. [^\n]+\n$/)
    }
  } finally {
    chmodAll(backup, 0o755, 0o644)
    outside.remove()
  }
})

test('directories that can never be are told in one line, at once', async () => {
  for (const directory of ['/proc/x', '/dev/null', '/dev/null/x', join(place.path, 'x'.repeat(300))]) {
    if (directory.startsWith('/proc') && !existsSync('/proc')) continue
    const { code, out, err } = await mindledger(['serve'], { DATA_DIR: directory, PORT: '0' })
    expect({ directory, code, out }).toEqual({ directory, code: 2, out: '' })
    expect(err).toMatch(/^mindledger: .* cannot be used as data directory: [^\n]+\n$/)
  }
})

describe('a full disk', () => {
  test('is known by the code of the system and by the words of DuckDB', () => {
    expect(isDiskFull(Object.assign(new Error('write'), { code: 'ENOSPC' }))).toBe(true)
    expect(isDiskFull(new Error('IO Error: Could not write file "x": No space left on device'))).toBe(true)
    expect(isDiskFull(new Error('no such file'))).toBe(false)
    expect(diskFull(new Error('secret path')).status).toBe(507)
  })

  const mounts = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0
  const onLinux = mounts ? test : test.skip

  onLinux('refuses an upload and a table of a query, and takes them when there is room', async () => {
    const outside = temporaryDirectory()
    const port = await freePort()
    const data = join(outside.path, 'data')
    mkdirSync(data)
    const script = `mount -t tmpfs -o size=12m tmpfs ${data} && exec ${process.execPath} ${cliFile} serve`
    const env = { ...process.env, DATA_DIR: data, PORT: String(port), LOG_LEVEL: 'silent' }
    const child = spawn('unshare', ['-rm', 'sh', '-c', script], { env, stdio: ['ignore', 'ignore', 'inherit'] })
    const ended = once(child, 'exit')
    try {
      const url = `http://127.0.0.1:${port}`
      await until(async () => (await send(url, 'GET', '/health').catch(() => undefined))?.status === 200)
      const upload = (name: string, bytes: number) => {
        const form = new FormData()
        form.set('file', new Blob(['a,b\n', '1,2\n'.repeat(bytes / 4)]), 'rows.csv')
        return send(url, 'PUT', `/api/files/${name}`, form)
      }
      expect(await upload('large', 16 * 1024 * 1024)).toMatchObject({ status: 507, body: { code: 'disk_full' } })
      const table = (rows: number) =>
        sql(url, `CREATE OR REPLACE TABLE files.made (SELECT md5(i::VARCHAR) AS a FROM range(${rows}) AS t(i))`)
      expect((await table(2_000_000)).error_message).toMatch(/^the disk of the data directory has no room .*\nFree disk space/)
      expect((await upload('small', 4_000)).status).toBe(200)
      expect(await table(1_000)).toMatchObject({ type: 'ok', affected_rows: 1_000 })
    } finally {
      child.kill('SIGTERM')
      await ended
      outside.remove()
    }
  })
})
