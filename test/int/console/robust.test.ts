import { expect, test } from '@jest/globals'
import { freePort } from '../../support/cli.js'
import { openPage } from '../../support/console/browser.js'
import { clickWithoutSession, expectRefusals, expectUsable, startBrowser } from '../../support/console/console.js'
import { startProxy } from '../../support/console/proxy.js'
import { restartable, send, sql, startSqlService, startTestService } from '../../support/service.js'

const at = startBrowser()

test('over a slow network rows are shown as they come, and a query is cancelled', async () => {
  const { url, stop } = await startSqlService()
  at.undo(stop)
  const { page } = await openPage(
    at.browser,
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
  // Screen readers wait for the number of all rows.
  const status = (isBusy: boolean) => page.locator(`.answer [role=status][aria-busy=${isBusy}]`)
  expect(await status(true).count()).toBe(1)
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByText('cancelled').waitFor()
  await status(false).waitFor()
  await page.context().close()
})

test('a stream of events that is cut off goes on by itself where it was', async () => {
  expectRefusals()
  const { url, stop } = await startTestService()
  at.undo(stop)
  const line = await startProxy(url)
  at.undo(() => line.stop())
  const { page } = await openPage(at.browser, line.url, '#/events')
  const streams: string[] = []
  page.on('request', (request) => {
    if (request.url().includes('/events/stream')) streams.push(request.url())
  })
  const status = page.locator('h1 ~ [role=status]')
  const eventOf = (name: string) => page.locator('.events > li', { has: page.locator('pre', { hasText: `"${name}"` }) })
  await status.getByText('Live').waitFor()
  await sql(url, 'CREATE PROJECT before')
  await eventOf('before').first().waitFor({ state: 'attached' })
  await line.cut()
  await status.getByText('Not connected').waitFor()
  await sql(url, 'CREATE PROJECT unseen')
  expect(await eventOf('unseen').count()).toBe(0)
  await line.mend()
  await status.getByText('Live').waitFor()
  await eventOf('unseen').first().waitFor({ state: 'attached' })
  await sql(url, 'CREATE PROJECT seen')
  await eventOf('seen').first().waitFor({ state: 'attached' })
  for (const name of ['before', 'unseen', 'seen']) expect([name, await eventOf(name).count()]).toEqual([name, 1])
  expect(streams.length).toBeGreaterThan(0)
  const positions = (await page.locator('.events .position').allInnerTexts()).map(Number)
  expect(positions).toEqual(Array.from({ length: positions.length }, (_, i) => positions.length - i))
  await page.context().close()
})

test('a stream of events that was refused for good says why, and is connected again when the reader wants it', async () => {
  expectRefusals()
  const { url, stop } = await startTestService()
  at.undo(stop)
  const { page } = await openPage(at.browser, url, '#/health')
  await page.locator('h1', { hasText: 'Health' }).waitFor()
  let refusals = 0
  await page.route('**/events/stream*', async (route) => {
    refusals += 1
    await route.fulfill({ status: 400, contentType: 'application/problem+json', body: '{"detail":"the log ends at position 3, before 7"}' })
  })
  await page.getByRole('link', { name: 'Events' }).click()
  const notice = page.getByRole('alert').filter({ hasText: 'New events do not arrive: the log ends at position 3' })
  await notice.waitFor()
  await expectUsable(page)
  expect(refusals).toBe(1)
  await page.unroute('**/events/stream*')
  await sql(url, 'CREATE PROJECT meanwhile')
  await notice.getByRole('button', { name: 'Connect again' }).click()
  await page.locator('h1 ~ [role=status]').getByText('Live').waitFor()
  expect(await page.getByText('New events do not arrive').count()).toBe(0)
  await sql(url, 'CREATE PROJECT later')
  for (const name of ['meanwhile', 'later'])
    await page
      .locator('.events pre', { hasText: `"${name}"` })
      .first()
      .waitFor({ state: 'attached' })
  await page.context().close()
})

test('events go on after a restart, and after the login that the restart asks for', async () => {
  expectRefusals()
  const place = restartable()
  at.undo(() => place.remove())
  const login = { AUTH: 'session', AUTH_USERNAME: 'ada', AUTH_PASSWORD: 'a password of some length' }
  const url = await place.start({ ...login, PORT: String(await freePort()) })
  const { page } = await openPage(at.browser, url, '#/events')
  const logIn = async () => {
    await page.getByLabel('User name').fill('ada')
    await page.getByLabel('Password').fill('a password of some length')
    await page.keyboard.press('Enter')
    await page.locator('h1 ~ [role=status]').getByText('Live').waitFor()
  }
  await logIn()
  await place.stop()
  await page.getByText('it is tried again').first().waitFor()
  await place.start({ ...login, PORT: new URL(url).port })
  // Sessions do not outlive the process.
  await logIn()
  expect(new URL(page.url()).hash).toBe('#/events')
  await page.context().close()
})

/** The query page of a service that can go away, and come back at the same address. */
const openRestartable = async () => {
  const place = restartable()
  at.undo(() => place.remove())
  const url = await place.start({ PORT: String(await freePort()) })
  const { page } = await openPage(at.browser, url, '#/query')
  await page.getByLabel('SQL').waitFor()
  return { url, page, leave: () => place.stop(), comeBack: () => place.start({ PORT: new URL(url).port }) }
}

test('a page that a busy service refuses says so, and loads by itself a moment later', async () => {
  expectRefusals()
  const { url, stop } = await startTestService()
  at.undo(stop)
  const { page } = await openPage(at.browser, url)
  await page.locator('h1', { hasText: 'Mindledger' }).waitFor()
  let refused = 0
  let isSaid = false
  await page.route('**/api/sql/query', (route) =>
    refused++ < 2 || !isSaid ? route.fulfill({ status: 503, json: { title: 'Busy', detail: 'SQL is behind' } }) : route.continue(),
  )
  await page.goto(`${url}/#/resources`)
  await page.getByRole('alert').filter({ hasText: 'SQL is behind' }).waitFor()
  isSaid = true
  await page.locator('h1', { hasText: 'Resources' }).waitFor()
  expect(refused).toBeGreaterThanOrEqual(3)
  await page.context().close()
})

test('a page that is opened while the service is away opens by itself when it is back', async () => {
  expectRefusals()
  const { page, leave, comeBack } = await openRestartable()
  await leave()
  await page.getByRole('link', { name: 'Health' }).click()
  await page.getByText('this page opens when it answers').waitFor()
  await comeBack()
  await page.locator('h1', { hasText: 'Health' }).waitFor()
  await page.context().close()
})

test('a service that restarts is told as not reachable, and used again without a reload', async () => {
  expectRefusals()
  const { url, page, leave, comeBack } = await openRestartable()
  await sql(url, 'CREATE PROJECT shop')
  await page.getByLabel('SQL').click()
  await page.keyboard.type('SELECT 41 + 1 AS answer')
  await leave()
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByText('cannot be reached').first().waitFor()
  await page.locator('.cm-content', { hasText: 'SELECT 41 + 1 AS answer' }).waitFor()
  expect(await page.getByLabel('SQL').innerText()).toBe('SELECT 41 + 1 AS answer')
  await comeBack()
  // Until SQL has started, a statement is sent again a few times only.
  await sql(url, 'SELECT 1')
  await page.getByRole('button', { name: 'Run' }).click()
  await page.locator('.grid-row', { hasText: '42' }).waitFor()
  expect(await page.getByText('The service cannot be reached.').count()).toBe(0)
  await page.context().close()
})

test('a session that ends in the middle asks for the login, and the place and the text are there after it', async () => {
  expectRefusals()
  const { url, stop } = await startTestService({ AUTH: 'session', AUTH_USERNAME: 'ada', AUTH_PASSWORD: 'a password of some length' })
  at.undo(stop)
  const { page } = await openPage(at.browser, url, '#/query?db=files')
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
  await clickWithoutSession(page, 'button', 'Run')
  await login()
  await page.getByLabel('SQL').waitFor()
  await page.locator('.cm-content', { hasText: 'SELECT 1 AS one' }).waitFor()
  expect(await page.getByLabel('SQL').innerText()).toBe('SELECT 1 AS one')
  expect(new URL(page.url()).hash).toContain('db=files')
  expect((await send(url, 'GET', '/api/projects')).status).toBe(401)
  await page.context().close()
})
