import { expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { openPage, untilDrawn } from '../../../support/console/browser.js'
import { expectUsable, seenAtAllSizes, startConsole } from '../../../support/console/console.js'
import { sql } from '../../../support/service.js'

const whole = '9007199254740993'
const decimal = '123456789012345678901234567.891'

const at = startConsole(async (url) => {
  const rows = `SELECT ${whole} AS big, ${decimal}::DECIMAL(30,3) AS exact, 0.5::DOUBLE AS x UNION ALL SELECT 7, 1.5, 2`
  for (const statement of [`CREATE TABLE files.digits (${rows})`, 'CREATE VIEW long_digits AS (SELECT * FROM files.digits)'])
    expect((await sql(url, statement)).type).not.toBe('error')
})

const queryPage = (sql: string, more: Record<string, string> = {}) => `#/query?${new URLSearchParams({ sql, ...more }).toString()}`

const hugest = '170141183460469231731687303715884105727'
const many = `SELECT 9007199254740993 AS whole, 12345678901234567890.12::DECIMAL(38,2) AS exact, ${hugest}::HUGEINT AS huge,
  [9007199254740993] AS listed, {'n': 12345678901234567890.12::DECIMAL(38,2)} AS inner, 'is "9007199254740993"' AS text, 0.1::DOUBLE AS x`
const values = [whole, '12345678901234567890.12', hugest, '[9007199254740993]', '{"n":12345678901234567890.12}']

test('numbers keep all their digits in the grid, when they are copied, and in a file', async () => {
  const { page } = await openPage(at.browser, at.url, queryPage(many))
  await page.getByRole('button', { name: 'Run' }).click()
  const cells = page.locator('.grid-row').getByRole('gridcell')
  await cells.nth(6).waitFor()
  expect(await cells.allInnerTexts()).toEqual([...values, 'is "9007199254740993"', '0.1'])
  await page.evaluate(
    `document.addEventListener('copy', (event) => { document.body.dataset.copied = event.clipboardData.getData('text/plain') })`,
  )
  await cells.nth(2).click()
  await page.keyboard.press('Control+C')
  await page.locator(`body[data-copied="${hugest}"]`).waitFor()
  const saved = page.waitForEvent('download')
  await page.getByRole('button', { name: 'CSV' }).click()
  expect(readFileSync(await (await saved).path(), 'utf8')).toContain(`9007199254740993,12345678901234567890.12,${hugest},`)
  await page.context().close()
})

test('the whole value of a cell is opened and copied by keys or a double click, with all its digits', async () => {
  const text = `${'a long text '.repeat(200)}\n<b>its end</b>`
  const values = `'${text}' AS long, {'place': {'town': 'Ulm'}, 'n': 7} AS inner, '{"a":[1]}' AS written, {'n': ${decimal}::DECIMAL(38,3)} AS exact, NULL AS missing`
  for (const width of [360, 1_280]) {
    const { page } = await openPage(at.browser, at.url, queryPage(`SELECT ${values}`), { viewport: { width, height: 900 } })
    await page.getByRole('button', { name: 'Run' }).click()
    const grid = page.getByRole('grid')
    await grid.getByRole('gridcell').first().click()
    const opened = (name: string) => page.getByRole('dialog', { name: `${name}, row 1` })
    await page.keyboard.press('Enter')
    await opened('long').waitFor()
    expect(await opened('long').locator('pre').innerText()).toBe(text)
    await expectUsable(page)
    await page.evaluate(
      `document.addEventListener('copy', (event) => { document.body.dataset.copied = event.clipboardData.getData('text/plain') })`,
    )
    await page.keyboard.press('Control+C')
    await opened('long').getByText('Copied.').waitFor()
    expect(await page.locator('body').getAttribute('data-copied')).toBe(text)
    await page.keyboard.press('Escape')
    for (const [name, shown] of [
      ['inner', '{\n  "place": {\n    "town": "Ulm"\n  },\n  "n": 7\n}'],
      ['written', '{\n  "a": [\n    1\n  ]\n}'],
      ['exact', `{"n":${decimal}}`],
    ] as const) {
      // The keys are in the grid again.
      await page.keyboard.press('ArrowRight')
      await page.keyboard.press('Enter')
      await opened(name).waitFor()
      expect(await opened(name).locator('pre').innerText()).toBe(shown)
      await opened(name).getByRole('button', { name: 'Close' }).click()
    }
    await grid.getByRole('gridcell').nth(4).dblclick()
    await opened('missing').getByText('NULL').waitFor()
    await page.context().close()
  }
})

test('a cell that is chosen as soon as it is seen stays chosen', async () => {
  const { page } = await openPage(at.browser, at.url, queryPage('SELECT 1 AS one, 2 AS two'))
  await page.getByRole('button', { name: 'Run', disabled: false }).waitFor()
  await page.evaluate(`(() => {
    const seen = new MutationObserver(() => {
      const cell = document.getElementById('cell-0-1')
      if (!cell) return
      seen.disconnect()
      cell.dispatchEvent(new MouseEvent('mousedown', { bubbles: true }))
    })
    seen.observe(document.body, { childList: true, subtree: true })
  })()`)
  await page.getByRole('button', { name: 'Run' }).click()
  await page.locator('.answer [role=status][aria-busy=false]').waitFor()
  await untilDrawn(page)
  expect(await page.locator('[role=gridcell][aria-selected=true]').allInnerTexts()).toEqual(['2'])
  await page.context().close()
})

test('numbers that a number of JavaScript cannot tell apart are sorted, filtered and summarised as they are', async () => {
  const sql = 'SELECT 9007199254740992 + (range * 7) % 5 AS n FROM range(5) UNION ALL SELECT 5'
  const { page } = await openPage(at.browser, at.url, queryPage(sql, { sort: '-1' }))
  await page.getByRole('button', { name: 'Run' }).click()
  const cells = page.locator('.grid-row').getByRole('gridcell')
  await page.getByText('6 rows').waitFor()
  await cells.nth(0).getByText('9007199254740996').waitFor()
  // Rows that came later than the first ones are sorted a moment after these.
  await cells.nth(5).waitFor()
  const sorted = [6, 5, 4, 3, 2].map((last) => `900719925474099${last}`)
  expect(await cells.allInnerTexts()).toEqual([...sorted, '5'])
  await page.getByLabel('Filter').fill('740993')
  await page.getByText('1 of 6 rows').waitFor()
  expect(await cells.allInnerTexts()).toEqual(['9007199254740993'])
  await page.getByRole('tab', { name: 'Columns' }).click()
  await page.getByText('9007199254740993 to 9007199254740993').waitFor()
  await page.getByLabel('Filter').fill('')
  await page.getByText('5 to 9007199254740996').waitFor()
  await page.getByText('6 distinct').waitFor()
  await page.context().close()
})

test.each(['file/-/digits?tab=rows', 'view/mindsdb/long_digits?tab=rows', 'file/-/digits?tab=types'])(
  'the first rows at %s keep all their digits',
  async (place) => {
    await seenAtAllSizes(at, `#/resources/${place}`, async (page) => {
      if (place.endsWith('types')) await page.getByLabel('Type of x').selectOption('VARCHAR')
      const table = page.getByRole('region', { name: /^First rows/ })
      await table.getByRole('cell', { name: whole, exact: true }).waitFor()
      await table.getByRole('cell', { name: decimal, exact: true }).waitFor()
      expect(await table.locator('td.right', { hasText: whole }).count()).toBe(1)
    })
  },
)

test('the picture of rows to learn from keeps the digits of their least and greatest values', async () => {
  const { page } = await openPage(at.browser, at.url, '#/models/new?table=files.digits')
  await page.getByText(`7 to ${whole}`).waitFor()
  await page.getByText(`to ${decimal}`).waitFor()
  await page.context().close()
})
