import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { openPage } from '../../../support/console/browser.js'
import { expectUsable, startConsole } from '../../../support/console/console.js'
import { sql } from '../../../support/service.js'

const at = startConsole(async (url) => {
  for (const statement of [
    `CREATE TABLE files.homes (SELECT i AS size, 9 * i AS rent, '0' || i || '.01.2024' AS day FROM range(9) AS t(i) WHERE i > 0)`,
    'CREATE TABLE files.others (SELECT i AS n FROM range(9) AS t(i))',
  ])
    expect([statement, (await sql(url, statement)).error_message]).toEqual([statement, undefined])
})

const restored = (page: Page) => page.getByText('What you typed before is here again.')

test('the types that were chosen for a file are there again after another tab and a reload, until it gets them', async () => {
  const { page } = await openPage(at.browser, at.url, '#/resources/file/-/homes?tab=types')
  const chosen = async () => {
    await page.getByRole('region', { name: 'First rows with these types' }).waitFor()
    return Promise.all(['size', 'rent', 'day'].map((name) => page.getByLabel(`Type of ${name}`).inputValue()))
  }
  await page.getByLabel('Type of size').selectOption('DOUBLE')
  await page.getByLabel('Type of day').selectOption('DATE')
  await page.getByLabel('How texts of day are written').fill('%d.%m.%Y')
  await page.getByRole('tab', { name: 'History' }).click()
  await page.getByRole('tab', { name: 'Types' }).click()
  expect(await chosen()).toEqual(['DOUBLE', '', 'DATE'])
  await page.reload()
  expect(await chosen()).toEqual(['DOUBLE', '', 'DATE'])
  expect(await page.getByLabel('How texts of day are written').inputValue()).toBe('%d.%m.%Y')
  await page.getByRole('button', { name: 'Give it these types' }).click()
  await page.getByRole('columnheader', { name: 'day (DATE)' }).waitFor()
  expect(new URL(page.url()).hash).not.toContain('types=')
  await page.context().close()
})

test('of the types in an address only those that are offered, and of columns that the file has, are taken over', async () => {
  const types = { n: { type: 'DOUBLE) AS n, 1 AS planted, TRY_CAST(n AS BIGINT' }, planted: { type: 'DOUBLE' }, toString: { type: 'DATE' } }
  const hash = `#/resources/file/-/others?${new URLSearchParams({ tab: 'types', types: JSON.stringify(types) }).toString()}`
  const { page } = await openPage(at.browser, at.url, hash)
  expect(await page.getByLabel('Type of n').inputValue()).toBe('')
  expect(await page.getByRole('button', { name: 'Give it these types' }).isDisabled()).toBe(true)
  expect(await page.getByText('planted').count()).toBe(0)
  await page.context().close()
})

test('the query that is written for a training is there again until a model is trained from it, and in the place of no other one', async () => {
  const { page } = await openPage(at.browser, at.url, '#/models/new?table=files.homes')
  const field = page.getByLabel(/^Query, in/)
  const leave = async () => {
    await page.goto(`${at.url}/#/health`)
    await page.locator('h1', { hasText: 'Health' }).waitFor()
  }
  await page.getByRole('button', { name: 'Choose rows by a query' }).click()
  await field.fill('SELECT size, rent FROM files.homes WHERE size > 2')
  await leave()
  await page.getByRole('link', { name: 'Models' }).click()
  await page.getByRole('link', { name: 'Train a model' }).click()
  await restored(page).waitFor()
  expect(await field.inputValue()).toBe('SELECT size, rent FROM files.homes WHERE size > 2')
  await expectUsable(page)
  await leave()
  await page.goto(`${at.url}/#/models/new?table=files.others`)
  await page.getByRole('button', { name: 'Choose rows by a query' }).waitFor()
  expect([await restored(page).count(), await field.count()]).toEqual([0, 0])
  await leave()
  await page.goto(`${at.url}/#/models/new?table=files.homes&target=rent&name=from_query`)
  await restored(page).waitFor()
  await page.getByRole('button', { name: 'Show its rows' }).click()
  await page.getByText('6 rows. Choose what to predict.').waitFor()
  await field.fill('SELECT size, rent FROM files.homes WHERE size > 1')
  await page.reload()
  await restored(page).waitFor()
  expect(await field.inputValue()).toBe('SELECT size, rent FROM files.homes WHERE size > 1')
  await page.getByRole('button', { name: 'Show its rows' }).click()
  await page.getByText('7 rows. Choose what to predict.').waitFor()
  await page.getByRole('combobox', { name: /^Predict/ }).selectOption('rent')
  await page.getByRole('button', { name: 'Train' }).click()
  await page.locator('h1', { hasText: 'from_query' }).waitFor()
  await page.goto(`${at.url}/#/models/new`)
  await page.getByLabel('Table').waitFor()
  expect([await restored(page).count(), await field.count()]).toEqual([0, 0])
  await page.context().close()
})

test('the reason of an erasure is there again until it is discarded or the data are erased', async () => {
  const { page } = await openPage(at.browser, at.url, '#/audit')
  const reason = page.getByLabel('Reason, which the log keeps')
  await page.getByText('Erase data of a person').click()
  await reason.fill('she asked for it')
  await page.reload()
  await restored(page).waitFor()
  expect(await reason.inputValue()).toBe('she asked for it')
  await expectUsable(page)
  await page.getByRole('button', { name: 'Discard it' }).click()
  expect([await reason.inputValue(), await restored(page).count()]).toEqual(['', 0])
  await page.getByRole('combobox', { name: 'What' }).selectOption('file')
  await page.getByLabel('name', { exact: true }).fill('others')
  await reason.fill('she asked again')
  await page.reload()
  await restored(page).waitFor()
  await page.getByRole('button', { name: 'What would be erased' }).click()
  await page.getByLabel('I know that nobody can bring it back').check()
  await page.getByRole('button', { name: 'Erase it' }).click()
  await page.getByText(/^Erased: /).waitFor()
  await page.reload()
  await page.getByText('she asked again').waitFor()
  expect([await restored(page).count(), await reason.inputValue()]).toEqual([0, ''])
  await page.context().close()
})
