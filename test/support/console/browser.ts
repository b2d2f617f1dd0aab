import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { fileURLToPath } from 'node:url'
import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import { repository } from '../cli.js'
import { madeOnce } from '../made-once.js'
import { chromium, type Browser, type BrowserContextOptions, type ConsoleMessage, type Page, type Request } from 'playwright-core'

const require = createRequire(import.meta.url)

/** The browser's program. It is unpacked once, because parallel tests that unpack it would delete each other's copy. */
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

/** Starts a browser. The packaged program needs no system libraries; on systems other than Linux x64 an installed Chrome is used. */
const launch = async (): Promise<Browser> => {
  const isPacked = process.platform === 'linux' && process.arch === 'x64'
  return chromium.launch({
    ...(isPacked ? { executablePath: await programOf() } : { channel: 'chrome' }),
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--font-render-hinting=none'],
  })
}

/** The browser that stays for the next test files of this process, because its start takes more than a second of a processor. */
let kept: Browser | undefined

/** Whether this process is a worker of Jest, which runs many test files and is told when there are no more. */
const isWorker = process.env['JEST_WORKER_ID'] !== undefined && process.send !== undefined

/** Ends this process when Jest has stopped to listen for further test files. The browser alone would keep it alive; it ends as well. */
const endWithoutFiles = (event: string | symbol): void => {
  if (event === 'message' && process.listenerCount('message') === 0) process.exit()
}

/**
 * A browser without pages. Each page has a context of its own, which shares nothing with others. So a worker of Jest starts one browser,
 * and another one only if that has crashed.
 */
export const openBrowser = async (): Promise<Browser> => {
  if (!isWorker) return launch()
  if (kept?.isConnected()) return kept
  kept = await launch()
  process.off('removeListener', endWithoutFiles).on('removeListener', endWithoutFiles)
  return kept
}

/** The time in which pages close. A browser with a page that does not is ended. */
const closeMs = 30_000

/** Closes the pages of a browser. The browser stays for the next test file, if there may be one. */
export const closeBrowser = async (browser: Browser): Promise<void> => {
  const closing = Promise.all(browser.contexts().map((context) => context.close())).then(
    () => isWorker,
    () => false,
  )
  const stays = await Promise.race([closing, sleep(closeMs, false, { ref: false })])
  if (!stays) await browser.close()
}

/** The misdeeds of a page and its other windows: errors that they reported, and requests to other servers than the service. */
export type Misdeeds = { errors: string[]; elsewhere: string[] }

/** What all pages did since somebody looked. */
const collected: Misdeeds = { errors: [], elsewhere: [] }

/** Takes the misdeeds of all pages since the last call. */
export const takeMisdeeds = (): Misdeeds => ({ errors: collected.errors.splice(0), elsewhere: collected.elsewhere.splice(0) })

/** The pages that are open now. */
const openPages = new Set<Page>()

const shownMaxChars = 3_000

/** Shows the pages that a failed test left open: a wait that ends late does not say what was there instead. */
const showPages = async (): Promise<void> => {
  for (const page of openPages) {
    const texts = await page
      .locator('body, .cm-content')
      .allInnerTexts()
      .catch(() => ['it cannot be read'])
    process.stderr.write(`An open page of a failed test, ${page.url()}:\n${texts.join('\n---\n').slice(0, shownMaxChars)}\n`)
  }
}
process.on('testFailed', showPages as () => void)

let isChecked = false

/**
 * Whether the misdeeds of pages are looked at from now on. Without that, a test cannot open one. What was done before belongs to another
 * file, whose pages were open when its service ended.
 */
export const setChecked = (is: boolean): void => {
  isChecked = is
  takeMisdeeds()
}

/**
 * Where a text is typed over a coloured one, the browser itself sets a style, and the policy of the page refuses it. Such a refusal names the
 * page and no line, but one of a script names the script.
 */
const isOfTyping = (message: ConsoleMessage, url: string): boolean =>
  message.text().startsWith('Applying inline style') &&
  message.location().url.startsWith(`${url}/#/`) &&
  message.location().lineNumber === 0

/** What answers 503 while the tables are built or follow the log, below the address of a service: SQL, and all reads of a past. */
const mayBeBehind = /^\/api\/(?:sql\/|ready|.*[?&]as_of=)/

/** Whether a message says that such a request was refused for a moment. */
const isBehind = (message: ConsoleMessage, url: string): boolean =>
  message.text().includes('status of 503') &&
  message.location().url.startsWith(url) &&
  mayBeBehind.test(message.location().url.slice(url.length))

/** What a browser advises a test that reads pixels. */
const isAdvice = (message: ConsoleMessage): boolean => message.text().includes('willReadFrequently')

