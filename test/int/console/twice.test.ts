import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { openPage } from '../../support/console/browser.js'
import { startConsole } from '../../support/console/console.js'
import { send, sql } from '../../support/service.js'
import { until } from '../../support/until.js'

const at = startConsole(async (url) => {
  await sql(url, 'CREATE TABLE files.kept (SELECT 1 AS i)')
  await send(url, 'POST', '/api/projects/mindsdb/skills', { skill: { name: 'rents', type: 'sql', params: { database: 'files' } } })
})

const pageOf = (statement: string): string => `#/query?${new URLSearchParams({ sql: statement }).toString()}`

/** Holds the answers of requests that write, and counts them. */
const holdWrites = async (page: Page, path: string, isWrite: (method: string, body: string) => boolean) => {
  const found = { count: 0, answer: (): void => undefined }
  const held = new Promise<void>((resolve) => (found.answer = resolve))
  await page.route(path, async (route) => {
    const asked = route.request()
    if (!isWrite(asked.method(), asked.postData() ?? '') || asked.headers()['prefer'] === 'dry-run') return route.continue()
    found.count += 1
    const response = await route.fetch()
    await held
    return route.fulfill({ response })
  })
  return found
}

/** Presses keys twice at once in one element: the page has no time between them. */
const pressTwice = (page: Page, selector: string, isClick: boolean): Promise<void> =>
  page.evaluate(`(() => {
    const element = ${selector}
    for (let i = 0; i < 2; i++) ${isClick ? 'element.click()' : 'element.requestSubmit()'}
  })()`)

test('Ctrl Enter twice, and Ctrl Enter that is held down, run a statement that writes once', async () => {
  const { page } = await openPage(at.browser, at.url, pageOf('INSERT INTO files.kept VALUES (2)'))
  const writes = await holdWrites(page, '**/api/sql/query', (_, body) => body.includes('INSERT'))
  await page.getByLabel('SQL').click()
  await page.keyboard.press('Control+Enter')
  await page.keyboard.press('Control+Enter')
  await until(() => writes.count > 0)
  writes.answer()
  await page.getByText('This statement answers no rows.').waitFor()
  expect(writes.count).toBe(1)

  await page.goto(`${at.url}/${pageOf('INSERT INTO files.kept VALUES (3)')}`)
  await page.locator('.cm-content', { hasText: '(3)' }).click()
  await page.keyboard.down('Control')
  for (let i = 0; i < 5; i++) await page.keyboard.down('Enter')
  await page.keyboard.up('Enter')
  await page.keyboard.up('Control')
  await page.getByText('This statement answers no rows.').waitFor()
  expect(writes.count).toBe(2)
  expect((await sql(at.url, 'SELECT i FROM files.kept ORDER BY i')).data.flat()).toEqual([1, 2, 3])
  await page.context().close()
})

test('a form that is sent twice, a deletion and a rollback that are clicked twice, are one request', async () => {
  const { page } = await openPage(at.browser, at.url, '#/new/project')
  await page.getByLabel(/^name/).fill('office')
  const created = await holdWrites(page, '**/api/projects', (method) => method === 'POST')
  await pressTwice(page, `document.querySelector('form.resource-form')`, false)
  created.answer()
  await page.locator('h1', { hasText: 'office' }).waitFor()
  expect(created.count).toBe(1)

  await send(at.url, 'PUT', '/api/projects/mindsdb/skills/rents', { skill: { params: { description: 'of homes' } } })
  await page.goto(`${at.url}/#/resources/skill/mindsdb/rents?tab=history&back=1`)
  await page.getByRole('button', { name: 'Go back to version 1' }).waitFor()
  const back = await holdWrites(page, '**/rollback', (method) => method === 'POST')
  await pressTwice(page, `document.querySelector('.preview .primary')`, true)
  back.answer()
  await page.locator('.history > li').nth(2).waitFor()
  expect(back.count).toBe(1)

  await page.goto(`${at.url}/#/resources/skill/mindsdb/rents?plan=delete`)
  await page.getByRole('group', { name: 'Delete rents' }).waitFor()
  const deleted = await holdWrites(page, '**/skills/rents', (method) => method === 'DELETE')
  await pressTwice(page, `document.querySelector('.notice .danger')`, true)
  deleted.answer()
  await page.locator('h1', { hasText: 'Skills' }).waitFor()
  expect(deleted.count).toBe(1)
  await page.context().close()
})
