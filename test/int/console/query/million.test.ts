import { expect, test } from '@jest/globals'
import type { CDPSession, Page } from 'playwright-core'
import { openPage } from '../../../support/console/browser.js'
import { startConsole } from '../../../support/console/console.js'
import { until } from '../../../support/until.js'

const at = startConsole()

const rows = 1_000_000
const megabyte = 2 ** 20

/** What scripts hold after all that is not needed is thrown away. */
const heapBytes = async (session: CDPSession): Promise<number> => {
  await session.send('HeapProfiler.collectGarbage')
  const { metrics } = await session.send('Performance.getMetrics')
  return metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? NaN
}

/** Scrolls to a share of all rows, and gives how many stand in the page, and the first number that is seen there. */
const scrolledTo = (page: Page, share: number): Promise<{ elements: number; first: number }> =>
  page.evaluate<{ elements: number; first: number }>(
    `(async () => {
      const grid = document.querySelector('.grid')
      grid.scrollTop = (grid.scrollHeight - grid.clientHeight) * ${share}
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))
      const rows = [...document.querySelectorAll('.grid-row')]
      return { elements: rows.length, first: Number(rows[0].innerText.split(/\\s+/)[1].replaceAll(',', '')) }
    })()`,
  )

/** The number of the first row in the page. */
const firstNumber = (page: Page): Promise<number> =>
  page.evaluate<number>(`Number(document.querySelector('.grid-row').innerText.split(/\\s+/)[1].replaceAll(',', ''))`)

test('a million rows are scrolled from the first to the last, sorted, and filtered, in a page that does not grow', async () => {
  const sql = `SELECT range AS i, 'row number ' || range AS s, range * 0.5 AS x FROM range(${rows})`
  const { page } = await openPage(at.browser, at.url, `#/query?${new URLSearchParams({ sql }).toString()}`)
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable')
  const empty = await heapBytes(session)
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByText('1,000,000 rows').first().waitFor()
  const loaded = await heapBytes(session)
  // The rows stay bytes, outside of what scripts hold: a million rows as objects would be some hundred megabytes.
  expect(loaded - empty).toBeLessThan(80 * megabyte)
  for (let step = 0; step <= 100; step++) {
    const { elements, first } = await scrolledTo(page, step / 100)
    expect(elements).toBeLessThan(150)
    expect(Math.abs(first - (step / 100) * rows)).toBeLessThan(200)
  }
  // One turn of the wheel is far less than the rows that are seen, although a pixel stands for several.
  const { first: middle } = await scrolledTo(page, 0.5)
  await page.getByRole('grid').hover()
  await page.mouse.wheel(0, 100)
  await until(async () => (await firstNumber(page)) > middle)
  expect((await firstNumber(page)) - middle).toBeLessThan(9)
  await scrolledTo(page, 1)
  await page.locator('.grid-row', { hasText: 'row number 999999' }).waitFor()
  expect((await heapBytes(session)) - loaded).toBeLessThan(40 * megabyte)
  await page.getByRole('button', { name: /^x/ }).click()
  await page.locator('[aria-sort=ascending]').waitFor()
  await page.getByRole('button', { name: /^x/ }).click()
  await page.locator('[aria-sort=descending]').waitFor()
  await scrolledTo(page, 0)
  await page.locator('.grid-row', { hasText: 'row number 999999' }).waitFor()
  await page.getByLabel('Filter').fill('row number 77777')
  await page.getByText('11 of 1,000,000 rows').waitFor()
  await page.context().close()
})
