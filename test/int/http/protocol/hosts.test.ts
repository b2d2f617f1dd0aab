import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { request } from 'node:http'
import { startTestService } from '../../../support/service.js'

type Running = Awaited<ReturnType<typeof startTestService>>
let local: Running
let named: Running
let loggedIn: Running
beforeAll(async () => {
  local = await startTestService()
  named = await startTestService({ ALLOWED_HOSTS: 'Ledger.example, app.example:8080' })
  loggedIn = await startTestService({ AUTH: 'session', AUTH_PASSWORD: 'x' })
})
afterAll(() => Promise.all([local, named, loggedIn].map(({ stop }) => stop())))

/** Sends headers that `fetch` would not let through; answers the status, and what a problem says. */
const ask = ({ url }: Running, headers: Record<string, string>, method = 'GET'): Promise<{ status: number | undefined; text: string }> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const sent = request({ hostname, port, method, path: '/api/logout', headers: { host: `${hostname}:${port}`, ...headers } }, (res) => {
      let text = ''
      res.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      res.on('end', () => resolve({ status: res.statusCode, text }))
    })
    sent.on('error', reject)
    sent.end()
  })
const status = async (...args: Parameters<typeof ask>) => (await ask(...args)).status

test.each(['localhost', 'LOCALHOST:80', 'app.localhost', 'localhost.:1', '127.0.0.1', '10.1.2.3:47334', '[::1]:5', '[::ffff:7f00:1]'])(
  'a local service without login answers to %s',
  async (host) => expect(await status(local, { host }, 'POST')).toBe(200),
)

test.each([
  'evil.example',
  'evil.example:47334',
  'localhost.evil.example',
  'notlocalhost',
  '127.0.0.1.evil.example',
  'a@localhost',
  '[x]',
  '999.1.1.1',
])('a local service without login does not answer to "%s"', async (host) => {
  const { status, text } = await ask(local, { host })
  expect({ status, problem: JSON.parse(text) as unknown }).toMatchObject({
    status: 421,
    problem: { code: 'wrong_host', status: 421, hint: expect.stringContaining('ALLOWED_HOSTS') },
  })
})

test('ALLOWED_HOSTS adds names, with any port or with the one it says', async () => {
  for (const host of ['ledger.example', 'ledger.example:99', 'LEDGER.example', 'app.example:8080'])
    expect({ host, status: await status(named, { host }, 'POST') }).toEqual({ host, status: 200 })
  for (const host of ['app.example', 'app.example:8081', 'x.ledger.example'])
    expect({ host, status: await status(named, { host }, 'POST') }).toEqual({ host, status: 421 })
})

test('where clients log in, the service answers to every name', async () =>
  expect(await status(loggedIn, { host: 'ledger.example' }, 'POST')).toBe(200))

test('a page writes only from the host that it calls, or from one that is allowed', async () => {
  const own = new URL(local.url).host
  for (const origin of ['http://evil.example', 'null', 'http://localhost:1', `http://${own}.evil.example`, 'nonsense']) {
    const { status, text } = await ask(local, { origin }, 'POST')
    expect({ origin, status, problem: JSON.parse(text) as unknown }).toMatchObject({
      origin,
      status: 403,
      problem: { code: 'foreign_origin', hint: expect.stringContaining('ALLOWED_HOSTS') },
    })
  }
  for (const method of ['PUT', 'DELETE', 'PATCH']) expect(await status(local, { origin: 'http://evil.example' }, method)).toBe(403)
  expect(await status(local, { origin: local.url }, 'POST')).toBe(200)
  expect(await status(loggedIn, { origin: 'http://evil.example' }, 'POST')).toBe(403)
  expect(await status(loggedIn, { host: 'ledger.example:443', origin: 'https://ledger.example' }, 'POST')).toBe(200)
  expect(await status(named, { origin: 'https://ledger.example' }, 'POST')).toBe(200)
  expect(await status(named, { origin: 'http://app.example' }, 'POST')).toBe(403)
})

test('a page may read what a browser lets it read, and other clients send no Origin', async () => {
  expect(await status(local, { origin: 'http://evil.example' }, 'GET')).toBe(405)
  expect(await status(local, {}, 'POST')).toBe(200)
})

test('ALLOWED_HOSTS that are not host names stop the start', async () => {
  for (const ALLOWED_HOSTS of ['https://app.example', 'a,,b', 'a b', '*'])
    await expect(startTestService({ ALLOWED_HOSTS })).rejects.toThrow('ALLOWED_HOSTS: must be host names')
})
