import { afterAll, beforeAll, expect } from '@jest/globals'
import Database from 'better-sqlite3'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { undoAll } from '../../src/basics/undo.js'
import { confined, type KeptRights } from '../../src/setup/confinement.js'
import { whereConfined, whereWritesEnd } from '../support/confined.js'
import { pathsUnder } from '../support/directories.js'
import { onnxBytes } from '../support/models/onnx-models.js'
import { childrenRunning } from '../support/processes.js'
import { send, spawnUntil, sql, temporaryDirectory } from '../support/service.js'
import { settled } from '../support/models/rentals.js'
import { until } from '../support/until.js'

const undo: (() => unknown)[] = []
afterAll(() => undoAll(undo.splice(0)))

/** A folder until the end. */
const folderOfTest = (): string => {
  const { path, remove } = temporaryDirectory()
  undo.push(remove)
  return path
}
const path = folderOfTest()

/** Tries to write two files and to reach a port, and tells the codes of what was refused. */
const script = `
  const fs = require('node:fs'), net = require('node:net')
  const refused = (work) => { try { work(); return null } catch (error) { return error.code } }
  process.once('message', ({ inside, outside, port }) => {
    const written = [inside, outside].map((file) => refused(() => fs.writeFileSync(file, 'written')))
    const socket = net.connect(port, '127.0.0.1')
    const tell = (reached) => process.send([...written, reached], () => process.exit())
    socket.once('connect', () => tell(null)).once('error', ({ code }) => tell(code))
  })`

let port = 0
beforeAll(async () => {
  mkdirSync(join(path, 'own'))
  writeFileSync(join(path, 'tries.cjs'), script)
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  undo.push(() => server.close())
  await once(server, 'listening')
  port = (server.address() as AddressInfo).port
})

/** What is refused to a process with these rights: to write in its folder, to write beside it, to reach a port. */
const refusedWith = async (rights: KeptRights): Promise<unknown[]> => {
  const { execArgv, env } = confined(rights)
  const child = fork(join(path, 'tries.cjs'), [], { execArgv, env })
  child.send({ inside: join(path, 'own', 'file'), outside: join(path, 'file'), port })
  const [told] = (await once(child, 'message')) as [unknown[]]
  return told
}

whereWritesEnd('a process that keeps a folder writes there and nowhere else', async () => {
  expect(await refusedWith({ writable: [join(path, 'own')], tcp: true })).toEqual([null, 'EACCES', null])
  expect(readFileSync(join(path, 'own', 'file'), 'utf8')).toBe('written')
  expect(existsSync(join(path, 'file'))).toBe(false)
  expect((await refusedWith({ writable: [] })).slice(0, 2)).toEqual(['EACCES', 'EACCES'])
})

whereConfined('a process reaches no port unless it keeps TCP', async () => {
  expect((await refusedWith({ writable: [] }))[2]).toBe('EACCES')
})

/** Whether a process gave up rights: it can never gain any again then. Undefined of one that has ended. */
const gaveUp = (pid: number): boolean | undefined => {
  try {
    return /^NoNewPrivs:\s+1$/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return undefined
  }
}

whereWritesEnd('what reads the bytes of others gives up its rights: uploads, imported models, databases and documents', async () => {
  const folder = folderOfTest()
  new Database(join(folder, 'shop.sqlite')).exec('CREATE TABLE orders (id INTEGER); INSERT INTO orders VALUES (7)').close()
  const temporary = folderOfTest()
  const { child, url } = await spawnUntil(undo, folderOfTest(), { CONNECTION_FILES: folder, TMPDIR: temporary })
  const found = new Map<string, boolean>()
  /** The folders of the processes that read files for connections. */
  const foldersNow = () => pathsUnder(temporary).filter((name) => /\/\d+$/.test(name))
  const folders = new Set<string>()
  const look = (): void => {
    for (const name of foldersNow()) folders.add(name)
    for (const name of ['ingest-process', 'onnx-process', 'connections-process', 'knowledge-process', 'sql-process'])
      for (const pid of childrenRunning(Number(child.pid), `bin/${name}`)) found.set(name, gaveUp(pid) ?? found.get(name) ?? false)
  }
  /** Looks at the processes until something is done: some live as long as their work. */
  const beside = async <T>(work: Promise<T>): Promise<T> => {
    let isDone = false
    const end = () => (isDone = true)
    work.then(end, end)
    await until(() => {
      look()
      return isDone
    })
    return work
  }
  /** Does work until its process was seen without its rights: on a busy machine it may end between two looks. */
  const seenBeside = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    let done = await beside(work())
    for (let again = 0; again < 50 && found.get(name) !== true; again++) done = await beside(work())
    return done
  }
  const rows = `id,name\n${Array.from({ length: 200_000 }, (_, i) => `${i},name ${i}`).join('\n')}\n`
  const upload = () => send(url, 'PUT', '/api/files/names', rows, { 'content-type': 'text/csv' })
  expect((await seenBeside('ingest-process', upload)).status).toBe(200)
  await send(url, 'PUT', '/api/files/linear', onnxBytes('linear'), { 'content-type': 'application/x-onnx' })
  const made = await sql(url, "CREATE MODEL rent PREDICT rent USING engine = 'onnx', file = 'linear', columns = ['sqft', 'age']")
  await settled(url, String(made.data[0]?.[0]))
  await seenBeside('onnx-process', () => send(url, 'POST', '/api/projects/mindsdb/models/rent/predict', { data: [{ sqft: 1, age: 2 }] }))
  await sql(url, `CREATE DATABASE shop WITH ENGINE = 'sqlite', PARAMETERS = {"path": "shop.sqlite"}`)
  expect((await seenBeside('connections-process', () => sql(url, 'SELECT id FROM shop.orders'))).data).toEqual([[7]])
  expect(folders.size).toBeGreaterThan(0)
  await until(() => foldersNow().length === 0)
  await sql(url, 'CREATE KNOWLEDGE BASE docs')
  await seenBeside('knowledge-process', () => sql(url, "INSERT INTO docs (id, content) VALUES ('a', 'tickets for the night train')"))
  look()
  const all = ['connections-process', 'ingest-process', 'knowledge-process', 'onnx-process', 'sql-process']
  expect([...found].sort()).toEqual(all.map((name) => [name, true]))
})
