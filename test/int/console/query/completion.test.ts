import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { openPage } from '../../../support/console/browser.js'
import { startConsole } from '../../../support/console/console.js'
import { sql } from '../../../support/service.js'
import { until } from '../../../support/until.js'

const at = startConsole(async (url) => {
  await sql(url, 'CREATE TABLE files.rooms (SELECT i AS width, i * 7 % 50 AS depth, 3 * i AS price FROM range(60) AS t(i))')
  await sql(url, `CREATE MODEL fee FROM files (SELECT * FROM rooms) PREDICT price USING engine = 'linear'`)
  await until(async () => (await sql(url, `SELECT STATUS FROM information_schema.models WHERE NAME = 'fee'`)).data[0]?.[0] === 'complete')
  await sql(url, 'CREATE TABLE files.homes (SELECT i AS size, i AS sizes_of, i AS "set up" FROM range(3) AS t(i))')
  await sql(url, 'CREATE TABLE files.constructor (SELECT 1 AS built)')
  await sql(url, 'CREATE VIEW large AS (SELECT size AS sized FROM files.homes)')
})

/** What is proposed for a text, from the first on. */
const proposed = async (page: Page, text: string): Promise<string[]> => {
  const options = page.locator('.cm-tooltip-autocomplete li .cm-completionLabel')
  await page.getByLabel('SQL').fill('')
  await page.getByLabel('SQL').click()
  await page.keyboard.type(text)
  // Proposals for a part of the text must be gone.
  await page.keyboard.press('Escape')
  await options.first().waitFor({ state: 'detached' })
  await page.keyboard.press('Control+Space')
  await options.first().waitFor()
  return options.allInnerTexts()
}

test('columns of what a statement reads are proposed without a dot, before keywords', async () => {
  const { page } = await openPage(at.browser, at.url, '#/query')
  // The schema comes after the page.
  await until(async () => (await proposed(page, 'SELECT * FROM files.homes WHERE siz'))[0] === 'size')
  expect((await proposed(page, 'SELECT * FROM files.homes WHERE siz')).slice(0, 2)).toEqual(['size', 'sizes_of'])
  expect((await proposed(page, 'SELECT * FROM large WHERE siz'))[0]).toBe('sized')
  expect((await proposed(page, 'SELECT * FROM large JOIN files.homes AS h WHERE siz')).slice(0, 3).sort()).toEqual([
    'size',
    'sized',
    'sizes_of',
  ])
  expect(await proposed(page, 'SELECT * FROM nothing WHERE siz')).not.toContain('size')
  expect((await proposed(page, 'SELECT * FROM files.constructor WHERE bui'))[0]).toBe('built')
  expect(await proposed(page, 'SELECT * FROM nothing.constructor WHERE siz')).not.toContain('size')
  // A name that needs quotes gets them.
  await proposed(page, 'SELECT * FROM files.homes WHERE set')
  await page.locator('.cm-tooltip-autocomplete li', { hasText: 'set up' }).click()
  await page.locator('.cm-content', { hasText: 'WHERE `set up`' }).waitFor()
  await page.context().close()
})

test('databases, tables, models, the inputs of a model and functions are proposed', async () => {
  const { page } = await openPage(at.browser, at.url, '#/query')
  await until(async () => (await proposed(page, 'SELECT * FROM files.homes WHERE siz'))[0] === 'size')
  expect(await proposed(page, 'SELECT * FROM fil')).toContain('files')
  expect(await proposed(page, 'SELECT * FROM files.ro')).toContain('rooms')
  expect(await proposed(page, 'SELECT * FROM mindsdb.fe')).toContain('fee')
  expect((await proposed(page, 'SELECT price FROM mindsdb.fee WHERE dep'))[0]).toBe('depth')
  expect(await page.locator('.cm-tooltip-autocomplete .cm-completionDetail').first().innerText()).toBe('fee')
  expect(await proposed(page, 'SELECT approx_q')).toContain('approx_quantile')
  expect(await proposed(page, 'SELECT medi')).toContain('median')
  await page.context().close()
})
