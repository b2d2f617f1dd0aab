import { afterAll, expect, test } from '@jest/globals'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { undoAll } from '../../../src/basics/undo.js'
import { repository } from '../../support/cli.js'
import { openBrowser, openPage, violationsOf } from '../../support/console/browser.js'
import { send, startTestService } from '../../support/service.js'

const undo: (() => unknown)[] = []
afterAll(() => undoAll(undo))

test('the console asks for a login, and again when the session has ended; files of others are not among its own', async () => {
  const service = await startTestService({ AUTH: 'session', AUTH_USERNAME: 'ann', AUTH_PASSWORD: 'secret' })
  undo.push(service.stop)
  const { url } = service
  const browser = await openBrowser()
  undo.push(() => browser.close())
  const { page, misdeeds } = await openPage(browser, url)
  await page.getByLabel('User name').fill('ann')
  expect(await violationsOf(page)).toEqual([])
  await page.getByLabel('Password').fill('wrong')
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('alert').waitFor()
  await page.getByLabel('Password').fill('secret')
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.locator('h1', { hasText: 'Mindledger' }).waitFor()
  await page.getByText('Nothing is here yet').waitFor()
  await page.context().clearCookies()
  await page.getByRole('link', { name: 'Resources' }).click()
  await page.getByLabel('Password').waitFor()
  expect(misdeeds.elsewhere).toEqual([])
  await page.context().close()

  for (const path of ['/assets/..%2f..%2fpackage.json', '/assets/%2e%2e%2findex.html', '/assets/none.js'])
    expect((await send(url, 'GET', path)).status).toBe(404)
})

test('the page and its files are sent as a browser takes them, and kept as their names allow', async () => {
  const service = await startTestService()
  undo.push(service.stop)
  const page = await fetch(`${service.url}/`, { headers: { accept: 'text/html' } })
  expect(page.headers.get('content-security-policy')).toContain(`default-src 'self'`)
  expect(page.headers.get('cache-control')).toBe('no-cache')
  const [, script = ''] = /src="\.\/(assets\/[^"]+\.js)"/.exec(await page.text()) ?? []
  for (const [accepted, encoding] of [
    ['br, gzip', 'br'],
    ['gzip, br;q=0', 'gzip'],
    ['identity', null],
  ] as const) {
    const sent = await fetch(`${service.url}/${script}`, { headers: { 'accept-encoding': accepted } })
    expect([sent.status, sent.headers.get('content-encoding'), sent.headers.get('cache-control')]).toEqual([
      200,
      encoding,
      'public, max-age=31536000, immutable',
    ])
    expect(await sent.text()).toContain('import')
  }
  expect((await send(service.url, 'GET', '/')).body).toMatchObject({ name: 'Mindledger' })
  const built = readdirSync(join(repository, 'dist/console/assets')).filter((name) => !/\.(?:br|gz)$/.test(name))
  const statuses = await Promise.all(built.map(async (name) => [name, (await fetch(`${service.url}/assets/${name}`)).status]))
  expect(statuses.filter(([, status]) => status !== 200)).toEqual([])
})
