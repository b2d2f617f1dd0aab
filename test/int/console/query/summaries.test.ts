import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { openPage, violationsOf } from '../../../support/console/browser.js'
import { expectRefusals, startConsole } from '../../../support/console/console.js'
import { sql } from '../../../support/service.js'
import { until } from '../../../support/until.js'

const at = startConsole()

const queryPage = (sql: string, more: Record<string, string> = {}): string => `#/query?${new URLSearchParams({ sql, ...more }).toString()}`

const run = async (page: Page, sql: string): Promise<void> => {
  await page.goto(`${at.url}/${queryPage(sql)}`)
  await until(async () => (await page.locator('.sheets [aria-pressed=true]').getAttribute('title')) === sql)
  await page.getByRole('button', { name: 'Run' }).click()
}

test('the columns of an answer say how many values there are, how many are NULL, and how they are spread', async () => {
  const statement = `SELECT i AS n, CASE WHEN i % 4 > 0 THEN i % 3 END AS third, ['red', 'blue'][i % 2 + 1] AS colour FROM range(48) AS t(i)`
  const { page } = await openPage(at.browser, at.url, queryPage(statement, { view: 'columns' }))
  await page.getByRole('button', { name: 'Run' }).click()
  const card = (name: string) => page.locator('.columns > li', { has: page.locator('h2', { hasText: new RegExp(`^${name} `) }) })
  await card('n').getByText('48 distinct · 0 % NULL').waitFor()
  await card('n').getByText('0 to 47, mean 23.5').waitFor()
  const heights = async (label: string) => {
    const bars = await page.getByRole('img', { name: label }).locator('rect').all()
    return Promise.all(bars.map(async (bar) => Number(await bar.getAttribute('height'))))
  }
  // Each of the 24 ranges has two of the 48 numbers.
  expect(await heights('Values of n from 0 to 47')).toEqual(Array.from({ length: 24 }, () => 32))
  await card('third').getByText('3 distinct · 25.0 % NULL').waitFor()
  const spread = await heights('Values of third from 0 to 2')
  expect(spread.flatMap((height, i) => (height > 0 ? [i] : []))).toEqual([0, 12, 23])
  const frequent = await card('colour').locator('.frequent > li').allInnerTexts()
  expect(frequent.map((text) => text.replaceAll(/\s+/g, ' ').trim()).sort()).toEqual(['blue 24', 'red 24'])
  expect(await violationsOf(page)).toEqual([])
  await page.context().close()
})

test('the columns of an answer are those of the rows that fit the filter', async () => {
  const statement = `SELECT i AS n, ['red', 'blue'][i % 2 + 1] AS colour FROM range(5000) AS t(i)`
  const { page } = await openPage(at.browser, at.url, queryPage(statement, { view: 'columns', filter: 'RED' }))
  await page.getByRole('button', { name: 'Run' }).click()
  const card = (name: string) => page.locator('.columns > li', { has: page.locator('h2', { hasText: new RegExp(`^${name} `) }) })
  await card('n').getByText('2,500 distinct · 0 % NULL').waitFor()
  await card('n').getByText('0 to 4,998, mean 2,499').waitFor()
  expect(await card('colour').locator('.frequent > li').allInnerTexts()).toEqual([expect.stringMatching(/^red\s+2,500$/)])
  await page.getByLabel('Filter').fill('')
  await card('n').getByText('5,000 distinct').waitFor()
  await page.context().close()
})

const copied = `document.addEventListener('copy', (event) => { document.body.dataset.copied = event.clipboardData.getData('text/plain').length })`

test('of a long text the page has the beginning, and the whole of it when it is opened or copied', async () => {
  const statement = `SELECT repeat('x', 50000) || i AS long, i AS n FROM range(10, 60) AS t(i)`
  const { page } = await openPage(at.browser, at.url, queryPage(statement))
  await page.getByRole('button', { name: 'Run' }).click()
  const cell = page.locator('.grid-row').first().getByRole('gridcell').first()
  await cell.waitFor()
  expect(((await cell.textContent()) ?? '').length).toBe(501)
  await cell.click()
  await page.evaluate(copied)
  await page.keyboard.press('Control+C')
  await page.locator('body[data-copied="50002"]').waitFor()
  await page.keyboard.press('Enter')
  const whole = page.getByRole('dialog', { name: 'long, row 1' }).locator('pre')
  await whole.waitFor()
  expect(((await whole.textContent()) ?? '').length).toBe(50_002)
  await page.keyboard.press('Escape')
  await page.getByRole('tab', { name: 'Columns' }).click()
  const card = page.locator('.columns > li', { has: page.locator('h2', { hasText: /^long / }) })
  // They differ at their ends.
  await card.getByText('50 distinct · 0 % NULL').waitFor()
  for (const text of await card.locator('.frequent .clipped').allTextContents()) expect(text.length).toBeLessThan(200)
  await page.context().close()
})

