import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { openPage, violationsOf } from '../../../support/console/browser.js'
import { startConsole } from '../../../support/console/console.js'
import { until } from '../../../support/until.js'

const at = startConsole()

/** A phone upright and across, and a screen that is magnified to 400 %. */
const screens = [
  { width: 360, height: 640 },
  { width: 640, height: 360 },
  { width: 320, height: 256 },
]

const queryPage = (sql: string): string => `#/query?${new URLSearchParams({ sql }).toString()}`

/** The elements of a selector whose middle is seen: not outside the screen, and not below something else. */
const seen = (page: Page, selector: string): Promise<number> =>
  page.evaluate<number>(`[...document.querySelectorAll(${JSON.stringify(selector)})].filter((element) => {
    const { left, top, height } = element.getBoundingClientRect()
    const there = document.elementFromPoint(left + 10, top + height / 2)
    return there !== null && element.contains(there)
  }).length`)

type Scrolled = { scrollTop: number; clientHeight: number; scrollHeight: number }

const isAtEnd = ({ scrollTop, clientHeight, scrollHeight }: Scrolled): boolean => scrollTop + clientHeight >= scrollHeight - 2

/** Turns the wheel at the edge of the page, beside the editor and the grid, which scroll on their own. */
const turnWheel = async (page: Page, pixels: number): Promise<void> => {
  const main = await page.locator('main').boundingBox()
  await page.mouse.move((main?.x ?? 0) + 3, (main?.y ?? 0) + (main?.height ?? 0) / 2)
  await page.mouse.wheel(0, pixels)
}

test.each(screens)('the rows of an answer are scrolled into sight on a screen of $width × $height', async (viewport) => {
  const { page } = await openPage(at.browser, at.url, queryPage('SELECT range AS i FROM range(100)'), { viewport })
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByText('100 rows').first().waitFor()
  await turnWheel(page, 5_000)
  await until(async () => (await seen(page, '.grid-row')) > 1)
  expect(await violationsOf(page)).toEqual([])
  await page.context().close()
})

test.each(screens)(
  'a long error is read to its end on a screen of $width × $height, and the tabs below it are reached',
  async (viewport) => {
    const statement = `SELECT CAST('${'no number '.repeat(100)}' AS INTEGER)`
    const { page } = await openPage(at.browser, at.url, queryPage(statement), { viewport })
    await page.getByRole('button', { name: 'Run' }).click()
    const error = page.getByRole('region', { name: 'The error' })
    await error.waitFor()
    await error.scrollIntoViewIfNeeded()
    const height = (await error.boundingBox())?.height ?? NaN
    expect(height).toBeLessThan(viewport.height)
    // The keys scroll it.
    await error.focus()
    await page.keyboard.press('End')
    await until(() => error.evaluate(isAtEnd))
    await until(async () => {
      if ((await seen(page, '.answer [role=tab]:first-child')) === 1) return true
      await turnWheel(page, 30)
      return false
    })
    await page.context().close()
  },
)

test('the rows of a statement with many parameters are scrolled into sight', async () => {
  const names = Array.from({ length: 12 }, (_, i) => `:parameter_${i}`)
  const statement = `SELECT range AS i, ${names.join(', ')} FROM range(100)`
  const { page } = await openPage(at.browser, at.url, queryPage(statement), { viewport: { width: 640, height: 360 } })
  await page.getByLabel(':parameter_11').waitFor()
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByText('100 rows').first().waitFor()
  await turnWheel(page, 5_000)
  await until(async () => (await seen(page, '.grid-row')) > 1)
  await page.context().close()
})
