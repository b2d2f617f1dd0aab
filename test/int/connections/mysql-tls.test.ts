import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { Connections } from '../../../src/connections/connections.js'
import type { Connection } from '../../../src/connections/contract/requests.js'
import { makeCertificate, type Certificate } from '../../support/connections/certificate.js'
import { packet, refusal, securedMysql } from '../../support/connections/mysql-server.js'
import type { Listening } from '../../support/connections/proxy.js'
import { password } from '../../support/connections/postgres.js'
import { temporaryDirectory } from '../../support/service.js'

const place = temporaryDirectory()
let connections: Connections
const certificates: Record<'named' | 'numbered', Certificate> = { named: undefined as never, numbered: undefined as never }
const servers: Record<'named' | 'numbered', Listening> = { named: undefined as never, numbered: undefined as never }

beforeAll(async () => {
  connections = new Connections({ egressAllow: '', loopback: true, files: undefined })
  for (const [name, host] of [
    ['named', 'DNS:localhost'],
    ['numbered', 'IP:127.0.0.1'],
  ] as const) {
    mkdirSync(join(place.path, name))
    certificates[name] = makeCertificate(join(place.path, name), host)
    servers[name] = await securedMysql(certificates[name])
  }
})

afterAll(async () => {
  connections.stop()
  for (const server of Object.values(servers)) await server.stop()
  place.remove()
})

let count = 0
const checked = async (server: 'named' | 'numbered', parameters: Connection['parameters']) =>
  connections.check({
    id: `secured ${++count}`,
    version: 1,
    engine: 'mysql',
    parameters: { host: '127.0.0.1', port: servers[server].port, user: 'me', password, ...parameters },
  })

/** Who sends a password trusts the server; this one refuses it. */
const trusted = /refuses the login/

describe('TLS of MySQL', () => {
  test.each([
    ['named', { ssl: true }, trusted],
    ['named', {}, trusted],
    ['named', { ssl_mode: 'VERIFY_CA' }, /signed by itself/],
    ['named', { host: 'localhost', ssl_ca: 'named' }, trusted],
    ['named', { ssl_ca: 'named', ssl_mode: 'VERIFY_CA' }, trusted],
    ['named', { host: 'localhost', ssl_ca: 'numbered' }, /cannot be trusted/],
    // The address is not what the certificate is for, although the driver takes any address for localhost.
    ['named', { ssl_ca: 'named' }, /is for another host/],
    ['numbered', { ssl_ca: 'numbered' }, trusted],
  ] as const)('%s: %j', async (server, { ssl_ca: ca, ...parameters }: Record<string, string | boolean>, says) => {
    const pem = ca === 'named' || ca === 'numbered' ? { ssl_ca: certificates[ca].pem } : {}
    expect(await checked(server, { ...parameters, ...pem })).toMatchObject({
      status: 'connection_error',
      detail: expect.stringMatching(says) as unknown,
    })
  })

  test('only a server whose certificate was checked gets the password itself', async () => {
    const heard: string[] = []
    const asking = await securedMysql(certificates.named, (secured) => {
      secured.write(packet(3, '\xfemysql_clear_password\0'))
      secured.once('data', (bytes: Buffer) => {
        heard.push(bytes.subarray(4).toString('latin1'))
        secured.write(refusal(5))
      })
    })
    try {
      const said = async (parameters: Connection['parameters']) =>
        JSON.stringify(await checked('named', { port: asking.port, ...parameters }))
      for (const unchecked of [{}, { ssl: true }]) expect(await said(unchecked)).toMatch(/asks for the password itself.*VERIFY_IDENTITY/)
      expect(heard).toEqual([])
      expect(await said({ ssl_mode: 'VERIFY_CA', ssl_ca: certificates.named.pem })).toMatch(trusted)
      expect(heard).toEqual([`${password}\0`])
    } finally {
      await asking.stop()
    }
  })

  test('keys that cannot be read, or belong to another certificate, are told before anything is called', async () => {
    const { named, numbered } = certificates
    const broken = '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----'
    expect(await checked('named', { ssl_cert: named.pem, ssl_key: broken })).toMatchObject({
      detail: expect.stringMatching(/"ssl_key" is not a key that can be read/) as unknown,
    })
    expect(await checked('named', { ssl_cert: named.pem, ssl_key: readFileSync(numbered.key, 'utf8') })).toMatchObject({
      detail: expect.stringMatching(/do not belong together/) as unknown,
    })
  })
})
