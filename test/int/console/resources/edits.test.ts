import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { openPage } from '../../../support/console/browser.js'
import { expectRefusals, expectUsable, seenAtAllSizes, startConsole } from '../../../support/console/console.js'
import { settled, uploadRentals } from '../../../support/models/rentals.js'
import { send, sql } from '../../../support/service.js'
import { until } from '../../../support/until.js'

const nightly = { name: 'nightly', query: 'SELECT 1', if_query: 'SELECT 2', start_at: '2099-01-01 03:00:00', schedule_str: 'every day' }

const at = startConsole(async (url) => {
  for (const name of ['shop', 'annex']) await send(url, 'POST', '/api/projects', { project: { name } })
  await send(url, 'POST', '/api/projects/shop/views', { view: { name: 'one', query: 'SELECT 1 AS a' } })
  expect((await send(url, 'POST', '/api/projects/shop/jobs', { job: nightly })).status).toBe(200)
  await uploadRentals(url)
  await sql(url, `CREATE MODEL shop.rent FROM files (SELECT * FROM rentals) PREDICT rental_price USING engine = 'constant'`)
  expect(await settled(url, 'rent', 'shop')).toBe('complete')
})

const read = async (path: string) => (await send(at.url, 'GET', `/api/${path}`)).body as Record<string, unknown>

/** Asks a form for its events, which are in its preview then. */
const plan = async (page: Page, words: string): Promise<void> => {
  await page.getByRole('button', { name: 'What would happen' }).click()
  await page.getByRole('status').filter({ hasText: 'would be recorded' }).getByText(words).waitFor()
}

test('a project gets another name by Enter in its form, after the form has shown the event', async () => {
  const { page } = await openPage(at.browser, at.url, '#/resources/project/-/annex')
  await page.getByRole('tab', { name: 'Contents' }).focus()
  await page.keyboard.press('ArrowRight')
  const name = page.getByLabel(/^name/)
  await name.focus()
  await page.keyboard.press('Control+A')
  await page.keyboard.type('outlet')
  await plan(page, 'Project renamed')
  await expectUsable(page)
  expect(await read('projects/annex')).toEqual({ name: 'annex' })
  await name.focus()
  await page.keyboard.press('Enter')
  await page.locator('h1', { hasText: 'outlet' }).waitFor()
  expect(await read('projects/outlet')).toEqual({ name: 'outlet' })
  await page.getByRole('tab', { name: 'History' }).click()
  await page.locator('.history').getByText('Project renamed').waitFor()
  await page.context().close()
})

test('the form of the default project says why it keeps its name, and the text stays', async () => {
  expectRefusals()
  const { page } = await openPage(at.browser, at.url, '#/resources/project/-/mindsdb?tab=edit')
  await page.getByLabel(/^name/).fill('other')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('alert').getByText('default project').waitFor()
  expect(await page.getByLabel(/^name/).inputValue()).toBe('other')
  await page.context().close()
})

test('the form of a model has the values that the API takes, and leads to its versions', async () => {
  const { page } = await openPage(at.browser, at.url, '#/resources/model/shop/rent?tab=edit')
  const recording = page.getByLabel(/^recording/)
  await recording.waitFor()
  expect(await recording.locator('option').allInnerTexts()).toEqual(['all', 'off'])
  expect(await recording.inputValue()).toBe('all')
  await recording.selectOption('off')
  await plan(page, 'Model recording changed')
  expect(await read('projects/shop/models/rent')).toMatchObject({ recording: 'all' })
  const saved = page.waitForResponse((response) => response.request().method() === 'PUT')
  await page.getByRole('button', { name: 'Save' }).click()
  expect((await saved).status()).toBe(200)
  await page.locator('button:enabled', { hasText: 'Save' }).waitFor()
  expect(await recording.inputValue()).toBe('off')
  expect(await read('projects/shop/models/rent')).toMatchObject({ recording: 'off' })
  await page.getByRole('link', { name: 'The card' }).click()
  await page.getByRole('region', { name: 'Versions' }).waitFor()
  await page.context().close()
})

test('a form without a change says so, and sends nothing', async () => {
  const { page } = await openPage(at.browser, at.url, '#/resources/view/shop/one?tab=edit')
  const sent: string[] = []
  page.on('request', (request) => {
    if (request.method() === 'PUT') sent.push(request.url())
  })
  for (const name of ['Save', 'What would happen']) {
    await page.reload()
    await page.getByLabel(/^query/).fill('SELECT 2 AS a')
    await page.getByLabel(/^query/).fill('SELECT 1 AS a')
    await page.getByRole('button', { name }).click()
    await page.getByRole('alert').getByText('Nothing is changed yet').waitFor()
  }
  expect(sent).toEqual([])
  await page.context().close()
})

