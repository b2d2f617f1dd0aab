import { afterAll, beforeAll, expect } from '@jest/globals'
import type { Browser, Page } from 'playwright-core'
import { undoAll } from '../../../src/basics/undo.js'
import { startTestService } from '../service.js'
import { openBrowser, openPage, violationsOf } from './browser.js'

/** A service and a browser, there from the first test of a file on. */
export type Console = { browser: Browser; url: string }

/**
 * Starts a service and a browser before the tests of a file, and ends them after it.
 *
 * @example const at = startConsole(async (url) => { await sql(url, 'CREATE PROJECT shop') })
 */
export const startConsole = (prepare?: (url: string) => Promise<void>, environment: Record<string, string> = {}): Console => {
  const undo: (() => unknown)[] = []
  let running: Console | undefined
  const there = (): Console => {
    if (!running) throw new Error('the console does not run yet')
    return running
  }
  beforeAll(async () => {
    const { url, stop } = await startTestService(environment)
    undo.push(stop)
    const browser = await openBrowser()
    undo.push(() => browser.close())
    running = { browser, url }
    await prepare?.(url)
  })
  afterAll(() => undoAll(undo))
  return {
    get browser() {
      return there().browser
    },
    get url() {
      return there().url
    },
  }
}

type Scheme = 'light' | 'dark'

/** Looks at a page on a phone, a laptop and a large screen: anybody can use it, nothing is wider than the screen, and it does no misdeed. */
export const seenAtAllSizes = async (
  { browser, url }: Console,
  hash: string,
  schemes: readonly [phone: Scheme, laptop: Scheme, large: Scheme],
  ready: (page: Page) => Promise<void>,
): Promise<void> => {
  for (const [i, width] of [360, 1_280, 2_560].entries()) {
    const { page, misdeeds } = await openPage(browser, url, hash, { viewport: { width, height: 900 }, colorScheme: schemes[i] ?? 'light' })
    await ready(page)
    expect(await violationsOf(page)).toEqual([])
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
    expect(misdeeds).toEqual({ errors: [], elsewhere: [] })
    await page.context().close()
  }
}
