import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { openPage, violationsOf, untilDrawn } from '../../../support/console/browser.js'
import { startConsole } from '../../../support/console/console.js'
import { sql } from '../../../support/service.js'

const at = startConsole()

const queryPage = (sql: string) => `#/query?${new URLSearchParams({ sql }).toString()}`

/** Runs the statement of the page, and gives the cells of its first row. */
const answered = async (page: Page): Promise<string[]> => {
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByText('1 row ').waitFor()
  return page.locator('.grid-row').first().getByRole('gridcell').allInnerTexts()
}

test('parameters are sent as they are typed, and an empty field is NULL', async () => {
  const sql = 'SELECT :zip AS zip, typeof(:zip) AS t, :id AS id, :none IS NULL AS n, :price * 2 AS p, :yes AND true AS y'
  const { page } = await openPage(at.browser, at.url, queryPage(sql))
  for (const [name, text] of [
    ['zip', '01234'],
    ['id', '9007199254740993'],
    ['price', '2.5'],
    ['yes', 'true'],
  ] as const)
    await page.getByLabel(`:${name}`).fill(text)
  const types = async () =>
    Promise.all(['zip', 'id', 'none', 'price', 'yes'].map((name) => page.getByLabel(`Type of ${name}`).inputValue()))
  expect(await types()).toEqual(['text', 'number', 'NULL', 'number', 'true/false'])
  await page.getByText('sent as text, so that no digit is lost').waitFor()
  expect(await answered(page)).toEqual(['01234', 'VARCHAR', '9007199254740993', 'true', '5', 'true'])
  expect(await violationsOf(page)).toEqual([])
  await page.context().close()
})

test('what a parameter is sent as is chosen, the address has it, and what does not fit is not run', async () => {
  const { page } = await openPage(at.browser, at.url, queryPage(`SELECT :a AS a, typeof(:a) AS t, :b = '' AS empty`))
  await page.getByLabel(':a').fill('12')
  await page.getByLabel('Type of a').selectOption('text')
  await page.getByLabel('Type of b').selectOption('text')
  expect(await answered(page)).toEqual(['12', 'VARCHAR', 'true'])
  await page.reload()
  expect(await page.getByLabel('Type of a').inputValue()).toBe('text')
  await page.getByLabel(':a').fill('twelve')
  await page.getByLabel('Type of a').selectOption('number')
  await page.getByText('this is not a number').waitFor()
  expect(await page.getByRole('button', { name: 'Run' }).isDisabled()).toBe(true)
  await page.getByLabel('Type of a').selectOption('NULL')
  expect(await answered(page)).toEqual(['NULL', '"NULL"', 'true'])
  await page.context().close()
})

test('the parameters of a statement are those that the service finds', async () => {
  const sql = `SELECT :größe AS a, {'a':b, 'c': (:d)} AS s, list[lo:hi], ':no', "x:no", e'\\':no', $$ :no $$, b::INT, /* /* */ :no */ :constructor -- :no
    FROM t WHERE n = :größe AND :e_2 > 'it''s :no'`
  const { page } = await openPage(at.browser, at.url, queryPage(sql))
  const fields = page.getByRole('group', { name: 'Parameters' }).locator('label')
  await fields.first().waitFor()
  expect((await fields.allInnerTexts()).map((text) => text.trim())).toEqual([':größe', ':d', ':constructor', ':e_2'])
  await page.context().close()
})

test('a parameter may have the name of what every object has, and a number keeps its form', async () => {
  const { page } = await openPage(at.browser, at.url, queryPage('SELECT :constructor IS NULL AS c, :version AS v, :zero AS z'))
  await page.getByLabel(':version').fill('1.10')
  await page.getByLabel(':zero').fill('-0')
  expect(await answered(page)).toEqual(['true', '1.10', '-0'])
  await page.getByLabel(':constructor').fill('1.5')
  expect(await page.getByLabel('Type of constructor').inputValue()).toBe('number')
  expect((await answered(page))[0]).toBe('false')
  await page.context().close()
})

test('the mark of an error stands behind characters beyond 16 bits, until the text is another one', async () => {
  const text = `SELECT '😀😀😀', nosuch FROM (SELECT 1 AS a) AS t`
  const { page } = await openPage(at.browser, at.url, `#/query?${new URLSearchParams({ sql: text }).toString()}`)
  await page.getByRole('button', { name: 'Run' }).click()
  const mark = page.locator('.cm-lintRange-error')
  await mark.waitFor()
  expect(await mark.innerText()).toBe('nosuch')
  await page.getByLabel('SQL').press('ControlOrMeta+Home')
  await page.keyboard.type('-- ')
  await mark.waitFor({ state: 'detached' })
  await page.context().close()
})

test('the mark of an error stands at its word also if blank lines and comments come first', async () => {
  const text = `\n\n  -- a comment\n  SELECT 1,\n nosuch FROM (SELECT 1 AS a) AS t\n`
  const { page } = await openPage(at.browser, at.url, `#/query?${new URLSearchParams({ sql: text }).toString()}`)
  await page.getByRole('button', { name: 'Run' }).click()
  await page.locator('.cm-lintRange-error').waitFor()
  expect(await page.locator('.cm-lintRange-error').innerText()).toBe('nosuch')
  await page.context().close()
})

test('an error in a view has no mark in the statement that reads it', async () => {
  await sql(at.url, 'CREATE TABLE files.short (SELECT 1 AS a, 2 AS b)')
  await sql(at.url, 'CREATE VIEW mindsdb.broken AS (SELECT a, b FROM files.short)')
  await sql(at.url, 'CREATE OR REPLACE TABLE files.short (SELECT 1 AS a)')
  const { page } = await openPage(at.browser, at.url, `#/query?${new URLSearchParams({ sql: 'SELECT * FROM mindsdb.broken' }).toString()}`)
  await page.getByRole('button', { name: 'Run' }).click()
  expect(await page.getByRole('alert').innerText()).toMatch(/^In view mindsdb.broken: .*line 1, column/)
  await untilDrawn(page)
  expect(await page.locator('.cm-lintRange-error').count()).toBe(0)
  await page.context().close()
})
