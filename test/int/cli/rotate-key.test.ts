import { afterAll, expect, test } from '@jest/globals'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { freePort, mindledger } from '../../support/cli.js'
import { send, spawnService, temporaryDirectory } from '../../support/service.js'

const place = temporaryDirectory()
afterAll(() => place.remove())

const skill = { skill: { name: 'sales', type: 'sql', params: { api_key: 'sk-1' } } }
const [first, second, third] = ['1', '2', '3'].map((digit) => digit.repeat(64)) as [string, string, string]
const replaced = /^The master key [0-9a-f]{16} was replaced by [0-9a-f]{16}: 1 payloads, position \d+$/m

test('rotate-key replaces the key in its file, with the server stopped or running', async () => {
  const data = join(place.path, 'files')
  const environment = { DATA_DIR: data, PORT: String(await freePort()) }
  const server = await spawnService(data, environment)
  await send(server.url, 'POST', '/api/projects/mindsdb/skills', skill)
  const keys = [readFileSync(join(data, 'vault.key'), 'utf8')]
  expect(await mindledger(['rotate-key'], environment)).toMatchObject({ code: 0, err: '', out: expect.stringMatching(replaced) })
  keys.push(readFileSync(join(data, 'vault.key'), 'utf8'))
  server.child.kill('SIGTERM')
  expect(await server.ended).toEqual([0, null])
  expect(await mindledger(['rotate-key'], environment)).toMatchObject({ code: 0, err: '', out: expect.stringMatching(replaced) })
  keys.push(readFileSync(join(data, 'vault.key'), 'utf8'))
  expect(new Set(keys).size).toBe(3)
  expect(await mindledger(['verify'], environment)).toMatchObject({ code: 0, out: expect.stringContaining('payloads: 1 readable') })
})

test('rotate-key takes the next key where the one in use is given, and the server starts with no other', async () => {
  const data = join(place.path, 'given')
  const environment = { DATA_DIR: data, PORT: String(await freePort()), VAULT_KEY: first }
  const server = await spawnService(data, environment)
  await send(server.url, 'POST', '/api/projects/mindsdb/skills', skill)
  expect(await mindledger(['rotate-key'], environment)).toMatchObject({ code: 2, err: expect.stringContaining('NEW_VAULT_KEY') })
  const rotated = await mindledger(['rotate-key'], { ...environment, NEW_VAULT_KEY: second })
  expect(rotated).toMatchObject({ code: 0, out: expect.stringContaining('Set VAULT_KEY to the new key') })
  server.child.kill('SIGTERM')
  expect(await server.ended).toEqual([0, null])
  expect(await mindledger(['rotate-key'], { ...environment, NEW_VAULT_KEY: third })).toMatchObject({
    code: 2,
    err: expect.stringContaining('is sealed with the master key'),
  })
  expect(await mindledger(['rotate-key'], { ...environment, VAULT_KEY: second, NEW_VAULT_KEY: third })).toMatchObject({ code: 0 })
  const again = await spawnService(data, { ...environment, VAULT_KEY: third })
  again.child.kill('SIGTERM')
  expect(await again.ended).toEqual([0, null])
})

test('rotate-key ends with status 2 when an error stopped the server, and says how it goes on', async () => {
  const rotation = { from: '1'.repeat(16), to: '2'.repeat(16), payloads: 1, position: null, error: 'no room' }
  const server = createServer(({ method, url }, response) => {
    const told = url === '/api/health' ? { service: 'mindledger', instance: 'one' } : method === 'POST' ? rotation : { rotation }
    response.writeHead(method === 'POST' ? 202 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(told))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const ended = await mindledger(['rotate-key', '--url', `http://127.0.0.1:${(server.address() as AddressInfo).port}`])
  server.close()
  expect(ended).toMatchObject({ code: 2, out: '', err: expect.stringMatching(/^mindledger: .*no room.*run rotate-key again.*\n$/) })
})

test('rotate-key takes the end of a rotation from a server of an earlier release, which tells no error', async () => {
  const rotation = { from: '1'.repeat(16), to: '2'.repeat(16), payloads: 1, position: 7 }
  const server = createServer(({ method, url }, response) => {
    const told = url === '/api/health' ? { service: 'mindledger', instance: 'one' } : { rotation }
    response.writeHead(method === 'POST' ? 202 : 200, { 'content-type': 'application/json' }).end(JSON.stringify(told))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const ended = await mindledger(['rotate-key', '--url', `http://127.0.0.1:${(server.address() as AddressInfo).port}`])
  server.close()
  expect(ended).toMatchObject({ code: 0, out: expect.stringMatching(replaced) })
})
