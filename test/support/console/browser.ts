import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { fileURLToPath } from 'node:url'
import { createRequire } from 'node:module'
import { repository } from '../cli.js'
import { madeOnce } from '../made-once.js'
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core'

const require = createRequire(import.meta.url)

/** The browser's program, unpacked once: whoever unpacks it beside another test throws one of both away. */
const programOf = async (): Promise<string> => {
  const { version } = JSON.parse(readFileSync(join(repository, 'node_modules/@sparticuz/chromium/package.json'), 'utf8')) as {
    version: string
  }
  const place = await madeOnce(`chromium-${version}`, async (directory) => {
    const unpack = fileURLToPath(new URL('unpack-browser.js', import.meta.url))
    await promisify(execFile)(process.execPath, [unpack], { env: { ...process.env, TMPDIR: directory } })
  })
  return join(place, 'chromium')
}

/** A browser of its own. The program needs nothing of the system; elsewhere than on Linux for x64 a Chrome that is installed is taken. */
export const openBrowser = async (): Promise<Browser> => {
  const isPacked = process.platform === 'linux' && process.arch === 'x64'
  return chromium.launch({
    ...(isPacked ? { executablePath: await programOf() } : { channel: 'chrome' }),
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--font-render-hinting=none'],
  })
}

/** What a page did that it should not: errors that it told, and requests to anybody but the service. */
export type Misdeeds = { errors: string[]; elsewhere: string[] }

/**
 * Opens a page of the console, and notes its misdeeds.
 *
 * @example const { page, misdeeds } = await openPage(browser, service.url)
 */
export const openPage = async (
  browser: Browser,
  url: string,
  hash = '#/',
  options: BrowserContextOptions = {},
): Promise<{ page: Page; misdeeds: Misdeeds }> => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-GB', reducedMotion: 'reduce', ...options })
  // On a busy machine a training or a start takes its time.
  context.setDefaultTimeout(300_000)
  const page = await context.newPage()
  const misdeeds: Misdeeds = { errors: [], elsewhere: [] }
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') misdeeds.errors.push(message.text())
  })
  page.on('pageerror', ({ message }) => misdeeds.errors.push(message))
  page.on('request', (request) => {
    const to = request.url()
    if (!to.startsWith(url) && !to.startsWith('data:') && !to.startsWith('blob:')) misdeeds.elsewhere.push(to)
  })
  await page.goto(`${url}/${hash}`)
  return { page, misdeeds }
}

const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')

type Violation = { id: string; nodes: { html: string; failureSummary?: string }[] }

/** What WCAG 2.2 AA finds wrong with a page, a line each. */
export const violationsOf = async (page: Page): Promise<string[]> => {
  // The policy of the page forbids a script element; the browser's own evaluation is none.
  await page.evaluate(axe)
  const run = `axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }).then(({ violations }) => violations)`
  const found = await page.evaluate<Violation[]>(run)
  return found.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary = '' }) => `${id}: ${html.slice(0, 160)} ${failureSummary}`))
}
