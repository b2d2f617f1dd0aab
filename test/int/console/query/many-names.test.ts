import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { openPage } from '../../../support/console/browser.js'
import { startConsole } from '../../../support/console/console.js'
import { sql } from '../../../support/service.js'
import { until } from '../../../support/until.js'

const columns = 4_000
const wideViews = 14

// The editor loads 50,000 columns at once. The last names are not among them.
const at = startConsole(async (url) => {
  const wide = Array.from({ length: columns }, (_, i) => `${i} AS c_${i}`).join(', ')
  for (const statement of [
    `CREATE TABLE files.wide (SELECT ${wide})`,
    ...Array.from({ length: wideViews }, (_, n) => `CREATE VIEW wide_${n} AS (SELECT * FROM files.wide)`),
    'CREATE PROJECT zoo',
    'CREATE VIEW zoo.zebras AS (SELECT 1 AS stripes, 2 AS "long legs")',
  ])
    expect((await sql(url, statement)).type).not.toBe('error')
})

/** Writes a statement, and waits until a name is proposed for its end. */
const proposed = async (page: Page, text: string, name: string): Promise<void> => {
  const option = page.locator('.cm-tooltip-autocomplete li', { hasText: name })
  await page.getByLabel('SQL').fill('')
  await page.getByLabel('SQL').click()
  await page.keyboard.type(text)
  await until(async () => {
    await page.keyboard.press('Control+Space')
    return option
      .first()
      .waitFor({ timeout: 5_000 })
      .then(
        () => true,
        () => false,
      )
  })
}

test('tables and columns beyond those that the editor loads are proposed, too', async () => {
  const { page } = await openPage(at.browser, at.url, '#/query')
  await proposed(page, 'SELECT * FROM zoo.zeb', 'zebras')
  await proposed(page, 'SELECT * FROM zoo.zebras WHERE strip', 'stripes')
  await proposed(page, 'SELECT * FROM zoo.zebras WHERE lon', 'long legs')
  await page.locator('.cm-tooltip-autocomplete li', { hasText: 'long legs' }).click()
  await page.locator('.cm-content', { hasText: 'WHERE `long legs`' }).waitFor()
  // What it has loaded is proposed once.
  await proposed(page, 'SELECT * FROM files.wid', 'wide')
  expect(await page.locator('.cm-tooltip-autocomplete li .cm-completionLabel').getByText('wide', { exact: true }).count()).toBe(1)
  await page.context().close()
})
