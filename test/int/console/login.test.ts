import { afterAll, expect, test } from '@jest/globals'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { undoAll } from '../../../src/basics/undo.js'
import { repository } from '../../support/cli.js'
import { closeBrowser, openBrowser, openPage, violationsOf } from '../../support/console/browser.js'
import { checkMisdeeds, clickWithoutSession, expectRefusals, expectUsable } from '../../support/console/console.js'
import { send, startTestService } from '../../support/service.js'
import { until } from '../../support/until.js'

const undo: (() => unknown)[] = []
afterAll(() => undoAll(undo))
checkMisdeeds()

/** A page of a service that asks for a login. */
const openLogin = async (hash?: string) => {
  expectRefusals()
  const service = await startTestService({ AUTH: 'session', AUTH_USERNAME: 'ann', AUTH_PASSWORD: 'secret' })
  undo.push(service.stop)
  const browser = await openBrowser()
  undo.push(() => closeBrowser(browser))
  return { url: service.url, ...(await openPage(browser, service.url, hash)) }
}

const logIn = async (page: Page): Promise<void> => {
  await page.getByLabel('User name').fill('ann')
  await page.getByLabel('Password').fill('secret')
  await page.getByRole('button', { name: 'Log in' }).click()
}

test('the console asks for a login, and again when the session has ended; files of others are not among its own', async () => {
  const { page, url } = await openLogin()
  await page.getByLabel('User name').fill('ann')
  expect(await violationsOf(page)).toEqual([])
  await page.getByLabel('Password').fill('wrong')
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('alert').waitFor()
  await page.getByLabel('Password').fill('secret')
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.locator('h1', { hasText: 'Mindledger' }).waitFor()
  await page.getByText('Nothing is here yet').waitFor()
  await clickWithoutSession(page, 'link', 'Resources')
  await page.getByLabel('Password').waitFor()
  await page.context().close()

  for (const path of ['/assets/..%2f..%2fpackage.json', '/assets/%2e%2e%2findex.html', '/assets/none.js'])
    expect((await send(url, 'GET', path)).status).toBe(404)
})

test('what was written is still there when the session ran out, and a page that waits loads after the login', async () => {
  const { page } = await openLogin('#/new/project')
  await logIn(page)
  await page.getByLabel(/^name/).fill('office')
  await page.locator('.log-out').waitFor()
  await clickWithoutSession(page, 'button', 'Create')
  await page.getByLabel('Password').waitFor()
  await page.locator('.frame').waitFor({ state: 'hidden' })
  expect(await violationsOf(page)).toEqual([])
  await logIn(page)
  await page.getByRole('button', { name: 'Create' }).waitFor()
  expect(await page.getByLabel(/^name/).inputValue()).toBe('office')
  await page.getByRole('button', { name: 'Create' }).click()
  await page.locator('h1', { hasText: 'office' }).waitFor()
  await clickWithoutSession(page, 'link', 'Events')
  await logIn(page)
  await page.locator('h1 ~ [role=status]').getByText('Live').waitFor()
  await page.locator('.events summary').first().waitFor()
  await page.context().close()
})

test('a session that ends just when the page has found it keeps the page behind the login', async () => {
  const { page } = await openLogin('#/health')
  await logIn(page)
  await page.locator('.log-out').waitFor()
  // The page learns of its session when it has asked for its data, and of the end of the session before the next frame.
  await page.addInitScript(`{
    const { fetch } = window
    const gate = () => {
      const one = {}
      one.opened = new Promise((resolve) => (one.open = resolve))
      return one
    }
    const [asked, found] = [gate(), gate()]
    let isFirst = true
    window.fetch = async (to, ...given) => {
      const { pathname } = new URL(to)
      if (pathname === '/api/ready') {
        asked.open()
        await found.opened
        return new Response('{}', { status: 401, headers: { 'content-type': 'application/json' } })
      }
      const isOfSession = pathname === '/api/status' && isFirst
      if (isOfSession) isFirst = false
      const answer = await fetch(to, ...given)
      if (isOfSession) await asked.opened
      return answer
    }
    new MutationObserver(() => document.querySelector('.log-out') && found.open()).observe(document, { childList: true, subtree: true })
  }`)
  await page.reload()
  await page.getByLabel('Password').waitFor()
  expect(await page.getByText('Your session ended.').count()).toBe(1)
  await page.context().close()
})

