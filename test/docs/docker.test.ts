import { existsSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from '@jest/globals'
import { settingDescriptions } from '../../src/setup/config.js'
import { repository } from '../support/cli.js'
import { send, startTestService } from '../support/service.js'
import { until } from '../support/until.js'

const read = (file: string) => readFileSync(join(repository, file), 'utf8')
const dockerfile = read('docker/Dockerfile')
const settings = new Set(settingDescriptions.map(({ name }) => name))

test('the image is made of files that are there, and starts one that the build makes', () => {
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+)$/gm)].flatMap(([, names = '']) => names.split(' ').slice(0, -1))
  expect(copied.length).toBeGreaterThan(5)
  for (const name of copied) expect([name, existsSync(join(repository, name))]).toEqual([name, true])
  const { include } = JSON.parse(read('tsconfig.build.json')) as { include: string[] }
  // Whatever the compiler takes must have been copied before it runs.
  for (const folder of include.map((pattern) => pattern.split('/')[0] ?? '')) expect(copied).toContain(folder)
  const started = /^CMD \["node", "dist\/(.+)\.js", "serve"\]$/m.exec(dockerfile)?.[1]
  expect(existsSync(join(repository, 'dist', `${started ?? ''}.js`))).toBe(true)
})

test('the container runs as a user without rights, keeps its data in a volume and sets what is a setting', () => {
  const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '))
  expect(last).toMatch(/^USER node$/m)
  expect(last).toMatch(/^VOLUME \/data$/m)
  const set =
    /^ENV (.+)$/m
      .exec(last)?.[1]
      ?.split(' ')
      .map((one) => one.split('=')[0] ?? '') ?? []
  for (const name of set) if (name !== 'NODE_ENV') expect(settings).toContain(name)
  const compose = read('docker/compose.yaml')
  expect(compose).toContain('dockerfile: docker/Dockerfile')
  expect(compose).toMatch(/volumes:\n +- data:\/data\n/)
  for (const [, name = ''] of compose.matchAll(/^ {6}([A-Z_]+):/gm)) expect(settings).toContain(name)
})

test('the nodes of a compose file have settings, and their proxy asks each of them whether it is ready', () => {
  const compose = read('docker/nodes/compose.yaml')
  const [node = ''] = /^x-node:.*?^services:/ms.exec(compose) ?? []
  const set = [...node.matchAll(/^ {4}([A-Z_]+):/gm)].map(([, name = '']) => name)
  expect(set).toEqual(expect.arrayContaining(['LOG_URL', 'VAULT_KEY', 'HEAD_KEY']))
  for (const name of set) expect(settings).toContain(name)
  const proxy = read('docker/nodes/haproxy.cfg')
  const nodes = [...compose.matchAll(/^ {2}(node-\d):\n {4}<<: \*node$/gm)].map(([, name = '']) => name)
  expect(proxy.match(/^ {2}server .+$/gm)).toEqual(nodes.map((name) => `  server ${name} ${name}:47334`))
  expect(proxy).toContain('option httpchk GET /ready')
})

test('the health check asks an address that answers without a login', async () => {
  const path = /fetch\(`http:\/\/127\.0\.0\.1:\$\{process\.env\.PORT\}(\/[\w/]+)`\)/.exec(dockerfile)?.[1]
  const at = await startTestService({ AUTH: 'session', AUTH_PASSWORD: 'x' })
  expect((await send(at.url, 'GET', path ?? '/none')).status).toBe(200)
  await at.stop()
})

test('the proxy of the nodes asks as HAProxy does, without a Host and a login, and the node that is ready answers 200', async () => {
  const checks = ['docker/nodes/haproxy.cfg', 'docs/scale.md'].map((file) =>
    /^ {2}option httpchk (.+)\n {2}http-check (.+)$/m.exec(read(file)),
  )
  const asked = checks.map((found) => found?.[1])
  expect(checks.map((found) => found?.[2])).toEqual(['expect status 200', 'expect status 200'])
  expect(new Set(asked).size).toBe(1)
  const at = await startTestService({ AUTH: 'session', AUTH_PASSWORD: 'x', TRUST_PROXY: 'uniquelocal' })
  try {
    await until(async () => (await send(at.url, 'GET', '/ready')).status === 200)
    const socket = connect(Number(new URL(at.url).port), '127.0.0.1')
    socket.end(`${asked[0] ?? ''} HTTP/1.0\r\n\r\n`)
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /)
  } finally {
    await at.stop()
  }
})