/** Opens a page of the console, and collects its misdeeds. */
export const openWindow = async (
  browser: Browser,
  url: string,
  hash: string,
  options: BrowserContextOptions = {},
): Promise<{ page: Page }> => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-GB', reducedMotion: 'reduce', ...options })
  // On a busy machine, trainings and starts are slow.
  context.setDefaultTimeout(300_000)
  context.on('console', (message) => {
    // On a busy machine SQL may be behind for a moment. Then the page asks again by itself, and a test that waits sees what it wants.
    if (isBehind(message, url)) return
    if (isOfTyping(message, url) || isAdvice(message)) return
    if (message.type() === 'error' || message.type() === 'warning') collected.errors.push(message.text())
  })
  context.on('weberror', (thrown) => collected.errors.push(thrown.error().message))
  context.on('dialog', (dialog) => {
    collected.errors.push(`a dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  context.on('request', (request) => {
    const to = request.url()
    if (!to.startsWith(url) && !to.startsWith('data:') && !to.startsWith('blob:')) collected.elsewhere.push(to)
  })
  context.on('page', (page) => {
    openPages.add(page)
    page.on('close', () => openPages.delete(page))
  })
  const page = await context.newPage()
  await page.goto(`${url}/${hash}`)
  return { page }
}

/**
 * Opens a page of the console in a test, after which its misdeeds are checked.
 *
 * @example const { page } = await openPage(browser, service.url)
 * @throws Error in a file that does not check them
 */
export const openPage = async (
  browser: Browser,
  url: string,
  hash = '#/',
  options: BrowserContextOptions = {},
): Promise<{ page: Page }> => {
  if (!isChecked) throw new Error('nobody looks at the misdeeds of this page: call startConsole or checkMisdeeds in the file of the test')
  return openWindow(browser, url, hash, options)
}

/**
 * Hides the window of a page from it, or shows it, as other tabs of a browser do.
 *
 * @example await setVisibility(page, 'hidden')
 */
export const setVisibility = (page: Page, state: 'hidden' | 'visible'): Promise<void> =>
  page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))`)

/**
 * Waits until a page has drawn what it knew, and has done what follows the drawing.
 *
 * @example await untilDrawn(page)
 */
export const untilDrawn = (page: Page): Promise<void> =>
  page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')

/** The steps without a pause in which a page draws what follows from a drawing. No event of the user and no frame comes between them. */
const stepsOfDrawing = 100

/**
 * Does something with an element as soon as it is drawn, before the next frame, like the first click of a user whose machine is busy.
 *
 * @param begin code that makes the page show the element; if it is there already, code that changes the address
 * @param act a function in code, which gets the element
 * @returns what that function returns
 * @example await atFirstSight(page, `location.hash = '#/query'`, '.query', '(query) => query.textContent')
 */
export const atFirstSight = <T = void>(page: Page, begin: string, selector: string, act: string): Promise<T> =>
  page.evaluate<T>(`new Promise((resolve, reject) => {
    const find = () => document.querySelector(${JSON.stringify(selector)})
    const drawn = async () => {
      for (let step = 0; step < ${stepsOfDrawing}; step++) await undefined
      return (${act})(find())
    }
    const seen = new MutationObserver(() => {
      if (find() === null) return
      seen.disconnect()
      drawn().then(resolve, reject)
    })
    if (find() === null) seen.observe(document.body, { childList: true, subtree: true })
    else addEventListener('hashchange', () => drawn().then(resolve, reject), { once: true })
    {
      ${begin}
    }
  })`)

/**
 * The requests of a page for a path from now on: how many there were, and which ones have not ended.
 *
 * @example const looks = requestsOf(page, '/api/ready'); await until(() => looks.count > 0 && looks.open.size === 0)
 */
export const requestsOf = (page: Page, path: string): { count: number; open: Set<Request> } => {
  const found = { count: 0, open: new Set<Request>() }
  page.on('request', (request) => {
    if (new URL(request.url()).pathname !== path) return
    found.count += 1
    found.open.add(request)
  })
  page.on('requestfinished', (request) => found.open.delete(request))
  page.on('requestfailed', (request) => found.open.delete(request))
  return found
}

const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8')

type Violation = { id: string; nodes: { html: string; failureSummary?: string }[] }

/** All that is checked, or only what depends on the colours of a theme. */
const rulesOf = {
  all: `['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']`,
  colours: `{ type: 'rule', values: ['color-contrast', 'link-in-text-block'] }`,
}

/** The violations of WCAG 2.2 AA in a page, one per line. It waits for the code of the page: until then only the frame has been drawn. */
export const violationsOf = async (page: Page, rules: keyof typeof rulesOf = 'all'): Promise<string[]> => {
  await page.locator('h1').first().waitFor({ state: 'attached' })
  // The page's policy forbids a script element, but not the evaluation by the browser's debugger.
  if (!(await page.evaluate<boolean>(`'axe' in window`))) await page.evaluate(axe)
  // What passes is not described: this takes up to a third of the time.
  const options = `runOnly: ${rulesOf[rules]}, resultTypes: ['violations']`
  const found = await page.evaluate<Violation[]>(`axe.run({ ${options} }).then(({ violations }) => violations)`)
  return found.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary = '' }) => `${id}: ${html.slice(0, 160)} ${failureSummary}`))
}

/**
 * Holds the requests of a page to an address, or those of them that `isHeld` chooses.
 *
 * @returns a function that lets them go on, and all later ones
 * @example const answer = await holdRequests(page, `${url}/api/sql/query`)
 */
export const holdRequests = async (
  page: Page,
  address: string,
  isHeld: (request: Request) => boolean = () => true,
): Promise<() => void> => {
  let release: () => void = () => undefined
  const released = new Promise<void>((resolve) => (release = resolve))
  await page.route(address, async (route) => {
    if (isHeld(route.request())) await released
    await route.continue()
  })
  return release
}