test('the form of a job changes what it runs and when, also if it has run meanwhile', async () => {
  const path = '/api/projects/shop/jobs/changing'
  const put = async (job: object) => expect((await send(at.url, 'PUT', path, { job })).status).toBe(200)
  const runs = async () => ((await send(at.url, 'GET', `${path}/history`)).body as { run_end: string | null }[]).map((run) => run.run_end)
  const made = { ...nightly, name: 'changing', query: `SELECT 'sk-planted' AS api_key` }
  expect((await send(at.url, 'POST', '/api/projects/shop/jobs', { job: made })).status).toBe(200)
  const { page } = await openPage(at.browser, at.url, '#/resources/job/shop/changing?tab=edit')
  const field = (name: RegExp) => page.getByLabel(name).first()
  const query = await field(/^query/).inputValue()
  expect(query).toContain('******')
  await put({ start_at: 'now' })
  await until(async () => (await runs()).some((end) => end !== null))
  await put({ start_at: nightly.start_at })
  await field(/^query/).fill(`SELECT 3;\n${query}`)
  await field(/^if query/).fill('')
  await field(/^schedule str/).fill('every hour')
  await plan(page, 'Job updated')
  const saved = page.waitForResponse((response) => response.request().method() === 'PUT')
  await page.getByRole('button', { name: 'Save' }).click()
  expect((await saved).status()).toBe(200)
  await page.locator('button:enabled', { hasText: 'Save' }).waitFor()
  expect(await field(/^if query/).inputValue()).toBe('')
  const changes = { query: `SELECT 3;\n${query}`, if_query: null, start_at: '2099-01-01 03:00:00.000000', schedule_str: 'every hour' }
  expect(await read('projects/shop/jobs/changing')).toMatchObject(changes)
  await page.getByRole('tab', { name: 'History' }).click()
  await page.locator('.history').getByText('Job updated').first().waitFor()
  await page.context().close()
})

test('the form of a job does not write over another change', async () => {
  expectRefusals()
  const path = '/api/projects/shop/jobs/fought'
  expect((await send(at.url, 'POST', '/api/projects/shop/jobs', { job: { ...nightly, name: 'fought' } })).status).toBe(200)
  const { page } = await openPage(at.browser, at.url, '#/resources/job/shop/fought?tab=edit')
  await page
    .getByLabel(/^query/)
    .first()
    .fill('SELECT 3')
  expect((await send(at.url, 'PUT', path, { job: { query: 'SELECT 4' } })).status).toBe(200)
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('alert').getByText('the resource has version 2').waitFor()
  expect(await read('projects/shop/jobs/fought')).toMatchObject({ query: 'SELECT 4' })
  await page.context().close()
})

test('another job is made like one, and begins with its next run', async () => {
  const { page } = await openPage(at.browser, at.url, '#/resources/job/shop/nightly')
  await page.getByRole('tab', { name: 'Runs' }).waitFor()
  await page.getByRole('link', { name: 'Make one like it' }).click()
  await page.getByText('These are the statements of nightly').waitFor()
  const field = (name: RegExp) => page.getByLabel(name).first()
  const values = [/^name/, /^query/, /^if query/, /^start at/, /^end at/, /^schedule str/].map((name) => field(name).inputValue())
  expect(await Promise.all(values)).toEqual(['', 'SELECT 1', 'SELECT 2', '2099-01-01 03:00:00', '', 'every day'])
  await field(/^name/).fill('hourly')
  await field(/^schedule str/).fill('every hour')
  await plan(page, 'Job created')
  await page.getByRole('button', { name: 'Create' }).click()
  await page.locator('h1', { hasText: 'hourly' }).waitFor()
  const { name: _, ...definition } = nightly
  const times = { start_at: '2099-01-01 03:00:00.000000', schedule_str: 'every hour' }
  expect(await read('projects/shop/jobs/hourly')).toMatchObject({ ...definition, ...times })
  expect(await read('projects/shop/jobs/nightly')).toMatchObject({ schedule_str: 'every day' })
  await page.context().close()
})

test('the form of a job like another one leaves out times in the past, and says that its secrets are not there', async () => {
  const job = { name: 'sealed', query: `SELECT 'sk-planted-12345678901234567890' AS api_key`, end_at: '2099-01-01' }
  expect((await send(at.url, 'POST', '/api/projects/shop/jobs', { job })).status).toBe(200)
  const { page } = await openPage(at.browser, at.url, '#/new/job?project=shop&from=shop&like=sealed')
  await page.getByText('type them again where ****** is').waitFor()
  expect(await page.getByLabel(/^query/).inputValue()).toContain('******')
  expect(await page.getByLabel(/^start at/).inputValue()).toBe('')
  expect(await page.getByLabel(/^end at/).inputValue()).toBe('2099-01-01 00:00:00')
  await page.goto(`${at.url}/#/new/job?project=shop`)
  await page.getByText('These are the statements').waitFor({ state: 'detached' })
  expect(await page.getByLabel(/^query/).inputValue()).toBe('')
  await page.context().close()
})

test('on a large screen the form of something new is no wider than that of a change', async () => {
  const widths: (number | undefined)[] = []
  for (const hash of ['#/resources/view/shop/one?tab=edit', '#/new/view?project=shop']) {
    const { page } = await openPage(at.browser, at.url, hash, { viewport: { width: 2_560, height: 900 } })
    await page.locator('.resource-form').waitFor()
    widths.push((await page.locator('.resource-form').boundingBox())?.width)
    await page.context().close()
  }
  expect(widths[1]).toBe(widths[0])
})

test.each([
  'resources/project/-/shop?tab=edit',
  'resources/model/shop/rent?tab=edit',
  'resources/job/shop/nightly?tab=edit',
  'new/job?project=shop&from=shop&like=nightly',
])('anybody can use the form at #/%s', (hash) =>
  seenAtAllSizes(at, `#/${hash}`, async (page) => {
    await page.locator('form').waitFor()
  }),
)