test('a value is among the most frequent ones also if it first comes after ten thousand others, and a rare one is not', async () => {
  const late = `CASE WHEN i >= 12000 AND i % 2 = 0 THEN 'late' ELSE 'one of ' || i END`
  const statement = `SELECT ${late} AS mixed, 'row ' || i AS own FROM range(30000) AS t(i) ORDER BY i`
  const { page } = await openPage(at.browser, at.url, queryPage(statement, { view: 'columns' }))
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByRole('status').getByText('all after').waitFor()
  const card = (name: string) => page.locator('.columns > li', { has: page.locator('h2', { hasText: new RegExp(`^${name} `) }) })
  await card('mixed').getByText('10,000 or more distinct').waitFor()
  const frequent = await card('mixed').locator('.frequent > li').allInnerTexts()
  expect(frequent.map((text) => text.replaceAll(/\s+/g, ' ').trim())).toEqual([expect.stringMatching(/^late at least 8,99\d$/)])
  await card('own').getByText('No value is frequent.').waitFor()
  expect(await card('own').locator('.frequent > li').count()).toBe(0)
  expect(await violationsOf(page)).toEqual([])
  await page.context().close()
})

test('of more than ten thousand values one is shown only if it is more frequent than those whose counts may be too low', async () => {
  // The early value came 15 times, and ten times there was no room for all values, so its count is 5. The late ones come 14 and 30 times.
  const of = (late: number) =>
    `CASE WHEN i < 15 THEN 'early' WHEN i >= 105015 AND i < ${105_015 + late} THEN 'late' ELSE 'one of ' || i END`
  const statement = `SELECT ${of(14)} AS fewer, ${of(30)} AS more FROM range(105045) AS t(i) ORDER BY i`
  const { page } = await openPage(at.browser, at.url, queryPage(statement, { view: 'columns' }))
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByRole('status').getByText('all after').waitFor()
  const card = (name: string) => page.locator('.columns > li', { has: page.locator('h2', { hasText: new RegExp(`^${name} `) }) })
  await card('fewer').getByText('No value is frequent.').waitFor()
  expect(await card('fewer').locator('.frequent > li').count()).toBe(0)
  const frequent = await card('more').locator('.frequent > li').allInnerTexts()
  expect(frequent.map((text) => text.replaceAll(/\s+/g, ' ').trim())).toEqual(['late at least 30'])
  await page.context().close()
})

test('the first rows of a view have long values, and not only their beginnings', async () => {
  await sql(at.url, `CREATE VIEW mindsdb.long_texts AS (SELECT repeat('x', 3000) AS long, list(i) AS many FROM range(900) AS t(i))`)
  const { page } = await openPage(at.browser, at.url, '#/resources/view/mindsdb/long_texts?tab=rows')
  const cells = page.getByRole('region', { name: 'First rows' }).locator('td')
  await cells.first().waitFor()
  const [long = '', many = ''] = await cells.allTextContents()
  expect([long.length, JSON.parse(many)]).toEqual([3_000, Array.from({ length: 900 }, (_, i) => i)])
  await page.context().close()
})

test('the columns of dates and times say from when to when they are, and how they are spread', async () => {
  const statement = `SELECT DATE '2024-01-01' + CAST(i AS INTEGER) AS day, TIMESTAMP '2024-01-01 06:00:00' + to_days(i::INTEGER) AS moment FROM range(48) AS t(i)`
  const { page } = await openPage(at.browser, at.url, queryPage(statement, { view: 'columns' }))
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByText('2024-01-01 to 2024-02-17').waitFor()
  await page.getByText('2024-01-01 06:00:00.000000 to 2024-02-17 06:00:00.000000').waitFor()
  const bars = await page.getByRole('img', { name: 'Values of day from 2024-01-01 to 2024-02-17' }).locator('rect').all()
  const heights = await Promise.all(bars.map(async (bar) => Number(await bar.getAttribute('height'))))
  // Each of the 24 ranges has two of the 48 days.
  expect(heights).toEqual(Array.from({ length: 24 }, () => 32))
  await page.context().close()
})

test('what ran in this browser is listed, the newest first, is shown again by a click, and is forgotten at a word', async () => {
  expectRefusals()
  const { page } = await openPage(at.browser, at.url, '#/query')
  await run(page, 'SELECT 1 AS one')
  await page.getByRole('columnheader', { name: 'one' }).waitFor()
  await page.getByRole('status').getByText('all after').waitFor()
  await run(page, 'SELECT nosuch FROM files.nothing')
  await page.getByRole('alert').first().waitFor()
  await run(page, 'SELECT 2 AS two')
  await page.getByRole('columnheader', { name: 'two' }).waitFor()
  await page.getByRole('status').getByText('all after').waitFor()
  await page.reload()
  await page.getByRole('tab', { name: 'My queries' }).click()
  const past = page.locator('.past > li')
  await past.nth(2).waitFor()
  expect(await past.locator('code').allInnerTexts()).toEqual(['SELECT 2 AS two', 'SELECT nosuch FROM files.nothing', 'SELECT 1 AS one'])
  expect(await past.nth(1).innerText()).toContain('refused')
  expect(await violationsOf(page)).toEqual([])
  await page.locator('.past').getByRole('button', { name: 'SELECT 1 AS one' }).click()
  await page.locator('.cm-content', { hasText: 'SELECT 1 AS one' }).waitFor()
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByRole('columnheader', { name: 'one' }).waitFor()
  await page.getByRole('tab', { name: 'My queries' }).click()
  await past.first().locator('code', { hasText: 'SELECT 1 AS one' }).waitFor()
  await page.getByRole('button', { name: 'Forget all' }).click()
  await page.getByText('Nothing yet').waitFor()
  await page.reload()
  await page.getByText('Nothing yet').waitFor()
  await page.context().close()
})
