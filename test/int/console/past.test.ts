import { expect, test } from '@jest/globals'
import { holdRequests, openPage } from '../../support/console/browser.js'
import { expectUsable, startConsole } from '../../support/console/console.js'
import { send, sql } from '../../support/service.js'
import { until } from '../../support/until.js'

const upload = async (url: string, name: string, word: string): Promise<void> => {
  const form = new FormData()
  form.append('file', new Blob([`word\n${word}\n`]), `${name}.csv`)
  expect((await send(url, 'PUT', `/api/files/${name}`, form)).status).toBeLessThan(300)
}

const trained = async (url: string, statement: string, model: string): Promise<void> => {
  expect((await sql(url, statement)).error_message).toBeUndefined()
  const newest = `SELECT STATUS FROM information_schema.models WHERE NAME = '${model}' ORDER BY VERSION DESC LIMIT 1`
  await until(async () => (await sql(url, newest)).data[0]?.[0] === 'complete')
}

/** The position before everything was changed. */
let then = 0

const at = startConsole(async (url) => {
  const run = async (...statements: string[]) => {
    for (const statement of statements) expect([statement, (await sql(url, statement)).error_message]).toEqual([statement, undefined])
  }
  const skill = `USING type = 'sql', database = 'files', tables = ['homes']`
  await upload(url, 'notes', 'alpha')
  await run(
    'CREATE TABLE files.homes (SELECT i AS size, 9 * i AS rent FROM range(60) AS t(i))',
    'CREATE PROJECT shop',
    `CREATE SKILL shop.rents ${skill}`,
    `CREATE AGENT shop.broker USING model = 'gpt-4o'`,
    'CREATE VIEW shop.large AS (SELECT 1 AS early_column)',
    'CREATE JOB shop.nightly (SELECT 1) EVERY day',
  )
  await trained(url, `CREATE MODEL fee FROM files (SELECT * FROM homes) PREDICT rent USING engine = 'linear'`, 'fee')
  then = Number((await sql(url, 'SELECT max(position) FROM log.events')).data[0]?.[0])
  await upload(url, 'notes', 'omega')
  await upload(url, 'later_file', 'omega')
  const change = { skill: { params: { database: 'files', tables: ['homes'], description: 'said later' } } }
  expect((await send(url, 'PUT', '/api/projects/shop/skills/rents', change)).status).toBe(200)
  await run(
    'CREATE PROJECT later_project',
    `CREATE SKILL shop.later_skill ${skill}`,
    `CREATE AGENT shop.later_agent USING model = 'gpt-4o'`,
    'CREATE VIEW shop.later_view AS (SELECT 1 AS a)',
    'ALTER VIEW shop.large AS (SELECT 1 AS late_column)',
    'CREATE JOB shop.later_job (SELECT 1) EVERY day',
  )
  await trained(url, 'RETRAIN fee', 'fee')
  await trained(url, `CREATE MODEL later_model FROM files (SELECT * FROM homes) PREDICT rent USING engine = 'constant'`, 'later_model')
})

test.each([
  ['#/', 'rents', 'later_skill'],
  ['#/resources/project', 'shop', 'later_project'],
  ['#/resources/skill', 'rents', 'later_skill'],
  ['#/resources/agent', 'broker', 'later_agent'],
  ['#/resources/view', 'large', 'later_view'],
  ['#/resources/job', 'nightly', 'later_job'],
  ['#/resources/file', 'notes', 'later_file'],
  ['#/resources/model', 'fee', 'later_model'],
  ['#/resources/project/-/shop', 'rents', 'later_skill'],
  ['#/resources/skill/shop/rents', 'homes', 'said later'],
  ['#/resources/skill/shop/rents?tab=history', 'Skill created', 'Skill updated'],
  ['#/resources/file/-/notes?tab=rows', 'alpha', 'omega'],
  ['#/resources/view/shop/large?tab=rows', 'early_column', 'late_column'],
  ['#/models', 'fee', 'later_model'],
  ['#/models/mindsdb/fee', 'version 1, active', 'version 2, active'],
  ['#/models/mindsdb/fee?tab=versions', 'version 1, active', 'version 2, active'],
  ['#/events', 'Project created', 'Skill updated'],
  ['#/playground', 'shop.broker', 'shop.later_agent'],
] as const)('%s is shown as of a position: with %s, and without %s', async (hash, before, after) => {
  const { page } = await openPage(at.browser, at.url, `${hash}${hash.includes('?') ? '&' : '?'}at=${then}`)
  const main = (text: string) => page.locator('main', { hasText: text })
  await main(before).waitFor()
  await page.locator('.busy').first().waitFor({ state: 'detached' })
  expect(await main(after).count()).toBe(0)
  await page.goto(`${at.url}/${hash}`)
  await main(after).waitFor()
  await page.context().close()
})

