import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { runProgram } from '../support/cli.js'
import { blocksOf, openClone, readSource, type Clone } from '../support/clone.js'
import { send } from '../support/service.js'

const page = readSource('docs/operate/login.md')
const blocks = blocksOf(page)
const shell = blocks.filter(({ language }) => language === 'sh').map(({ text }) => text)
const settings = { AUTH: 'session', AUTH_USERNAME: 'me', AUTH_PASSWORD: 'secret' }

let clone: Clone
beforeAll(async () => {
  clone = await openClone({ ...settings, HOST: '0.0.0.0' })
})
afterAll(() => clone.stop())

test('the service is started with the settings of the page', () => {
  expect(shell[0]).toBe(
    `${Object.entries(settings)
      .map((pair) => pair.join('='))
      .join(' ')} npm start\n`,
  )
})

test('a token and a cookie let in', async () => {
  const { code, out, err } = await clone.shell(shell[1] ?? '')
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect([...out.matchAll(/"name":"mindsdb"/g)].length).toBe(2)
})

test('the command line logs in', async () => {
  const { code, out } = await clone.shell(shell[2] ?? '')
  expect(code).toBe(0)
  expect(out).toMatch(/^me@localhost$/m)
})

test('the JavaScript SDK logs in', async () => {
  // Another name of this machine than those that the SDK takes for local.
  const script = blocks.find(({ language }) => language === 'js')?.text ?? ''
  writeFileSync(
    join(clone.home, 'client.mjs'),
    script.replace('http://ledger.example:47334', `http://127.0.0.2:${new URL(clone.url).port}`),
  )
  expect(await runProgram(process.execPath, ['client.mjs'], { cwd: clone.home })).toMatchObject({ code: 0, out: "[ 'mindsdb' ]\n" })
})

test('the Python SDK posts what the service takes', async () => {
  // mindsdb_sdk with is_managed=True: POST /api/login with these two, and then the cookie.
  const { status, headers } = await send(clone.url, 'POST', '/api/login', { username: 'me', password: 'secret' })
  expect([status, headers.get('set-cookie')]).toEqual([200, expect.stringMatching(/^session=/)])
})

test('the paths that need no login are those of the page', async () => {
  const sentence = /^These paths answer without a login: (.+?)\. With/m.exec(page)?.[1] ?? ''
  const paths = [...sentence.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path)
  expect(paths.length).toBeGreaterThan(6)
  for (const path of paths) {
    const isPost = /log(in|out)$/.test(path)
    const { status } = await send(clone.url, isPost ? 'POST' : 'GET', path, isPost ? { username: 'me', password: 'secret' } : undefined)
    expect([path, status]).toEqual([path, 200])
  }
  for (const path of ['/api/projects', '/api/events', '/metrics']) expect((await send(clone.url, 'GET', path)).status).toBe(401)
})
