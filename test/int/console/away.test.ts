import { expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page, Route } from 'playwright-core'
import { freePort } from '../../support/cli.js'
import { openPage } from '../../support/console/browser.js'
import { expectRefusals, expectUsable, startBrowser } from '../../support/console/console.js'
import { startProxy } from '../../support/console/proxy.js'
import { countOf } from '../../support/counts.js'
import { restartable, send, sql } from '../../support/service.js'
import { until } from '../../support/until.js'

const at = startBrowser()

/** The places where the page says that the service is away. */
const saysAway = (page: Page) => page.getByText('The service cannot be reached.')

/** Sends the statement of a query page, and breaks the connection before its answer when the service has left. */
const askWithoutAnswer = async (page: Page, hasLeft: Promise<void>): Promise<void> => {
  let asked = 0
  await page.route('**/api/sql/query', async (route) => {
    if (route.request().postData()?.includes('AS answer') !== true || asked++ > 0) return route.continue()
    await hasLeft
    return route.abort('connectionreset')
  })
  await page.getByRole('button', { name: 'Run' }).click()
  await until(() => asked === 1)
}

test('while the service is away each page says so once, keeps what was typed, and goes on by itself', async () => {
  expectRefusals()
  const place = restartable()
  at.undo(() => place.remove())
  const url = await place.start({ PORT: String(await freePort()) })
  await sql(url, 'CREATE PROJECT before')
  const open = async (hash: string) => (await openPage(at.browser, url, hash)).page
  const query = await open(`#/query?${new URLSearchParams({ sql: 'SELECT 41 + 1 AS answer' }).toString()}`)
  const events = await open('#/events')
  const health = await open('#/health')
  const form = await open('#/new/project')
  const status = events.locator('h1 ~ [role=status]')
  await status.getByText('Live').waitFor()
  await health.locator('.card', { hasText: 'Log' }).getByText('ready', { exact: true }).waitFor()
  await form.getByLabel(/^name/).fill('office')
  let leave: () => void = () => undefined
  await askWithoutAnswer(query, new Promise<void>((resolve) => (leave = resolve)))

  await place.stop()
  leave()
  for (const page of [query, events, health]) await saysAway(page).waitFor()
  await form.getByRole('button', { name: 'Create' }).click()
  await saysAway(form).waitFor()
  await status.getByText('it is tried again').waitFor()
  await sleep(countOf('CONSOLE_AWAY_SECONDS') * 1_000)
  for (const page of [query, events, health, form]) expect(await saysAway(page).count()).toBe(1)
  // The old numbers stay.
  await health.locator('.card', { hasText: 'Log' }).getByText('ready', { exact: true }).waitFor()
  expect(await form.getByLabel(/^name/).inputValue()).toBe('office')
  await expectUsable(query)

  await place.start({ PORT: new URL(url).port })
  // Until SQL has started, a statement is sent again a few times only.
  await sql(url, 'SELECT 1')
  for (const page of [query, events, health, form]) await saysAway(page).waitFor({ state: 'detached' })
  // An agent or a model may have been asked, so no statement is sent again after a connection broke.
  await query.getByRole('alert').getByText('the service cannot be reached').waitFor()
  await query.getByRole('button', { name: 'Run' }).click()
  await query.locator('.grid-row', { hasText: '42' }).waitFor()
  await status.getByText('Live').waitFor()
  await sql(url, 'CREATE PROJECT after')
  for (const name of ['before', 'after']) {
    const line = events.locator('.events > li', { has: events.locator('pre', { hasText: `"${name}"` }) })
    await line.first().waitFor({ state: 'attached' })
    expect([name, await line.count()]).toEqual([name, 1])
  }
  await form.getByRole('button', { name: 'Create' }).click()
  await form.locator('h1', { hasText: 'office' }).waitFor()
  for (const page of [query, events, health, form]) await page.context().close()
})

test('a statement that writes is not sent again by itself, and a proxy that answers in place of the service is no answer', async () => {
  expectRefusals()
  const place = restartable()
  at.undo(() => place.remove())
  const url = await place.start()
  const { page } = await openPage(at.browser, url, `#/query?${new URLSearchParams({ sql: 'CREATE PROJECT once' }).toString()}`)
  // An answer of the service that is still on its way would say that it is there.
  await page.getByRole('button', { name: 'Run' }).waitFor()
  await page.waitForLoadState('networkidle')
  let written = 0
  await page.route('**/api/**', async (route) => {
    if (route.request().postData()?.includes('CREATE PROJECT') === true) written += 1
    await route.fulfill({ status: 503, contentType: 'text/html', body: '<html><body>No server is available.</body></html>' })
  })
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByRole('alert').getByText('The statement may have been carried out.').waitFor()
  await saysAway(page).waitFor()
  await page.unroute('**/api/**')
  await saysAway(page).waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'Resources' }).click()
  await page.locator('h1', { hasText: 'Resources' }).waitFor()
  expect(written).toBe(1)
  expect((await send(url, 'GET', '/api/projects/once')).status).toBe(404)
  await page.context().close()
})

