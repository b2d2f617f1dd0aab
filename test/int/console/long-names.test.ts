import { expect, test } from '@jest/globals'
import { openPage } from '../../support/console/browser.js'
import { expectUsable, screenWidths, seenAtAllSizes, startConsole } from '../../support/console/console.js'
import { send, sql } from '../../support/service.js'
import { until } from '../../support/until.js'

const long = 'a_very_long_name_of_a_resource_that_somebody_gave_it_without_thinking_of_the_poor_reader'
const columns = Array.from({ length: 24 }, (_, i) => `a_rather_long_column_name_number_${i + 1}`)
const target = columns[4] ?? ''
const rows = Array.from({ length: 120 }, (_, i) => columns.map((_, j) => ((i * (j + 3)) % 97) + j).join(','))

const at = startConsole(async (url) => {
  const form = new FormData()
  form.append('file', new Blob([`${columns.join(',')}\n${rows.join('\n')}\n`]), `${long}.csv`)
  expect((await send(url, 'PUT', `/api/files/${long}`, form)).status).toBe(200)
  for (const statement of [
    'CREATE PROJECT shop',
    `CREATE SKILL shop.${long} USING type = 'sql', database = 'files', tables = ['${long}']`,
    `CREATE AGENT shop.${long} USING model = 'gpt-4o', skills = ['${long}'], openai_api_key = 'sk-1'`,
    `CREATE MODEL ${long} FROM files (SELECT * FROM ${long}) PREDICT ${target}`,
  ])
    expect((await sql(url, statement)).type).not.toBe('error')
  await until(
    async () => (await sql(url, `SELECT STATUS FROM information_schema.models WHERE NAME = '${long}'`)).data[0]?.[0] === 'complete',
  )
})

test.each([
  ['the first page', '#/'],
  ['a list', '#/resources/agent'],
  ['a skill', `#/resources/skill/shop/${long}`],
  ['a history', `#/resources/agent/shop/${long}?tab=history`],
  ['a form', `#/resources/agent/shop/${long}?tab=edit`],
  ['a file', `#/resources/file/-/${long}?tab=rows`],
  ['types', `#/resources/file/-/${long}?tab=types`],
  ['a card', `#/models/mindsdb/${long}`],
  ['an attempt', `#/models/mindsdb/${long}?tab=try`],
  ['a dependence', `#/models/mindsdb/${long}?tab=dependence`],
  ['versions', `#/models/mindsdb/${long}?tab=versions`],
  ['a training', `#/models/new?table=files.${long}&target=${target}`],
  ['a question', `#/playground?agent=shop/${long}&beside=shop/${long}`],
  ['answers of an agent', `#/answers?agent=shop/${long}`],
  ['a comparison', '#/compare?from=1'],
])('%s is as wide as its screen with long names and many columns', async (_, hash) => {
  await seenAtAllSizes(at, hash, async (page) => {
    await page.locator('h1').first().waitFor()
    await page.locator('.busy').first().waitFor({ state: 'detached' })
  })
})

test('names that differ at their ends can be told apart where they are cut', async () => {
  const { page } = await openPage(at.browser, at.url, `#/models/mindsdb/${long}`, { viewport: { width: 360, height: 900 } })
  const names = page.getByRole('list', { name: 'Importances' }).locator('.name-cut')
  await names.first().waitFor()
  const ends = await names.locator('> :last-child').allInnerTexts()
  expect(ends.length).toBeGreaterThan(5)
  expect(new Set(ends).size).toBe(ends.length)
  expect(await names.locator('..').first().getAttribute('title')).toMatch(/^a_rather_long_column_name_number_\d+$/)
  await page.context().close()
})

test.each(screenWidths)('what is opened over a page of %i pixels is within it, and anybody can use it', async (width) => {
  const { page } = await openPage(at.browser, at.url, '#/', { viewport: { width, height: 900 } })
  await page.locator('h1').first().waitFor()
  await page.getByRole('button', { name: 'Now' }).click()
  await page.locator('.popover .marks span').first().waitFor()
  await expectUsable(page)
  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+k')
  await page.getByRole('option', { name: long }).first().waitFor()
  await expectUsable(page)
  await page.context().close()
})
