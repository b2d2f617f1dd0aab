import { afterEach, expect, test } from '@jest/globals'
import { spawn, type ChildProcess } from 'node:child_process'
import { randomFillSync } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, openSync, readdirSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { hashFile } from '../../src/basics/disk.js'
import { collectBlobs } from '../../src/files/shared/collect.js'
import type { S3Address } from '../../src/files/shared/s3-address.js'
import { startS3 } from '../support/files/s3-server.js'
import { openStore } from '../support/files/shared-stores.js'
import { logServer } from '../support/log/each-log.js'
import { temporaryDirectory, withLog } from '../support/log/log.js'
import { until } from '../support/until.js'

const program = fileURLToPath(new URL('blob-node.js', import.meta.url))
const mebibyte = 2 ** 20
const { server } = logServer()
const nodes: ChildProcess[] = []

afterEach(() => {
  for (const node of nodes.splice(0)) node.kill('SIGKILL')
})

type Node = { child: ChildProcess; ask: (line: string) => Promise<{ sha: string; grownBytes: number }> }

const startNode = async (url: string, directory: string, bucket?: S3Address): Promise<Node> => {
  const args = [program, url, directory, ...(bucket ? [JSON.stringify(bucket)] : [])]
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  nodes.push(child)
  const lines = createInterface({ input: child.stdout })
  await once(lines, 'line')
  const ask = async (line: string) => {
    const answered = once(lines, 'line') as Promise<[string]>
    child.stdin.write(`${line}\n`)
    const [sha = '', grown] = (await answered)[0].split(' ')
    return { sha, grownBytes: Number(grown) }
  }
  return { child, ask }
}

const randomFile = (path: string, mebibytes: number): string => {
  const file = openSync(path, 'w')
  const bytes = Buffer.allocUnsafe(mebibyte)
  for (let i = 0; i < mebibytes; i++) writeSync(file, randomFillSync(bytes))
  closeSync(file)
  return path
}

test('an upload that is killed in the middle leaves nothing that anybody sees, and its bytes are collected by age', async () => {
  const { path, remove } = temporaryDirectory()
  const url = await server().newUrl()
  const other = await openStore(url, join(path, 'other'))
  try {
    const file = randomFile(join(path, 'upload'), 100)
    const sha = await hashFile(file)
    const chunks = async () => (await other.connections.query('SELECT FROM mindledger.blob_chunks')).length
    // However late the kill is, it meets the upload in the middle.
    await server().inDatabase(
      url,
      `CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.2); RETURN NEW; END $$;
       CREATE TRIGGER slow BEFORE INSERT ON mindledger.blob_chunks FOR EACH ROW EXECUTE FUNCTION slow()`,
    )
    const node = await startNode(url, join(path, 'killed'))
    void node.ask(`put ${file}`)
    await until(async () => (await chunks()) >= 10)
    node.child.kill('SIGKILL')
    await once(node.child, 'exit')
    expect(await chunks()).toBeLessThan(100)
    expect([await other.blobs.has(sha), await other.blobs.list()]).toEqual([false, []])

    await server().inDatabase(url, 'DROP TRIGGER slow ON mindledger.blob_chunks')
    // The same upload again is not disturbed by what is left of the first.
    expect((await (await startNode(url, join(path, 'again'))).ask(`put ${file}`)).sha).toBe(sha)
    ;(await other.blobs.hold(sha)).release()
    expect(await hashFile(other.cache.path(sha))).toBe(sha)
    await withLog(async ({ log }) => {
      const options = { log, newest: async () => undefined, ...other }
      const { signal } = new AbortController()
      await other.connections.query('UPDATE mindledger.blobs SET is_named = true')
      await collectBlobs(options, signal)
      expect(await chunks()).toBeGreaterThan(100)
      await collectBlobs({ ...options, ageMs: 0 }, signal)
    })
    expect(await chunks()).toBe(100)
    expect(await other.blobs.list()).toEqual([sha])
  } finally {
    await other.close()
    remove()
  }
})

test.each(['postgres', 's3'])('a blob of 200 MB goes into %s and out of it in flat memory', async (place) => {
  const { path, remove } = temporaryDirectory()
  const url = await server().newUrl()
  const s3 = place === 's3' ? await startS3() : undefined
  try {
    const file = randomFile(join(path, 'upload'), 200)
    const [writer, reader] = [await startNode(url, join(path, 'a'), s3?.address), await startNode(url, join(path, 'b'), s3?.address)]
    // What the first of all makes grow is no part of it.
    const small = await writer.ask(`put ${randomFile(join(path, 'small'), 5)}`)
    await reader.ask(`hold ${small.sha}`)
    const put = await writer.ask(`put ${file}`)
    const held = await reader.ask(`hold ${put.sha}`)
    expect(await hashFile(join(path, 'b', 'blobs', put.sha))).toBe(put.sha)
    expect(readdirSync(join(path, 'b', 'blobs')).sort()).toEqual([small.sha, put.sha].sort())
    expect(Math.max(put.grownBytes, held.grownBytes)).toBeLessThan(80 * mebibyte)
    if (process.env['TELL']) process.stderr.write(`${place}: in ${put.grownBytes / mebibyte} MiB, out ${held.grownBytes / mebibyte} MiB\n`)
  } finally {
    await s3?.stop()
    remove()
  }
})
