import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { request, type IncomingHttpHeaders } from 'node:http'
import { startTestService } from '../../../support/service.js'

type Running = Awaited<ReturnType<typeof startTestService>>
type Answer = { status: number | undefined; headers: IncomingHttpHeaders }

const session = { AUTH: 'session', AUTH_USERNAME: 'ada', AUTH_PASSWORD: 'correct horse' }
let behind: Running
let direct: Running
let local: Running
beforeAll(async () => {
  behind = await startTestService({ ...session, TRUST_PROXY: 'loopback, 10.0.0.0/8' })
  direct = await startTestService(session)
  local = await startTestService({ TRUST_PROXY: '127.0.0.1', ALLOWED_HOSTS: 'ledger.example' })
})
afterAll(() => Promise.all([behind, direct, local].map(({ stop }) => stop())))

/** What a proxy sends on: `fetch` would not let its Host header through. */
const ask = ({ url }: Running, path: string, headers: Record<string, string>, body?: object): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { hostname, port, host } = new URL(url)
    const options = { hostname, port, method: 'POST', path, headers: { host, 'content-type': 'application/json', ...headers } }
    const sent = request(options, (res) => {
      res.resume().on('end', () => resolve({ status: res.statusCode, headers: res.headers }))
    })
    sent.on('error', reject)
    sent.end(body && JSON.stringify(body))
  })

const right = { username: 'ada', password: 'correct horse' }
const wrong = { username: 'ada', password: 'x' }
const failTenTimes = async (at: Running, headersOf: (i: number) => Record<string, string>) => {
  for (let i = 0; i < 10; i++) expect((await ask(at, '/api/login', headersOf(i), wrong)).status).toBe(401)
}

describe('behind a proxy that is trusted', () => {
  test('ten wrong logins keep out their own address, and nobody else', async () => {
    await failTenTimes(behind, () => ({ 'x-forwarded-for': '203.0.113.7' }))
    expect((await ask(behind, '/api/login', { 'x-forwarded-for': '203.0.113.7' }, right)).status).toBe(429)
    // Some proxies add the port, and some write IPv4 as IPv6.
    for (const address of ['203.0.113.7:5000', '::ffff:203.0.113.7', '[::ffff:203.0.113.7]:1', '198.51.100.1, 203.0.113.7'])
      expect({ address, ...(await ask(behind, '/api/login', { 'x-forwarded-for': address }, right)) }).toMatchObject({
        address,
        status: 429,
      })
    for (const address of ['203.0.113.8', '2001:db8::1', '203.0.113.7, 198.51.100.2', '198.51.100.3, 10.1.2.3'])
      expect({ address, ...(await ask(behind, '/api/login', { 'x-forwarded-for': address }, right)) }).toMatchObject({
        address,
        status: 200,
      })
  })

  test('wrong logins from many addresses of one IPv6 network, which one client may own, count together', async () => {
    const from = (address: string) => ({ 'x-forwarded-for': address })
    await failTenTimes(behind, (i) => from(`2001:db8:0:7::${i}`))
    expect((await ask(behind, '/api/login', from('2001:db8:0:7:1:2:3:4'), right)).status).toBe(429)
    expect((await ask(behind, '/api/login', from('2001:db8:0:8::1'), right)).status).toBe(200)
  })

  test('an address that is none counts as the proxy’s, so that nobody gets tries without end', async () => {
    await failTenTimes(behind, (i) => ({ 'x-forwarded-for': `somebody-${i}` }))
    expect((await ask(behind, '/api/login', { 'x-forwarded-for': 'somebody-else' }, right)).status).toBe(429)
  })

  test('the cookie is Secure when the client came by HTTPS, and only then', async () => {
    const cookie = async (proto: string) => {
      const { headers } = await ask(behind, '/api/login', { 'x-forwarded-for': '198.51.100.9', 'x-forwarded-proto': proto }, right)
      return headers['set-cookie']?.[0]
    }
    expect(await cookie('https')).toMatch(/; Secure/)
    expect(await cookie('http')).not.toMatch(/; Secure/)
  })

  test('a page of the host that the client called may write, whatever host the proxy calls', async () => {
    const page = { origin: 'https://ledger.example:8443', 'x-forwarded-host': 'ledger.example:8443' }
    expect((await ask(behind, '/api/logout', page)).status).toBe(200)
    expect((await ask(behind, '/api/logout', { ...page, 'x-forwarded-host': 'other.example' })).status).toBe(403)
  })

  test('both the Host header and the one that the proxy tells must be known', async () => {
    expect((await ask(local, '/api/logout', { 'x-forwarded-host': 'ledger.example' })).status).toBe(200)
    expect((await ask(local, '/api/logout', { 'x-forwarded-host': 'evil.example' })).status).toBe(421)
    expect((await ask(local, '/api/logout', { host: 'evil.example', 'x-forwarded-host': 'localhost' })).status).toBe(421)
  })
})

test('without TRUST_PROXY the headers of a proxy have no effect', async () => {
  const told = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'ledger.example' }
  const { status, headers } = await ask(direct, '/api/login', told, right)
  expect(status).toBe(200)
  expect(headers['set-cookie']?.[0]).not.toMatch(/; Secure/)
  expect((await ask(direct, '/api/logout', { ...told, origin: 'https://ledger.example' })).status).toBe(403)
  await failTenTimes(direct, (i) => ({ 'x-forwarded-for': `203.0.113.${i}` }))
  expect((await ask(direct, '/api/login', { 'x-forwarded-for': '203.0.113.99' }, right)).status).toBe(429)
})

test('a number of proxies counts from the near end', async () => {
  const two = await startTestService({ ...session, TRUST_PROXY: '2' })
  try {
    const from = (client: string, told = '') => ({ 'x-forwarded-for': `${told}${client}, 198.51.100.20` })
    await failTenTimes(two, (i) => from('203.0.113.7', `192.0.2.${i}, `))
    expect((await ask(two, '/api/login', from('203.0.113.7'), right)).status).toBe(429)
    expect((await ask(two, '/api/login', from('203.0.113.8'), right)).status).toBe(200)
  } finally {
    await two.stop()
  }
})

test('a TRUST_PROXY that names no proxy stops the start', async () => {
  for (const TRUST_PROXY of ['true', '0', '10', '10.0.0.0/33', '10.0.0.0/0', 'fd00::/129', 'proxy.example', '10.0.0.1,,10.0.0.2', '1/2/3'])
    await expect(startTestService({ TRUST_PROXY })).rejects.toThrow('TRUST_PROXY: must be addresses or networks')
})
