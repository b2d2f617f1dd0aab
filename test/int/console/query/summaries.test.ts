import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { openPage, violationsOf } from '../../../support/console/browser.js'
import { expectRefusals, startConsole } from '../../../support/console/console.js'
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
