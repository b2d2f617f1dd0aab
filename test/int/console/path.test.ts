import { expect, test } from '@jest/globals'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { openPage, violationsOf } from '../../support/console/browser.js'
import { expectUsable, screenWidths, startBrowser } from '../../support/console/console.js'
import { sql, startTestService } from '../../support/service.js'

const at = startBrowser()

/** `npm run pictures` keeps what a new user sees for the documentation. */
const pictures = process.env['PICTURES']
const picture = async (page: Page, name: string): Promise<void> => {
  if (pictures !== undefined) await page.screenshot({ path: join(pictures, `${name}.png`) })
}

const csv = `size,district,rent\n${Array.from({ length: 240 }, (_, i) => `${20 + (i % 80)},${['north', 'south'][i % 2]},${300 + 9 * (i % 80) + 60 * (i % 2)}`).join('\n')}\n`

test('a new user goes from an empty service to an upload, a model, a prediction, a chart, a history and a proof', async () => {
  const { url, stop } = await startTestService()
  at.undo(stop)
  const { page } = await openPage(at.browser, url)
  await page.getByText('Nothing is here yet').waitFor()
  await picture(page, 'start')
  await page.locator('input[type=file]').setInputFiles({ name: 'Homes.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) })
  await page.locator('h1', { hasText: 'homes' }).waitFor()
  await page.getByRole('region', { name: 'First rows' }).getByText('north').first().waitFor()
  await picture(page, 'rows')

  await page.getByRole('link', { name: 'Train a model' }).click()
  await page.locator('.columns > li', { hasText: 'rent' }).getByRole('button', { name: 'Predict this' }).click()
  await picture(page, 'train')
  await page.getByRole('button', { name: 'Train', exact: true }).click()
  await page.getByText('What it uses').waitFor()
  await page.locator('.picture circle').first().waitFor({ state: 'attached' })
  await picture(page, 'card')

  await page.getByRole('tab', { name: 'Try it' }).click()
  await page.getByLabel('size', { exact: true }).fill('60')
  await page.getByLabel('district').selectOption('south')
  await page.getByRole('button', { name: 'Predict rent' }).click()
  await page.locator('output').waitFor()
  const rent = Number((await page.locator('output').innerText()).replaceAll(',', ''))
  expect(Math.abs(rent - 720)).toBeLessThan(90)
  await picture(page, 'try')

  await page.getByRole('button', { name: 'Query it' }).click()
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByText('100 rows').first().waitFor()
  await page.getByRole('tab', { name: 'Chart' }).click()
  await page.locator('.picture circle').first().waitFor({ state: 'attached' })
  await picture(page, 'chart')

  await page.goto(`${url}/#/resources/model/mindsdb/rent?tab=history`)
  await page.getByText('Model created').waitFor()
  await picture(page, 'history')

  await page.goto(`${url}/#/audit`)
  await page.getByRole('button', { name: 'Keep this head' }).click()
  await page.getByText('events are those of then').waitFor()
  await page.goto(`${url}/#/audit?event=3`)
  await page.getByLabel('An event').getByText('Proven').waitFor()
  await picture(page, 'proof')
  await page.context().close()
})

test('types of an upload are corrected after it was seen what that gives', async () => {
  const { url, stop } = await startTestService()
  at.undo(stop)
  const { page } = await openPage(at.browser, url)
  const lines = Array.from({ length: 14 }, (_, i) => `${i + 1}.02.2024 until noon?,0${i},${i}.5,1`)
  const text = `day,code,paid,constructor\n${lines.join('\n')}\nnever,x,1.5,1\n`
  await page.locator('input[type=file]').setInputFiles({ name: 'Days.csv', mimeType: 'text/csv', buffer: Buffer.from(text) })
  await page.locator('h1', { hasText: 'days' }).waitFor()
  await page.getByRole('tab', { name: 'Types' }).click()
  expect(await page.getByLabel('Type of constructor').inputValue()).toBe('')
  await page.getByLabel('Type of day').selectOption('DATE')
  await page.getByText('would become NULL: 15 of day').waitFor()
  await page.getByLabel('How texts of day are written').fill('%d.%m.%Y until noon?')
  await page.getByText('would become NULL: 1 of day').waitFor()
  await page.getByLabel('Type of paid').selectOption('VARCHAR')
  expect(await violationsOf(page)).toEqual([])
  await page.getByRole('button', { name: 'Give it these types' }).click()
  await page.getByRole('region', { name: 'First rows', exact: true }).getByText('2024-02-14').waitFor()
  expect((await sql(url, 'SELECT typeof(day), typeof(paid), count(day) FROM files.days GROUP BY ALL')).data).toEqual([
    ['DATE', 'VARCHAR', 14],
  ])
  expect((await sql(url, `SELECT count(*) FROM files.days AT (VERSION => 2) WHERE day = 'never'`)).data).toEqual([[1]])
  await page.context().close()
})

test('a changed type says before it is given what it would round, and what would lose a part', async () => {
  const { url, stop } = await startTestService()
  at.undo(stop)
  const { page } = await openPage(at.browser, url)
  const rows = ['1.55,2024-01-02 03:04:05,9007199254740993,0071', '2.0,2024-01-03 00:00:00,5,12', '3.10,2024-01-04 00:00:00,7,x']
  const text = `paid,at,large,code\n${rows.join('\n')}\n`
  await page.locator('input[type=file]').setInputFiles({ name: 'Lossy.csv', mimeType: 'text/csv', buffer: Buffer.from(text) })
  await page.locator('h1', { hasText: 'lossy' }).waitFor()
  await page.getByRole('tab', { name: 'Types' }).click()
  const told = page.getByText('These values would be rounded, or lose a part')
  for (const [column, type, loss] of [
    ['paid', 'BIGINT', '2 of paid (1.55 becomes 2)'],
    ['paid', 'DECIMAL(18,4)', undefined],
    ['paid', 'VARCHAR', undefined],
    ['at', 'DATE', '1 of at (2024-01-02 03:04:05 becomes 2024-01-02)'],
    ['at', 'TIME', '3 of at'],
    ['large', 'DOUBLE', '1 of large (9007199254740993 becomes 9007199254740992.0)'],
    ['large', 'BOOLEAN', '3 of large'],
    ['code', 'BIGINT', '1 of code (0071 becomes 71)'],
  ] as const) {
    const choice = page.getByLabel(`Type of ${column}`)
    const looked = page.waitForResponse((response) => response.request().postData()?.includes('AS gone') === true)
    await choice.selectOption(type)
    await looked
    if (loss === undefined) {
      await page.getByRole('region', { name: 'First rows with these types' }).waitFor()
      await told.waitFor({ state: 'detached' })
    } else await told.filter({ hasText: loss }).waitFor()
    await choice.selectOption('')
  }
  await page.getByLabel('Type of code').selectOption('BIGINT')
  await page.getByText('would become NULL: 1 of code').waitFor()
  expect(await violationsOf(page)).toEqual([])
  await page.context().close()
})

test('the sample leads to a model with one click, and anybody can use the first page', async () => {
  const { url, stop } = await startTestService()
  at.undo(stop)
  for (const width of screenWidths) {
    const { page } = await openPage(at.browser, url, '#/', { viewport: { width, height: 900 } })
    await page.getByText('Nothing is here yet').waitFor()
    await expectUsable(page)
    await page.context().close()
  }
  const { page } = await openPage(at.browser, url)
  await page.getByRole('button', { name: 'Take a sample' }).click()
  await page.getByRole('button', { name: 'Train', exact: true }).click()
  await page.getByText('What it uses').waitFor()
  await page.context().close()
})

test('a database that cannot be reached is told before anything is kept', async () => {
  const { url, stop } = await startTestService()
  at.undo(stop)
  const { page } = await openPage(at.browser, url, '#/connect')
  for (const [label, text] of [
    ['Name', 'far'],
    ['Host', '127.0.0.1'],
    ['Port', '1'],
    ['Database', 'd'],
    ['User', 'u'],
    ['Password', ' secret-7391 '],
  ] as const)
    await page.getByLabel(label, { exact: true }).fill(text)
  const sent = page.waitForRequest('**/api/databases')
  await page.getByRole('button', { name: 'Try it, and keep it' }).click()
  expect((await sent).postData()).toContain('" secret-7391 "')
  await page.getByText('Nothing was kept.').waitFor()
  expect(await page.locator('main').innerText()).not.toContain('secret-7391')
  expect((await (await fetch(`${url}/api/databases/far`)).json()) as object).toMatchObject({ status: 404 })
  await page.context().close()
})