test('until the data of another moment are there, the page says that it shows those of before', async () => {
  const { page } = await openPage(at.browser, at.url, '#/resources/skill')
  const later = page.getByRole('link', { name: 'later_skill' })
  await later.waitFor()
  expect(await page.locator('main').getAttribute('aria-busy')).toBe('false')
  const answer = await holdRequests(page, '**/sql/query', (request) => request.postData()?.includes('"as_of"') === true)
  await page.getByRole('button', { name: 'Now' }).click()
  await page.getByLabel('A position of the log').fill(String(then))
  await page.getByRole('button', { name: 'Show', exact: true }).click()
  await page.locator('main[aria-busy=true]').getByText('Until then you see what was here before.').waitFor()
  expect(await later.count()).toBe(1)
  await expectUsable(page)
  answer()
  await page.locator('main[aria-busy=false]').waitFor()
  expect([await later.count(), await page.getByText('what was here before').count()]).toEqual([0, 0])
  await page.context().close()
})

test('a query reads the rows of then, and the slider of its page is at their position', async () => {
  const statement = new URLSearchParams({ sql: 'SELECT word FROM files.notes', at: String(then) })
  const { page } = await openPage(at.browser, at.url, `#/query?${statement.toString()}`)
  await page.getByRole('button', { name: 'Run' }).click()
  await page.locator('.grid-row', { hasText: 'alpha' }).waitFor()
  await page.getByRole('button', { name: `As of ${then}` }).click()
  await page.getByRole('slider').waitFor()
  expect(await page.getByRole('slider').inputValue()).toBe(String(then))
  await page.context().close()
})

test('the slider of a time is at its last position', async () => {
  const { data } = await sql(at.url, `SELECT recorded_at::VARCHAR FROM log.events WHERE position = ${then}`)
  const time = String(data[0]?.[0])
  const { page } = await openPage(at.browser, at.url, `#/resources?${new URLSearchParams({ at: time }).toString()}`)
  await page.getByRole('button', { name: `As of ${time}` }).click()
  await page.getByText(`Position ${then} of`).waitFor()
  expect(await page.getByRole('slider').inputValue()).toBe(String(then))
  await page.context().close()
})

test('a slide by keys is one step of the history of the browser, and a step back moves the slider', async () => {
  const { page } = await openPage(at.browser, at.url, '#/resources/skill')
  await page.getByRole('button', { name: 'Now' }).click()
  const slider = page.getByRole('slider')
  await slider.waitFor()
  const head = Number(await slider.getAttribute('max'))
  await slider.focus()
  for (let step = 1; step <= 3; step++) {
    await page.keyboard.press('ArrowLeft')
    await page.getByRole('button', { name: `As of ${head - step}`, exact: true }).waitFor()
  }
  await page.goBack()
  await page.waitForURL((address) => address.hash === '#/resources/skill')
  await until(async () => (await slider.inputValue()) === (await slider.getAttribute('max')))
  await page.context().close()
})

test.each(['#/audit', '#/health', '#/connect', '#/new/skill', '#/models/new'])('%s says that it shows the present', async (hash) => {
  const { page } = await openPage(at.browser, at.url, `${hash}?at=${then}`)
  await page.getByText('This page shows the present').waitFor()
  await expectUsable(page)
  await page.getByRole('button', { name: `As of ${then}` }).click()
  await page.getByRole('button', { name: 'Now', exact: true }).click()
  await page.getByText('This page shows the present').waitFor({ state: 'detached' })
  await page.context().close()
})

test.each([
  ['#/resources/skill/shop/rents?tab=edit', 'Record', 'History'],
  ['#/resources/file/-/notes?tab=types', 'Record', 'Rows'],
  ['#/models/mindsdb/fee?tab=forecast', 'Card', 'Try it'],
])('%s asks for a tab that is not offered: the first one is chosen, and keys reach it', async (hash, first, second) => {
  const { page } = await openPage(at.browser, at.url, `${hash}&at=${then}`)
  const tab = (name: string) => page.getByRole('tab', { name, exact: true, selected: true })
  await tab(first).waitFor()
  expect(await page.locator('[role=tab][tabindex="0"]').allInnerTexts()).toEqual([first])
  await tab(first).focus()
  await page.keyboard.press('ArrowRight')
  await tab(second).waitFor()
  await page.locator('[role=tab][tabindex="0"]:focus', { hasText: second }).waitFor()
  await page.context().close()
})

test('what is made while a past moment is chosen is shown as it is now', async () => {
  const open = async (hash: string) => (await openPage(at.browser, at.url, `${hash}at=${then}`)).page
  const form = await open('#/new/view?')
  await form.getByLabel(/^name/).fill('made_by_form')
  await form.getByLabel(/^query/).fill('SELECT 7 AS seven')
  await form.getByRole('button', { name: 'Create' }).click()
  await form.locator('.fields').getByText('SELECT 7 AS seven').waitFor()

  const home = await open('#/?')
  await home.getByText('What you add here is added now.').waitFor()
  await expectUsable(home)
  const buffer = Buffer.from('word\nuploaded\n')
  await home.locator('input[type=file]').setInputFiles({ name: 'made by upload.csv', mimeType: 'text/csv', buffer })
  await home.getByRole('region', { name: 'First rows' }).getByText('uploaded').waitFor()

  const training = await open('#/models/new?table=files.homes&target=rent&name=made_by_training&')
  await training.getByRole('button', { name: 'Train' }).click()
  await training.getByText('What it uses').waitFor()

  for (const page of [form, home, training]) {
    expect(new URL(page.url()).hash).toMatch(/made_by/)
    expect(new URL(page.url()).hash).not.toMatch(/[?&]at=/)
    await page.context().close()
  }
})