test('a statement is sent again only if it reads, and the service itself said that it did not begin it', async () => {
  expectRefusals()
  const place = restartable()
  at.undo(() => place.remove())
  const url = await place.start()
  await sql(url, `CREATE AGENT broker USING model = 'gpt-4o'`)
  const { page } = await openPage(at.browser, url, '#/query')
  const refusal = (code: string) => ({
    status: 503,
    contentType: 'application/problem+json',
    body: JSON.stringify({ title: 'Refused', status: 503, detail: `refused as ${code}`, code }),
  })
  /** Gives the first request of a statement another answer, and counts its requests. */
  const askedFor = async (statement: string, answer: (route: Route) => Promise<void>, ended: string): Promise<number> => {
    let asked = 0
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await page.route('**/api/sql/query', async (route) => {
      if (route.request().postData()?.includes(JSON.stringify(statement)) !== true) return route.continue()
      asked += 1
      return asked === 1 ? answer(route) : route.continue()
    })
    await page.goto(`${url}/#/query?${new URLSearchParams({ sql: statement }).toString()}`)
    await page.locator('.cm-content', { hasText: statement }).waitFor()
    await page.getByRole('button', { name: 'Run' }).click()
    await page.locator('.query').getByText(ended).first().waitFor()
    return asked
  }
  const isBusy = (route: Route) => route.fulfill(refusal('busy'))
  expect(await askedFor('SELECT 40 + 2 AS answer', isBusy, '42')).toBe(2)
  // The log was written for an answer, so the agent was asked.
  const isUnstored = (route: Route) => route.fulfill(refusal('storage_failed'))
  expect(await askedFor(`SELECT answer FROM broker WHERE question = 'how many?'`, isUnstored, 'refused as storage_failed')).toBe(1)
  const breaks = (route: Route) => route.abort('connectionreset')
  expect(await askedFor(`SELECT answer FROM broker WHERE question = 'which?'`, breaks, 'the service cannot be reached')).toBe(1)
  await saysAway(page).waitFor({ state: 'detached' })
  expect(await askedFor('EVALUATE AGENT broker USING test_table = 1', isBusy, 'refused as busy')).toBe(1)
  expect(await askedFor('SELECT * FROM shop_db (SELECT pay(7))', isBusy, 'refused as busy')).toBe(1)
  await page.context().close()
})

test('a page keeps its data while a service that is back still starts, and a gateway that waits in vain is no service', async () => {
  expectRefusals()
  const place = restartable()
  at.undo(() => place.remove())
  const url = await place.start()
  const { page } = await openPage(at.browser, url, '#/health')
  const ready = page.locator('.card', { hasText: 'Log' }).getByText('ready', { exact: true })
  await ready.waitFor()
  // The runs of jobs are loaded after the numbers, and what was never loaded could not stay.
  await page.getByText('No job has run.').waitFor()
  let isGone = true
  let starting = 0
  await page.route('**/api/**', async (route) => {
    if (isGone) return route.fulfill({ status: 504, contentType: 'text/html', body: '<html><body>Gateway Time-out</body></html>' })
    if (new URL(route.request().url()).pathname === '/api/health') return route.continue()
    starting += 1
    const body = JSON.stringify({ title: 'Starting', status: 503, detail: 'SQL starts', code: 'analytics_unavailable' })
    return route.fulfill({ status: 503, contentType: 'application/problem+json', body })
  })
  await saysAway(page).waitFor()
  isGone = false
  await saysAway(page).waitFor({ state: 'detached' })
  await until(() => starting > 3)
  expect([await ready.count(), await page.getByRole('alert').allInnerTexts()]).toEqual([1, []])
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await page.context().close()
})

test('on a network that hangs each page says so, ends what it waits for, sends no write again, and goes on by itself', async () => {
  expectRefusals()
  const place = restartable()
  at.undo(() => place.remove())
  const url = await place.start()
  await sql(url, `CREATE AGENT broker USING model = 'gpt-4o'`)
  const line = await startProxy(url)
  at.undo(() => line.stop())
  const open = async (hash: string) => (await openPage(at.browser, line.url, hash)).page
  const query = await open(`#/query?${new URLSearchParams({ sql: 'SELECT 41 + 1 AS answer' }).toString()}`)
  const events = await open('#/events')
  const health = await open('#/health')
  const form = await open('#/new/project')
  const playground = await open('#/playground?agent=mindsdb/broker')
  const plan = await open('#/new/project')
  const status = events.locator('h1 ~ [role=status]')
  await status.getByText('Live').waitFor()
  await health.locator('.card', { hasText: 'Log' }).getByText('ready', { exact: true }).waitFor()
  await query.getByRole('button', { name: 'Run' }).waitFor()
  for (const page of [form, plan]) await page.getByLabel(/^name/).fill('office')
  await playground.getByLabel('Question').fill('How many?')
  let written = 0
  form.on('request', (request) => request.method() === 'POST' && new URL(request.url()).pathname === '/api/projects' && written++)

  line.hang()
  const create = form.getByRole('button', { name: 'Create' })
  await create.click()
  await plan.getByRole('button', { name: 'What would happen' }).click()
  await playground.getByRole('button', { name: 'Ask', exact: true }).click()
  await query.getByRole('button', { name: 'Run' }).click()
  for (const page of [query, events, health, form, playground, plan]) await saysAway(page).waitFor()
  // The user may wait for a statement, or cancel it.
  await query.getByRole('button', { name: 'Cancel' }).click()
  await query.getByText('Cancelled before the first row.').waitFor()
  await status.getByText('it is tried again').waitFor()
  await playground.getByRole('alert').getByText('no answer came from the service').waitFor()
  await form.getByRole('alert').getByText('look before you send it again').waitFor()
  // A plan changes nothing.
  await plan.getByRole('alert').getByText('Try it again.').waitFor()
  expect(await create.isEnabled()).toBe(true)
  expect(await form.getByLabel(/^name/).inputValue()).toBe('office')

  line.goOn()
  for (const page of [query, events, health, form, playground, plan]) await saysAway(page).waitFor({ state: 'detached' })
  await status.getByText('Live').waitFor()
  expect(written).toBe(1)
  expect((await send(url, 'GET', '/api/projects/office')).status).toBe(404)
  await create.click()
  await form.locator('h1', { hasText: 'office' }).waitFor()
  for (const page of [query, events, health, form, playground, plan]) await page.context().close()
})
