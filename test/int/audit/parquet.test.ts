import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createHash } from 'node:crypto'
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { FolderStore } from '../../../src/archive/folder-store.js'
import { writeArchive } from '../../../src/archive/write-archive.js'
import { findHeadSigner } from '../../../src/audit/head-key.js'
import { noteSigner, type NoteSigner } from '../../../src/audit/note-key.js'
import { limits } from '../../../src/basics/limits.js'
import { openLogReader } from '../../../src/log/sqlite/log-reader.js'
import { dataPaths } from '../../../src/setup/data-directory.js'
import { freePort, mindledger } from '../../support/cli.js'
import { send, spawnService, temporaryDirectory } from '../../support/service.js'

const place = temporaryDirectory()
const data = join(place.path, 'data')
const environment = { DATA_DIR: data, PORT: '' }
const at = (name: string): string => join(place.path, name)
const cli = (...args: string[]) => mindledger(args, environment, place.path)
/** As an auditor runs it, who has no data directory. */
const check = (name: string, ...args: string[]) =>
  mindledger(['verify', '--parquet', name, '--vkey', 'key.txt', ...args], { DATA_DIR: at('nothing') }, place.path)
let server: Awaited<ReturnType<typeof spawnService>>

const signer = (): NoteSigner => {
  const reader = openLogReader(data)
  try {
    return findHeadSigner(dataPaths(data), undefined, reader)
  } finally {
    reader.close()
  }
}

/** Writes an export with short ranges. */
const write = async (name: string, size: number): Promise<number> => {
  const reader = openLogReader(data)
  try {
    return (await writeArchive({ store: new FolderStore(at(name)), reader, signer: signer(), size, rangePositions: 20 })).written
  } finally {
    reader.close()
  }
}
const copy = (name: string): string => {
  cpSync(at('whole'), at(name), { recursive: true })
  return name
}
const second = 'events/000000000021-000000000040.parquet'
const secondManifest = 'ranges/000000000021-000000000040.json'

/** A copy in the first format, as the first release wrote it. */
const older = (name: string, size: number): void => {
  copy(name)
  const read = (path: string) => JSON.parse(readFileSync(at(`${name}/${path}`), 'utf8')) as Record<string, unknown>
  const ranges = readdirSync(at(`${name}/ranges`)).map((file) => {
    const { from, to, chain, files } = read(`ranges/${file}`)
    return { from, to, chain, files }
  })
  const { log, range_positions, chain, checkpoint, key } = read('manifest.json')
  const body = { mindledger_parquet: 1, log, range_positions, size, chain, checkpoint, key, ranges }
  const hash = createHash('sha256').update(JSON.stringify(body)).digest('hex')
  const signature = signer().sign(`mindledger parquet export\n${String(log)}\n${hash}\n`)
  writeFileSync(at(`${name}/manifest.json`), JSON.stringify({ ...body, signature }, null, 1))
  rmSync(at(`${name}/ranges`), { recursive: true })
}

beforeAll(async () => {
  environment.PORT = String(await freePort())
  server = await spawnService(data, environment)
  await send(server.url, 'POST', '/api/projects', { project: { name: 'shop' } })
  for (let n = 0; n < 60; n++)
    await send(server.url, 'POST', '/api/projects/shop/skills', { skill: { name: `s${n}`, type: 'sql', params: { n: `"${n}é` } } })
  writeFileSync(at('key.txt'), await (await fetch(`${server.url}/api/log/key`)).text())
  writeFileSync(at('old.txt'), await (await fetch(`${server.url}/api/log/checkpoint?size=30`)).text())
  await write('whole', 50)
})
afterAll(async () => {
  server.child.kill('SIGKILL')
  await server.ended
  place.remove()
})

