import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, existsSync, openSync, readFileSync, readSync } from 'node:fs'
import { constants as system } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { startProgram } from '../../../src/setup/start-program.js'
import { cliFile, freePort } from '../../support/cli.js'
import { until } from '../../support/until.js'
import { send, spawnService, sql, temporaryDirectory } from '../../support/service.js'
import { childrenRunning, signalTo } from '../../support/processes.js'

let place: ReturnType<typeof temporaryDirectory>
let child: ChildProcess | undefined
beforeEach(() => {
  place = temporaryDirectory()
})
afterEach(async () => {
  if (child?.exitCode === null && child.signalCode === null) {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  place.remove()
})

/** A service whose output goes where it is told, and its address once it answers there. */
const serveInto = async (stdout: number, stderr: number): Promise<{ url: string; ended: Promise<unknown> }> => {
  const port = await freePort()
  const env = { ...process.env, DATA_DIR: join(place.path, 'data'), PORT: String(port), LOG_LEVEL: 'info' }
  child = spawn(process.execPath, [cliFile, 'serve'], { env, stdio: ['ignore', stdout, stderr] })
  const ended = once(child, 'exit')
  const url = `http://127.0.0.1:${port}`
  await until(async () => (await send(url, 'GET', '/health').catch(() => undefined))?.status === 200)
  return { url, ended }
}

const skill = async (url: string, name: string) =>
  (await send(url, 'POST', '/api/projects/mindsdb/skills', { skill: { name, type: 'sql', params: {} } })).status

const full = '/dev/full'
const onFull = existsSync(full) ? test : test.skip

onFull('a service whose own log is on a full disk goes on without it, and stops in order', async () => {
  const fd = openSync(full, 'w')
  const { url, ended } = await serveInto(fd, fd)
  closeSync(fd)
  for (let n = 0; n < 20; n++) expect(await skill(url, `s${n}`)).toBe(201)
  child?.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
})

/** What can be read of a pipe now. */
const readNow = (fd: number): string => {
  const buffer = Buffer.alloc(64 * 1024)
  try {
    return buffer.toString('utf8', 0, readSync(fd, buffer))
  } catch {
    return ''
  }
}

test('lines that nobody took are counted, and the log goes on when somebody does again', async () => {
  const pipe = join(place.path, 'pipe')
  execFileSync('mkfifo', [pipe])
  const open = () => openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK)
  const first = open()
  const writing = openSync(pipe, 'w')
  const { url, ended } = await serveInto(writing, 2)
  closeSync(writing)
  await until(() => readNow(first).includes('"serving"'))
  closeSync(first)
  for (let n = 0; n < 5; n++) expect(await skill(url, `s${n}`)).toBe(201)
  const second = open()
  expect(await skill(url, 'heard')).toBe(201)
  type Line = { lost?: number; msg: string }
  let lines: Line[] = []
  let text = ''
  const lost = () => lines.findIndex((line) => line.lost !== undefined)
  await until(() => {
    text += readNow(second)
    lines = text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Line]))
    return lost() >= 0 && lines.length >= lost() + 2
  })
  // The line of the request for /health is in the pipe still if it was written right before the first reader left.
  const [told, after] = lines.slice(lost())
  // The last lines may come after the new reader: a line is written when its request has been answered.
  expect(told?.lost).toBeGreaterThanOrEqual(1)
  expect(told?.msg).toContain('are lost')
  expect(after?.lost).toBeUndefined()
  child?.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  closeSync(second)
})

test('SIGHUP does not end a service without a terminal, and its log says so', async () => {
  const service = await spawnService(join(place.path, 'data'))
  child = service.child
  child.kill('SIGHUP')
  await until(() => service.lines.some((line) => line.includes('SIGHUP')))
  expect(await skill(service.url, 'after')).toBe(201)
  child.kill('SIGTERM')
  expect(await service.ended).toEqual([0, null])
})

/** What a process writes to its standard error. */
const errorsOf = ({ stderr }: ChildProcess): (() => string) => {
  let said = ''
  stderr?.on('data', (bytes: Buffer) => (said += bytes.toString()))
  return () => said
}

const userSignals = ['SIGUSR1', 'SIGUSR2'] as const

test('SIGUSR1 and SIGUSR2 neither open the debugger nor end a service, and its log says so', async () => {
  const service = await spawnService(join(place.path, 'data'))
  child = service.child
  const errors = errorsOf(child)
  for (const signal of userSignals) {
    child.kill(signal)
    await until(() => service.lines.some((line) => line.includes(signal)))
  }
  expect(await skill(service.url, 'after')).toBe(201)
  child.kill('SIGTERM')
  expect(await service.ended).toEqual([0, null])
  expect(errors()).not.toContain('Debugger')
})

const onLinux = process.platform === 'linux' ? test : test.skip

onLinux('nor do they in the process that answers SQL', async () => {
  const service = await spawnService(join(place.path, 'data'))
  child = service.child
  const errors = errorsOf(child)
  const ofSql = () => childrenRunning(Number(service.child.pid), 'bin/sql-process')
  expect(await sql(service.url, 'SELECT 1')).toMatchObject({ type: 'table' })
  const before = ofSql()
  expect(before).toHaveLength(1)
  for (const signal of userSignals) signalTo(before[0], signal)
  expect(await sql(service.url, 'SELECT 2')).toMatchObject({ type: 'table' })
  expect(ofSql()).toEqual(before)
  child.kill('SIGTERM')
  expect(await service.ended).toEqual([0, null])
  expect(errors()).not.toContain('Debugger')
})

const programs = ['ingest-process', 'train-process', 'onnx-process', 'connections-process', 'knowledge-process', 'export-process'] as const

for (const program of programs)
  onLinux(`nor do they in the program ${program}`, async () => {
    const started = startProgram(program, { readsErrors: true })
    child = started
    const errors = errorsOf(started)
    const handled = () => {
      const status = readFileSync(`/proc/${String(started.pid)}/status`, 'utf8')
      return BigInt(`0x${/^SigCgt:\s*(\w+)/m.exec(status)?.[1] ?? '0'}`)
    }
    await until(() => ((handled() >> BigInt(system.signals.SIGUSR2 - 1)) & 1n) === 1n)
    for (const signal of userSignals) signalTo(started.pid, signal)
    const ended = once(started, 'exit')
    started.disconnect()
    expect((await ended)[1]).not.toBe('SIGUSR2')
    expect(errors()).not.toContain('Debugger')
  })

const script = '/usr/bin/script'
const onTerminal = existsSync(script) ? test : test.skip

onTerminal('a service whose terminal is closed stops in order', async () => {
  const typescript = join(place.path, 'typescript')
  const env = { ...process.env, DATA_DIR: join(place.path, 'data'), PORT: '0' }
  const command = `${process.execPath} ${cliFile} serve & echo pid $!; wait $!; echo ended $?`
  child = spawn(script, ['-qefc', command, typescript], { env, stdio: ['pipe', 'ignore', 'ignore'] })
  const said = () => (existsSync(typescript) ? readFileSync(typescript, 'utf8') : '')
  // The shell may tell the number of the process after that has begun to serve.
  await until(() => said().includes('Mindledger at') && /pid \d+/.test(said()))
  signalTo(Number(/pid (\d+)/.exec(said())?.[1]), 'SIGHUP')
  await until(() => said().includes('ended 0'))
})