test('a login has the focus and says why it is asked for, and gives the focus back', async () => {
  const { page } = await openLogin('#/health')
  const logInByKeys = async () => {
    await page.locator('[name=username]:focus').waitFor()
    await page.keyboard.type('ann')
    await page.getByLabel('Password').fill('secret')
    await page.keyboard.press('Enter')
  }
  const reason = page.getByText('Your session ended.')
  await page.getByLabel('User name').waitFor()
  expect(await reason.count()).toBe(0)
  await logInByKeys()
  await page.locator('h1:focus', { hasText: 'Health' }).waitFor()
  await page.locator('.log-out').waitFor()
  const settings = page.locator('summary', { hasText: 'Settings' })
  await settings.focus()
  // The page looks again by itself.
  await page.context().clearCookies()
  await reason.waitFor()
  expect(await page.getByLabel('User name').getAttribute('aria-describedby')).toBe(await reason.getAttribute('id'))
  expect(await violationsOf(page)).toEqual([])
  await logInByKeys()
  await page.locator('summary:focus', { hasText: 'Settings' }).waitFor()
  await page.context().close()
})

test('who logs out, by keys alone, leaves no data in this window or in others, and ends the stream of events', async () => {
  expectRefusals()
  const service = await startTestService({ AUTH: 'session', AUTH_USERNAME: 'ann', AUTH_PASSWORD: 'secret', METRICS: 'open' })
  undo.push(service.stop)
  const { url } = service
  const browser = await openBrowser()
  undo.push(() => closeBrowser(browser))
  const { page } = await openPage(browser, url, '#/', { viewport: { width: 360, height: 800 } })
  await page.getByLabel('User name').waitFor()
  await expectUsable(page)
  await page.getByLabel('User name').fill('ann')
  await page.getByLabel('Password').fill('secret')
  await page.keyboard.press('Enter')
  await page.getByText('Nothing is here yet').waitFor()
  await page.getByRole('link', { name: 'Events' }).click()
  await page.locator('h1 ~ [role=status]').getByText('Live').waitFor()
  await page.locator('.events summary').first().waitFor()
  const other = await page.context().newPage()
  await other.goto(`${url}/#/query?sql=SELECT+42+AS+answer`)
  await other.getByRole('button', { name: 'Run' }).click()
  await other.getByRole('gridcell', { name: '42' }).waitFor()
  await other.getByRole('link', { name: 'Resources' }).click()
  await other.locator('h1', { hasText: 'Resources' }).waitFor()
  const leave = page.getByRole('button', { name: 'Log out' })
  await leave.waitFor()
  await expectUsable(page)
  const followers = async () => /mindledger_event_stream_clients (\d+)/.exec(await (await fetch(`${url}/metrics`)).text())?.[1]
  expect(await followers()).toBe('1')
  await leave.focus()
  // Both windows load anew, and show the frame until the service asks for the login.
  const left = [page, other].map((one) => one.waitForEvent('load'))
  await page.keyboard.press('Enter')
  await Promise.all(left)
  await page.getByLabel('Password').waitFor()
  await until(async () => (await followers()) === '0')
  await other.getByLabel('Password').waitFor()
  await page.goBack()
  await page.waitForURL(/#\/$/)
  for (const one of [page, other]) {
    await one.getByLabel('Password').waitFor()
    expect(await one.locator('.frame, .events').count()).toBe(0)
  }
  expect((await send(url, 'GET', '/api/projects')).status).toBe(401)
  // Who logs in next does not find the rows of the one before.
  await other.getByLabel('User name').fill('ann')
  await other.getByLabel('Password').fill('secret')
  await other.keyboard.press('Enter')
  await other.getByRole('link', { name: 'Query' }).click()
  await other.getByText('Ask anything').waitFor()
  await page.context().close()
})

test('a window whose session another one ends while it is drawn shows nothing more', async () => {
  const service = await startTestService()
  undo.push(service.stop)
  const browser = await openBrowser()
  undo.push(() => closeBrowser(browser))
  const { page } = await openPage(browser, service.url)
  await page.getByText('Nothing is here yet').waitFor()
  await page.addInitScript(`{
    const key = 'logged-out'
    const seen = new MutationObserver(async () => {
      if (sessionStorage.getItem('left') !== null || !document.querySelector('header.top')) return
      seen.disconnect()
      for (let step = 0; step < 100; step++) await undefined
      dispatchEvent(new StorageEvent('storage', { key }))
      for (let step = 0; step < 100; step++) await undefined
      sessionStorage.setItem('left', String(document.querySelector('header.top') === null))
    })
    seen.observe(document, { childList: true, subtree: true })
  }`)
  await page.reload()
  await until(async () => (await page.evaluate(`sessionStorage.getItem('left')`).catch(() => null)) !== null)
  expect(await page.evaluate(`sessionStorage.getItem('left')`)).toBe('true')
  await page.getByText('Nothing is here yet').waitFor()
  await page.context().close()
})

test('a service without a login offers no way out of one', async () => {
  const service = await startTestService()
  undo.push(service.stop)
  const browser = await openBrowser()
  undo.push(() => closeBrowser(browser))
  const { page } = await openPage(browser, service.url)
  await page.getByText('Nothing is here yet').waitFor()
  expect(await page.getByRole('button', { name: 'Log out' }).count()).toBe(0)
  await page.context().close()
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
