import { afterAll, afterEach, beforeAll, expect } from '@jest/globals'
import type { Browser, Locator, Page } from 'playwright-core'
import { undoAll, type Step } from '../../../src/basics/undo.js'
import type { Log } from '../../../src/log/contract/log.js'
import type { Service } from '../../../src/main.js'
import { sql, startTestService } from '../service.js'
import { until } from '../until.js'
import { closeBrowser, openBrowser, openPage, setChecked, takeMisdeeds, untilDrawn, violationsOf } from './browser.js'
import { tooWideIn } from './width.js'

let areRefusalsExpected = false

/** Says that in this test the service refuses a request, or is not there: the browser writes that into its console. */
export const expectRefusals = (): void => {
  areRefusalsExpected = true
}

/** Checks after each test of a file that no page of it reported an error, or sent a request to elsewhere. */
export const checkMisdeeds = (): void => {
  beforeAll(() => setChecked(true))
  afterEach(() => {
    const { errors, elsewhere } = takeMisdeeds()
    const faults = areRefusalsExpected ? errors.filter((error) => !error.startsWith('Failed to load resource')) : errors
    areRefusalsExpected = false
    expect({ errors: faults, elsewhere }).toEqual({ errors: [], elsewhere: [] })
  })
  afterAll(() => setChecked(false))
}

/**
 * Runs the SELECT in the editor, which has the focus, by keys, until its answer is there: a machine that is far overloaded may refuse it
 * more often than the page asks again.
 */
export const runByKeys = (page: Page, answer: Locator): Promise<void> =>
  until(async () => {
    await page.keyboard.press('Control+Enter')
    return answer.waitFor({ timeout: 60_000 }).then(
      () => true,
      () => false,
    )
  })

/** A browser for all tests of a file, and what must end after them. */
export type OpenBrowser = { browser: Browser; undo: (step: Step) => void }

/**
 * Starts a browser before the tests of a file. After them it ends, and the steps that were given to `undo`, the last one first. Misdeeds of
 * its pages are checked after each test.
 *
 * @example const at = startBrowser(); test('…', async () => { at.undo(stop); const { page } = await openPage(at.browser, url) })
 */
export const startBrowser = (): OpenBrowser => {
  const steps: Step[] = []
  let running: Browser | undefined
  checkMisdeeds()
  beforeAll(async () => {
    const browser = await openBrowser()
    steps.push(() => closeBrowser(browser))
    running = browser
  })
  afterAll(() => undoAll(steps))
  return {
    get browser() {
      if (!running) throw new Error('the browser does not run yet')
      return running
    },
    undo: (step) => void steps.push(step),
  }
}

/** A service and a browser for all tests of a file. */
export type Console = { browser: Browser; url: string; log: Log }

/**
 * Starts a service and a browser before the tests of a file, and ends them after it.
 *
 * @example const at = startConsole(async (url) => { await sql(url, 'CREATE PROJECT shop') })
 */
export const startConsole = (prepare?: (url: string) => Promise<void>, environment: Record<string, string> = {}): Console => {
  const at = startBrowser()
  let started: Service | undefined
  const running = (): Service => {
    if (!started) throw new Error('the service does not run yet')
    return started
  }
  beforeAll(async () => {
    const { service, stop } = await startTestService(environment)
    at.undo(stop)
    started = service
    // SQL starts slowly on a busy machine. Until then no answer is saved as a file, and a statement is sent again a few times only.
    await sql(service.url, 'SELECT 1')
    await prepare?.(service.url)
  })
  return {
    get browser() {
      return at.browser
    },
    get url() {
      return running().url
    },
    get log() {
      return running().log
    },
  }
}

/** Checks that the current page is accessible in both themes, and that nothing in it is too wide. */
export const expectUsable = async (page: Page): Promise<void> => {
  await page.emulateMedia({ colorScheme: 'light' })
  expect(await violationsOf(page)).toEqual([])
  await page.emulateMedia({ colorScheme: 'dark' })
  expect(await violationsOf(page, 'colours')).toEqual([])
  expect(await tooWideIn(page)).toEqual([])
}

/** The widths of a phone, a laptop and a large screen, in pixels. */
export const screenWidths = [360, 1_280, 2_560] as const

/** Checks a page on a phone, and then in a window that grows to a laptop and a large screen, in both themes. It is usable in all. */
export const seenAtAllSizes = async (
  { browser, url }: Pick<Console, 'browser' | 'url'>,
  hash: string,
  ready: (page: Page) => Promise<void>,
): Promise<void> => {
  const { page } = await openPage(browser, url, hash, { viewport: { width: screenWidths[0], height: 900 } })
  for (const width of screenWidths) {
    await page.setViewportSize({ width, height: 900 })
    await ready(page)
    await untilDrawn(page)
    await expectUsable(page)
  }
  await page.context().close()
}

/** Ends the session, and clicks. On a busy machine the page may still load then, and be behind the login before the click. */
export const clickWithoutSession = async (page: Page, role: 'link' | 'button', name: string): Promise<void> => {
  await page.context().clearCookies()
  await page.getByRole(role, { name, includeHidden: true }).dispatchEvent('click')
}
