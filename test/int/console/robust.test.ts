import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Browser } from 'playwright-core'
import { openBrowser, openPage } from '../../support/console/browser.js'
import { restartable, send, sql, startTestService } from '../../support/service.js'
import { undoAll } from '../../../src/basics/undo.js'

const undo: (() => unknown)[] = []
let browser: Browser

beforeAll(async () => {
  browser = await openBrowser()
  undo.push(() => browser.close())
})
afterAll(() => undoAll(undo))

test('over a slow network rows are shown as they come, and a query is cancelled', async () => {
  const { url, stop } = await startTestService()
  undo.push(stop)
  const { page, misdeeds } = await openPage(
    browser,
    url,
    `#/query?${new URLSearchParams({ sql: 'SELECT range AS i, md5(range::VARCHAR) AS h FROM range(2000000)' }).toString()}`,
  )
  await page.getByRole('button', { name: 'Run' }).waitFor()
  const session = await page.context().newCDPSession(page)
  await session.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 150,
    downloadThroughput: 200_000,
    uploadThroughput: 50_000,
  })
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByText('so far').waitFor()
  expect(await page.locator('.grid-row').count()).toBeGreaterThan(3)
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByText('cancelled').waitFor()
  expect(misdeeds).toEqual({ errors: [], elsewhere: [] })
  await page.context().close()
})

test('a stream of events that is cut off goes on by itself where it was', async () => {
  const { url, stop } = await startTestService()
  undo.push(stop)
  const { page } = await openPage(browser, url, '#/events')
  await page.getByText('Live').waitFor()
  await page.context().setOffline(true)
  const session = await page.context().newCDPSession(page)
  // What is under way is not cut by that: the page's own connections are closed here.
  await session.send('Network.emulateNetworkConditions', { offline: true, latency: 0, downloadThroughput: 0, uploadThroughput: 0 })
  await sql(url, 'CREATE PROJECT unseen')
  await page.context().setOffline(false)
  await session.send('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1 })
  await sql(url, 'CREATE PROJECT seen')
  await page.locator('summary', { hasText: 'Project created' }).nth(1).waitFor()
  const positions = await page.locator('.events .position').allInnerTexts()
  expect(new Set(positions).size).toBe(positions.length)
  await page.context().close()
})

/** The query page of a service that can go away, and come back at the same address. */
const openRestartable = async () => {
  const place = restartable()
  undo.push(() => place.remove())
  const url = await place.start()
  const { page } = await openPage(browser, url, '#/query')
  await page.getByLabel('SQL').waitFor()
  return { url, page, leave: () => place.stop(), comeBack: () => place.start({ PORT: new URL(url).port }) }
}

test('a page that is opened while the service is away opens by itself when it is back', async () => {
  const { page, leave, comeBack } = await openRestartable()
  await leave()
  await page.getByRole('link', { name: 'Health' }).click()
  await page.getByText('this page opens when it answers').waitFor()
  await comeBack()
  await page.locator('h1', { hasText: 'Health' }).waitFor()
  await page.context().close()
})

test('a service that restarts is told as not reachable, and used again without a reload', async () => {
  const { url, page, leave, comeBack } = await openRestartable()
  await sql(url, 'CREATE PROJECT shop')
  await page.getByLabel('SQL').click()
  await page.keyboard.type('SELECT 41 + 1 AS answer')
  await leave()
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByText('cannot be reached').first().waitFor()
  expect(await page.getByLabel('SQL').innerText()).toBe('SELECT 41 + 1 AS answer')
  await comeBack()
  await page.getByRole('button', { name: 'Run' }).click()
  await page.locator('.grid-row', { hasText: '42' }).waitFor()
  expect(await page.getByText('The service cannot be reached.').count()).toBe(0)
  await page.context().close()
})

test('a session that ends in the middle asks for the login, and the place and the text are there after it', async () => {
  const { url, stop } = await startTestService({ AUTH: 'session', AUTH_USERNAME: 'ada', AUTH_PASSWORD: 'a password of some length' })
  undo.push(stop)
  const { page } = await openPage(browser, url, '#/query?db=files')
  const login = async () => {
    await page.getByLabel('User name').fill('ada')
    await page.getByLabel('Password').fill('a password of some length')
    await page.getByRole('button', { name: 'Log in' }).click()
  }
  await login()
  await page.getByLabel('SQL').click()
  await page.keyboard.type('SELECT 1 AS one')
  await page.getByRole('button', { name: 'Run' }).click()
  await page.locator('.grid-row', { hasText: '1' }).waitFor()
  await page.context().clearCookies()
  await page.getByRole('button', { name: 'Run' }).click()
  await login()
  await page.getByLabel('SQL').waitFor()
  expect(await page.getByLabel('SQL').innerText()).toBe('SELECT 1 AS one')
  expect(new URL(page.url()).hash).toContain('db=files')
  expect((await send(url, 'GET', '/api/projects')).status).toBe(401)
  await page.context().close()
})