describe('an export of Parquet files', () => {
  test('is checked against a head without the data directory, and DuckDB reads it', async () => {
    const said = await check('whole', '--head', 'old.txt')
    expect(said).toMatchObject({ code: 0, err: '' })
    expect(said.out).toContain('The export holds: 50 events')
    expect(said.out).toContain('Proven: positions 1 to 30')
    const connection = await (await DuckDBInstance.create()).connect()
    const read = await connection.runAndReadAll(`SELECT count(*), max(position) FROM '${at('whole')}/events/*.parquet'`)
    expect(read.getRows()).toEqual([[50n, 50n]])
    connection.closeSync()
  })

  test('is checked with a file of several keys, one of which signed it', async () => {
    const other = noteSigner('another', Buffer.alloc(32, 1)).vkey
    const checked = async (keys: string) => {
      writeFileSync(at('keys.txt'), keys)
      const args = ['verify', '--parquet', 'whole', '--head', 'old.txt', '--vkey', 'keys.txt']
      return (await mindledger(args, { DATA_DIR: at('nothing') }, place.path)).code
    }
    expect(await checked(`${other}\n${readFileSync(at('key.txt'), 'utf8')}`)).toBe(0)
    expect(await checked(other)).toBe(1)
  })

  test('holds in a folder whose name looks like a column and its value', async () => {
    expect(await check(copy('day=2026-01-01'))).toMatchObject({ code: 0, err: '' })
  })

  test('keeps a range that another process finished meanwhile: one that was halted does not take its manifest away', async () => {
    let overtake: (() => Promise<unknown>) | undefined = () => write('overtaken', 40)
    /** A place whose files are made elsewhere, as on another machine. */
    class Overtaken extends FolderStore {
      override async work(): Promise<string> {
        return mkdtempSync(at('work-'))
      }
      override async readText(name: string, maxBytes: number): Promise<string | undefined> {
        const text = await super.readText(name, maxBytes)
        if (name !== secondManifest) return text
        const first = overtake
        overtake = undefined
        await first?.()
        return text
      }
    }
    await write('overtaken', 20)
    const reader = openLogReader(data)
    const late = writeArchive({ store: new Overtaken(at('overtaken')), reader, signer: signer(), size: 40, rangePositions: 20 })
    await expect(late).rejects.toThrow(`another process wrote ${secondManifest} meanwhile`)
    reader.close()
    expect((await check('overtaken')).out).toContain('The export holds: 40 events')
  })

  test('by the command ends at a position, and again writes nothing that is complete', async () => {
    const written = await cli('export', '--parquet', 'told', '--until', '40')
    expect(written).toMatchObject({ code: 0, err: '' })
    expect((await cli('export', '--parquet', 'told', '--until', '40')).out).toContain('ranges written: 0')
    expect(await check('told')).toMatchObject({ code: 0 })
  })

  test('goes on where it ended: complete ranges stay, the last one is replaced, the bytes are those of one run', async () => {
    await write('grown', 30)
    const first = at('grown/events/000000000001-000000000020.parquet')
    const before = statSync(first).mtimeMs
    expect(await write('grown', 50)).toBe(2)
    expect(statSync(first).mtimeMs).toBe(before)
    expect(readdirSync(at('grown/events'))).toEqual(readdirSync(at('whole/events')))
    expect(readFileSync(at('grown/manifest.json'), 'utf8')).toBe(readFileSync(at('whole/manifest.json'), 'utf8'))
  })

  test('of the first format goes on in the second: every file of Parquet stays', async () => {
    older('upgraded', 50)
    const before = statSync(at(`upgraded/${second}`)).mtimeMs
    expect(await write('upgraded', 55)).toBe(1)
    expect(statSync(at(`upgraded/${second}`)).mtimeMs).toBe(before)
    expect(readFileSync(at(`upgraded/${secondManifest}`), 'utf8')).toBe(readFileSync(at(`whole/${secondManifest}`), 'utf8'))
    expect(await check('upgraded', '--head', 'old.txt')).toMatchObject({ code: 0 })
  })

  test('says in each range what it follows on, and in a manifest of constant size how far it is', () => {
    expect(readdirSync(at('whole/ranges'))).toHaveLength(3)
    const size = (name: string): number => statSync(at(`${name}/manifest.json`)).size
    expect(Math.abs(size('whole') - size('grown'))).toBeLessThan(10)
    const [first, next] = ['ranges/000000000001-000000000020.json', secondManifest].map(
      (file) => JSON.parse(readFileSync(at(`whole/${file}`), 'utf8')) as { before: string; chain: string },
    )
    expect(next?.before).toBe(first?.chain)
  })

  test('goes on after it was killed in the middle of a file', async () => {
    await write('killed', 20)
    mkdirSync(at('killed/.part/range-x'), { recursive: true })
    writeFileSync(at('killed/.part/range-x/events.parquet'), 'PAR1')
    writeFileSync(at(`killed/${second}`), 'named, but the manifest was not written')
    await write('killed', 50)
    expect(existsSync(at('killed/.part'))).toBe(false)
    expect(readFileSync(at('killed/manifest.json'), 'utf8')).toBe(readFileSync(at('whole/manifest.json'), 'utf8'))
    expect(await check('killed')).toMatchObject({ code: 0 })
  })

  test('goes on after the disk was full before the first manifest, which leaves empty folders', async () => {
    for (const table of ['events', 'predictions', 'outcomes', 'answers']) mkdirSync(at(`cut/${table}`), { recursive: true })
    expect(await write('cut', 50)).toBe(3)
    expect(await check('cut')).toMatchObject({ code: 0 })
  })

  test('is not begun in a directory that has anything else, and does not go back', async () => {
    mkdirSync(at('other'))
    writeFileSync(at('other/letter.txt'), 'mine')
    const refused = await cli('export', '--parquet', 'other')
    expect(refused.code).toBe(2)
    expect(refused.err).toContain('is not empty and not an export')
    expect(readdirSync(at('other'))).toEqual(['letter.txt'])
    await expect(write('whole', 40)).rejects.toThrow('goes up to position 50 already')
  })
})

