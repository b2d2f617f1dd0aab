import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { atFirstSight, holdRequests, openPage, untilDrawn } from '../../../support/console/browser.js'
import { startConsole } from '../../../support/console/console.js'
import { send, sql } from '../../../support/service.js'

const at = startConsole(async (url) => {
  expect((await sql(url, `CREATE SKILL rents USING type = 'sql', database = 'files'`)).type).not.toBe('error')
  const changed = await send(url, 'PUT', '/api/projects/mindsdb/skills/rents', { skill: { params: { description: 'of homes' } } })
  expect(changed.status).toBe(200)
  expect((await sql(url, 'CREATE TABLE files.people (SELECT 1 AS i)')).type).not.toBe('error')
})

/** Presses a button by keys alone. */
const press = async (page: Page, name: string): Promise<void> => {
  await page.getByRole('button', { name, exact: true }).focus()
  await page.keyboard.press('Enter')
}

test('after a change of the page the focus is at its title, and on the first page where the browser puts it', async () => {
  const { page } = await openPage(at.browser, at.url, '#/')
  await page.locator('h1').waitFor()
  expect(await page.locator('h1:focus').count()).toBe(0)
  for (const [link, title] of [
    ['Events', 'Events'],
    ['Query', 'Query'],
    ['Resources', 'Resources'],
    ['Home', 'Mindledger'],
  ] as const) {
    await page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: link }).focus()
    await page.keyboard.press('Enter')
    await page.locator('h1:focus', { hasText: title }).waitFor()
  }
  await page.goto(`${at.url}/#/nowhere`)
  await page.locator('h1:focus', { hasText: 'There is no such page' }).waitFor()
  await page.context().close()
})

test('a title keeps the focus when the data of its page comes', async () => {
  const { page } = await openPage(at.browser, at.url, '#/events')
  await page.locator('.events summary').first().waitFor()
  const answer = await holdRequests(page, '**/api/log/storage')
  await page.getByRole('link', { name: 'Health' }).click()
  await page.locator('h1:focus', { hasText: 'Health' }).waitFor()
  answer()
  await page.getByRole('button', { name: 'Pause' }).waitFor()
  expect(await page.locator('h1:focus', { hasText: 'Health' }).count()).toBe(1)
  await page.context().close()
})

test('a title that comes late does not take the focus from where the user went on', async () => {
  const { page } = await openPage(at.browser, at.url, '#/events')
  await page.locator('.events summary').first().waitFor()
  const answer = await holdRequests(page, '**/api/sql/query')
  await page.getByRole('link', { name: 'Resources' }).click()
  await page.locator('#content .busy').waitFor()
  await page.getByRole('button', { name: 'Now', exact: true }).focus()
  answer()
  await page.locator('h1', { hasText: 'Resources' }).waitFor()
  expect(await page.locator('button:focus', { hasText: 'Now' }).count()).toBe(1)
  await page.context().close()
})

test('the plan of a deletion takes the focus when it is asked for, and gives it back', async () => {
  const { page } = await openPage(at.browser, at.url, '#/resources/skill/mindsdb/rents')
  await press(page, 'Delete…')
  await page.locator('[role=group]:focus', { hasText: 'Skill deleted' }).waitFor()
  const hash = new URL(page.url()).hash
  await press(page, 'Keep it')
  await page.locator('button:focus', { hasText: 'Delete…' }).waitFor()
  const sent = await openPage(at.browser, at.url, hash)
  await sent.page.getByRole('group', { name: 'Delete rents' }).waitFor()
  expect(await sent.page.locator('[role=group]:focus').count()).toBe(0)
  for (const one of [page, sent.page]) await one.context().close()
})

test('the first key after a plan is seen belongs to it', async () => {
  const { page } = await openPage(at.browser, at.url, '#/resources/skill/mindsdb/rents')
  await page.getByRole('button', { name: 'Delete…' }).waitFor()
  const ask = `[...document.querySelectorAll('button')].find(({ textContent }) => textContent === 'Delete…').click()`
  const plan = '[role=group][aria-label="Delete rents"]'
  expect(await atFirstSight<boolean>(page, ask, plan, '(plan) => document.activeElement === plan')).toBe(true)
  await page.context().close()
})

test('the plan of a way back takes the focus when it is asked for, and gives it back', async () => {
  const { page } = await openPage(at.browser, at.url, '#/resources/skill/mindsdb/rents?tab=history')
  await press(page, 'Go back to this…')
  await page.locator('.preview:focus', { hasText: 'would be recorded' }).waitFor()
  await press(page, 'Leave it')
  await page.locator('button:focus', { hasText: 'Go back to this…' }).waitFor()
  await page.context().close()
})

test('the plan of an erasure takes the focus when it is asked for', async () => {
  const { page } = await openPage(at.browser, at.url, '#/audit')
  await page.getByText('Erase data of a person').click()
  await page.getByRole('combobox', { name: /^What/ }).selectOption('file')
  await page.getByLabel('name', { exact: true }).fill('people')
  await press(page, 'What would be erased')
  await page.locator('[role=group]:focus', { hasText: '1 content.' }).waitFor()
  await page.context().close()
})

test('a plan that comes late does not take the focus from where the user writes', async () => {
  const { page } = await openPage(at.browser, at.url, '#/audit')
  await page.getByText('Erase data of a person').click()
  await page.getByRole('combobox', { name: /^What/ }).selectOption('file')
  await page.getByLabel('name', { exact: true }).fill('people')
  const answer = await holdRequests(page, '**/api/log/erasures')
  await press(page, 'What would be erased')
  const reason = page.getByLabel(/^Reason/)
  await reason.click()
  await page.keyboard.type('She asked')
  answer()
  await page.getByRole('group', { name: 'What would be erased' }).waitFor()
  // By then a focus would have been moved.
  await untilDrawn(page)
  await page.keyboard.type(' for it')
  expect(await reason.inputValue()).toBe('She asked for it')
  await page.context().close()
})
