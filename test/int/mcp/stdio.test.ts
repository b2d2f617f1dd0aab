import { Client as NewClient } from '@modelcontextprotocol/client'
import { StdioClientTransport as NewTransport } from '@modelcontextprotocol/client/stdio'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { until } from '../../support/until.js'
import { cliFile } from '../../support/cli.js'
import { restartable } from '../../support/service.js'

const at = restartable()
const login = { AUTH: 'session', AUTH_PASSWORD: 'secret', METRICS: 'open' }
let url: string
beforeAll(async () => {
  url = await at.start(login)
  await until(async () => (await fetch(`${url}/ready`)).ok)
})
afterAll(() => at.remove())

const about = { name: 'test', version: '1' }
/** How a desktop client starts the program. */
const program = () => ({
  command: process.execPath,
  args: [cliFile, 'mcp'],
  env: { PATH: process.env['PATH'] ?? '', DATA_DIR: at.path, ...login },
  stderr: 'ignore' as const,
})

/** Runs the program with lines on its standard input, until it ends. */
const relayed = async (lines: readonly string[], env: Record<string, string> = {}) => {
  const { command, args, env: usual } = program()
  const child = spawn(command, args, { env: { ...usual, ...env }, stdio: ['pipe', 'pipe', 'pipe'] })
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
  child.stdin.end(lines.map((line) => `${line}\n`).join(''))
  const [code] = (await once(child, 'close')) as [number]
  return {
    code,
    err,
    messages: out
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, unknown>),
  }
}

const list = (id: unknown) =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'list', arguments: { kind: 'projects' } } })

test('a desktop client of the first generation reaches the server behind its login', async () => {
  const client = new OldClient(about)
  await client.connect(new OldTransport(program()))
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('query')
  const answer = await client.callTool({ name: 'query', arguments: { sql: 'SELECT 1 AS a' } })
  expect(answer).toMatchObject({ structuredContent: { rows: [[1]] } })
  await client.close()
})

test('so does one of the second, in revision 2026-07-28, and its calls can be cancelled', async () => {
  const client = new NewClient(about, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
  await client.connect(new NewTransport(program()))
  await client.listTools()
  expect(await client.callTool({ name: 'query', arguments: { sql: 'SELECT 2 AS a' } })).toMatchObject({
    structuredContent: { rows: [[2]] },
  })
  expect((await client.readResource({ uri: 'mindledger://schemas/log' })).contents).toHaveLength(1)
  const leave = new AbortController()
  const sql = 'SELECT count(*) FROM range(100000000000) AS a(i) WHERE i % 7 = 3'
  const refused = expect(client.callTool({ name: 'query', arguments: { sql } }, { signal: leave.signal })).rejects.toThrow()
  const running = async () => /^mindledger_sql_running_queries (\d+)/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1]
  await until(async () => (await running()) === '1')
  leave.abort()
  await refused
  await until(async () => (await running()) === '0')
  expect(await client.callTool({ name: 'query', arguments: { sql: 'SELECT 3 AS a' } })).toMatchObject({
    structuredContent: { rows: [[3]] },
  })
  await client.close()
})

test('a client that began before the server was started again goes on after it', async () => {
  const client = new OldClient(about)
  await client.connect(new OldTransport(program()))
  await at.stop()
  await expect(client.callTool({ name: 'list', arguments: { kind: 'projects' } })).rejects.toThrow(/no server holds/)
  await at.start(login)
  await until(async () => (await client.callTool({ name: 'list', arguments: { kind: 'projects' } })).isError !== true)
  await client.close()
})

test('only messages of the protocol are written, and each line has its answer', async () => {
  const { code, messages } = await relayed(['not json', '', list(1), '7', JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/burn' })])
  expect(code).toBe(0)
  expect(messages).toHaveLength(3)
  expect(messages).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ id: null, error: expect.objectContaining({ code: -32700 }) }),
      expect.objectContaining({ id: 1, result: expect.anything() }),
      expect.objectContaining({ id: 2, error: expect.objectContaining({ code: -32601 }) }),
    ]),
  )
})

test('a line that is too long is refused, and the next one is answered', async () => {
  const { messages } = await relayed(['x'.repeat(11 * 1024 * 1024), list(1)])
  expect(messages).toEqual([
    expect.objectContaining({ id: null, error: expect.objectContaining({ code: -32700 }) }),
    expect.objectContaining({ id: 1, result: expect.anything() }),
  ])
})

test('a wrong password is the answer of each message', async () => {
  const { code, messages } = await relayed([list(1)], { AUTH_PASSWORD: 'wrong' })
  expect([code, messages]).toEqual([
    0,
    [expect.objectContaining({ id: 1, error: expect.objectContaining({ message: expect.stringMatching(/refused the login/) }) })],
  ])
})