describe('what was changed afterwards is named', () => {
  const holdsNot = async (name: string, ...faults: string[]) => {
    const said = await check(name)
    expect(said.code).toBe(1)
    for (const fault of faults) expect(said.out).toContain(fault)
  }

  test('a file', async () => {
    appendFileSync(at(`${copy('changed')}/${second}`), 'x')
    await holdsNot('changed', `${second} was changed`)
  })

  test('a file that is gone, and is written again by the next export', async () => {
    rmSync(at(`${copy('gone')}/${second}`))
    await holdsNot('gone', `${second} is missing`)
    expect(await write('gone', 50)).toBe(1)
    expect(await check('gone')).toMatchObject({ code: 0 })
  })

  test('a file that nobody named', async () => {
    cpSync(at(`${copy('more')}/${second}`), at('more/events/again.parquet'))
    await holdsNot('more', 'events/again.parquet is not in the manifest')
  })

  test('the manifest of a range: changed, gone, or of another range', async () => {
    const path = at(`${copy('range')}/${secondManifest}`)
    const text = readFileSync(path, 'utf8')
    writeFileSync(path, text.replace('"rows": 20', '"rows": 19'))
    await holdsNot('range', `${secondManifest} is not signed by this key, or was changed`)
    writeFileSync(path, readFileSync(at(`range/${secondManifest.replaceAll('21', '01').replaceAll('40', '20')}`)))
    await holdsNot('range', `${secondManifest} does not follow from the previous range`)
    rmSync(path)
    await holdsNot('range', 'no manifest describes positions 21 to 40')
    expect(await write('range', 50)).toBe(1)
    expect(readFileSync(path, 'utf8')).toBe(text)
    expect(await check('range')).toMatchObject({ code: 0 })
  })

  test('an end that was cut off, or said to be elsewhere', async () => {
    const path = at(`${copy('short')}/manifest.json`)
    const manifest = JSON.parse(readFileSync(path, 'utf8')) as { size: number }
    writeFileSync(path, JSON.stringify({ ...manifest, size: 40 }))
    const last = 'events/000000000041-000000000050.parquet'
    await holdsNot('short', 'the manifest is not signed by this key, or was changed', `${last} is not in the manifest`)
  })

  test('of an export of the first format, which names all ranges in one manifest', async () => {
    older('older', 50)
    expect(await check('older', '--head', 'old.txt')).toMatchObject({ code: 0 })
    const manifest = JSON.parse(readFileSync(at('older/manifest.json'), 'utf8')) as { ranges: unknown[] }
    manifest.ranges.splice(1, 1)
    writeFileSync(at('older/manifest.json'), JSON.stringify(manifest))
    await holdsNot('older', 'positions 21 to 40 are missing', 'the manifest is not signed by this key, or was changed')
  })

  test('what stands in the place of the manifest is none: a folder, a file that is too large, a text', async () => {
    for (const [name, put] of [
      ['folder', (path: string) => mkdirSync(path)],
      ['large', (path: string) => writeFileSync(path, Buffer.alloc(limits.archiveManifestMaxBytes + 1, 32))],
      ['text', (path: string) => writeFileSync(path, 'no manifest')],
    ] as const) {
      const path = at(`${copy(`manifest-${name}`)}/manifest.json`)
      rmSync(path)
      put(path)
      expect(await check(`manifest-${name}`)).toMatchObject({ code: 2, err: expect.stringContaining('manifest') as unknown })
    }
  })

  test('a folder whose path DuckDB reads as a pattern is none', async () => {
    const said = (sign: string) => ({ code: 2, err: expect.stringContaining(`its path has a "${sign}"`) as unknown })
    expect(await check(copy('whole[1]'))).toMatchObject(said('['))
    expect(await cli('export', '--parquet', 'new*')).toMatchObject(said('*'))
    expect(existsSync(at('new*'))).toBe(false)
  })

  test('a directory without a manifest is no export', async () => {
    renameSync(at(`${copy('bare')}/manifest.json`), at('bare.json'))
    expect(await check('bare')).toMatchObject({ code: 2 })
  })
})
