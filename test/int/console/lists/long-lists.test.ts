import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { holdRequests, openPage, untilDrawn } from '../../../support/console/browser.js'
import { expectUsable, startConsole } from '../../../support/console/console.js'
import { created, manyNames, projectNamed, recordMany } from '../../../support/console/many.js'
import { logStream } from '../../../../events/records/log.js'
import { send, sql } from '../../../support/service.js'
import { until } from '../../../support/until.js'

const views = 5_200
const others = 1_200
/** Many and the one that all of them read. */
const all = views + 1
const last = `view_${views - 1}`
/** How many rows are here after each part. */
const parts = [500, 1_000, 1_500, 2_500, 4_000, 6_000]

const at = startConsole(async (url) => {
  for (const statement of ['CREATE PROJECT shop', 'CREATE PROJECT other', 'CREATE VIEW shop.origin AS (SELECT 1 AS n)'])
    expect((await sql(url, statement)).type).not.toBe('error')
  await recordMany(at.log, created('view', await projectNamed(at.log, 'shop'), manyNames('view', views)))
  await recordMany(at.log, created('view', await projectNamed(at.log, 'other'), manyNames('other', others)))
  const erased = { what: 'request' as const, reason: null, payloads: [], blobs: [] }
  const erasures = manyNames('person', others).map((subject) => ({
    stream: logStream,
    event: { type: 'DataErased' as const, data: { ...erased, subject } },
  }))
  await recordMany(at.log, erasures)
})

const number = (count: number): string => count.toLocaleString('en')

const shownOf = (count: number, of: number): string => `The first ${number(count)} of ${number(of)} are here.`

const more = (page: Page) => page.getByRole('button', { name: 'Show more' })

/** Presses the button of the list by keys until all is here; the focus stays there meanwhile. */
const showAll = async (page: Page, of: number): Promise<void> => {
  await more(page).focus()
  for (const here of parts.filter((count) => count < of)) {
    await page.getByText(shownOf(here, of)).waitFor()
    await page.locator('button:focus', { hasText: 'Show more' }).waitFor()
    await page.keyboard.press('Enter')
  }
  await page.locator('[role=status]:focus', { hasText: `All ${number(of)} are here.` }).waitFor()
}

/** The number in the name of the row at the middle of the window; undefined where no row is drawn. */
const inTheMiddle = (page: Page): Promise<number | undefined> =>
  page.evaluate<number | undefined>(`(() => {
    const row = document.elementFromPoint(innerWidth / 2, innerHeight / 2)?.closest('tbody tr:not(.gap)')
    return row ? Number(/_(\\d+)/.exec(row.innerText)?.[1]) : undefined
  })()`)

test.each([360, 1_280])('a list of thousands is reached to its last entry by keys, %i pixels wide', async (width) => {
  const { page } = await openPage(at.browser, at.url, '#/resources/view?project=shop', { viewport: { width, height: 800 } })
  await showAll(page, all)
  expect(await page.locator('tbody tr').count()).toBeLessThan(300)
  await page.keyboard.press('Shift+Tab')
  const link = page.locator('a:focus', { hasText: last })
  await link.waitFor()
  await expectUsable(page)
  const { y = -1 } = (await link.boundingBox()) ?? {}
  expect([y > 0, y < 800]).toEqual([true, true])
  expect(await page.getByRole('table').getAttribute('aria-rowcount')).toBe(String(all + 1))
  await page.keyboard.press('Enter')
  await page.locator('h1', { hasText: last }).waitFor()
  await page.context().close()
})

test('the address has how much of a list is here, and all of it can be scrolled', async () => {
  const { page } = await openPage(at.browser, at.url, `#/resources/view?project=shop&shown=${all}`)
  await page.locator(`table[aria-rowcount="${all + 1}"]`).waitFor()
  expect(await more(page).count()).toBe(0)
  for (const share of [0.5, 0.25, 0.75]) {
    await page.evaluate(`{
      const content = document.getElementById('content')
      content.scrollTop = (content.scrollHeight - content.clientHeight) * ${share}
    }`)
    await until(async () => Math.abs(((await inTheMiddle(page)) ?? -views) - share * views) < 60)
    expect(await page.locator('tbody tr').count()).toBeLessThan(300)
  }
  await page.goto(`${at.url}/#/resources/view?project=other`)
  await page.getByText(shownOf(500, others)).waitFor()
  await more(page).click()
  await page.waitForURL(/shown=1000/)
  await page.reload()
  await page.getByText(shownOf(1_000, others)).waitFor()
  await page.context().close()
})

test('a focused row stays in the page wherever the reader scrolls, and keys go on from it', async () => {
  const { page } = await openPage(at.browser, at.url, `#/resources/view?project=shop&shown=${all}`)
  await page.getByRole('link', { name: 'view_0010', exact: true }).focus()
  await page.evaluate(`document.getElementById('content').scrollTop = 1e9`)
  await until(async () => ((await inTheMiddle(page)) ?? 0) > views - 60)
  await page.locator('a:focus', { hasText: 'view_0010' }).waitFor()
  await page.keyboard.press('Tab')
  await page.locator('a:focus', { hasText: 'view_0011' }).waitFor()
  // Each key is pressed at once, before anything more is drawn for the one before.
  for (let presses = 0; presses < 100; presses++) await page.keyboard.press('Tab')
  await page.locator('a:focus', { hasText: 'view_0111' }).waitFor()
  await page.context().close()
})

/** Where the last row of the list is seen, and how far the page is scrolled. */
const placeOf = (page: Page, name: string): Promise<number[]> =>
  page.evaluate<number[]>(`(() => {
    const link = [...document.querySelectorAll('tbody a')].find(({ innerText }) => innerText === '${name}')
    return [Math.round(link?.getBoundingClientRect().top ?? -1), Math.round(document.getElementById('content').scrollTop)]
  })()`)

test('rows that come move nothing, also where the list has too many to be in the page as a whole', async () => {
  const { page } = await openPage(at.browser, at.url, '#/resources/view?project=shop')
  for (const [i, here] of parts.slice(0, 4).entries()) {
    await page.getByText(shownOf(here, all)).waitFor()
    await page.evaluate(`document.getElementById('content').scrollTop = 1e9`)
    await untilDrawn(page)
    // The first name is that of the view that all others read.
    const name = `view_${String(here - 2).padStart(4, '0')}`
    const before = await placeOf(page, name)
    expect(before[0]).toBeGreaterThan(0)
    await more(page).focus()
    await page.keyboard.press('Enter')
    await page.getByText(shownOf(parts[i + 1] ?? 0, all)).waitFor()
    await untilDrawn(page)
    const after = await placeOf(page, name)
    expect(after.map((pixels, n) => Math.abs(pixels - (before[n] ?? NaN)) <= 1)).toEqual([true, true])
  }
  await page.context().close()
})

test('a filter finds what is not loaded, and says how many there are if nothing fits', async () => {
  const { page } = await openPage(at.browser, at.url, '#/resources/view?project=shop')
  await page.getByText(shownOf(500, all)).waitFor()
  await page.getByLabel('Filter').fill(last.toUpperCase())
  await page.getByRole('link', { name: last, exact: true }).waitFor()
  expect(await page.locator('tbody tr').count()).toBe(1)
  const colleague = await openPage(at.browser, at.url, new URL(page.url()).hash)
  await colleague.page.getByRole('link', { name: last, exact: true }).waitFor()
  await colleague.page.context().close()
  await page.getByLabel('Filter').fill('no such name')
  await page.getByText('No name has this in it').waitFor()
  await page.getByText(`There are ${number(all)} views in all.`).waitFor()
  await page.getByLabel('Filter').fill('')
  await page.getByText(shownOf(500, all)).waitFor()
  await page.context().close()
})

test('what was asked for one list, or refused, has no part in the next one', async () => {
  const { page } = await openPage(at.browser, at.url, '#/resources/view?project=shop')
  const queries = `${at.url}/api/sql/query`
  const isFurther = (body: string | null) => body?.includes('OFFSET 500') === true
  await page.getByText(shownOf(500, all)).waitFor()
  await page.route(queries, (route) =>
    isFurther(route.request().postData()) ? route.fulfill({ status: 503, json: { title: 'Busy', detail: 'not now' } }) : route.fallback(),
  )
  await more(page).click()
  await page.getByRole('alert').waitFor()
  await page.unroute(queries)
  await page.getByLabel('Filter').fill('view_1')
  await page.getByText(shownOf(500, 1_000)).waitFor()
  expect(await page.getByRole('alert').count()).toBe(0)
  const answer = await holdRequests(page, queries, (request) => isFurther(request.postData()))
  const asked = page.waitForRequest((request) => isFurther(request.postData()))
  await more(page).click()
  await asked
  await page.getByLabel('Filter').fill('view_')
  await page.getByText(shownOf(500, views)).waitFor()
  expect(await page.locator('[role=status]', { has: more(page) }).getAttribute('aria-busy')).toBe('false')
  answer()
  await more(page).click()
  await page.getByText(shownOf(1_000, views)).waitFor()
  expect(await page.locator('tbody th').count()).toBe(1_000)
  await page.context().close()
})

test.each([360, 1_280])('what mentions a name, what changed, and what was erased is listed to its end, %i pixels wide', async (width) => {
  const viewport = { width, height: 800 }
  const { page } = await openPage(at.browser, at.url, '#/resources/view/shop/origin?plan=delete', { viewport })
  await showAll(page, views + others)
  await page.keyboard.press('Shift+Tab')
  await page.locator('a:focus', { hasText: last }).waitFor()
  await page.goto(`${at.url}/#/audit`)
  await page.getByText(shownOf(500, others)).waitFor()
  await showAll(page, others)
  const erased = page.getByRole('region', { name: 'What was erased' })
  await erased.getByText('person_0000').waitFor()
  await expectUsable(page)
  await page.context().close()
})

test('a comparison counts all that changed, and lists it to its end', async () => {
  const { data } = await sql(at.url, `SELECT min(id) - 1, max(id) FROM log.resources WHERE kind = 'view' AND name LIKE 'view_%'`)
  const [from, to] = data[0] ?? []
  const { page } = await openPage(at.browser, at.url, `#/compare?from=${String(from)}&to=${String(to)}`)
  await page.getByText(`${number(views)} resources changed, by ${number(views)} events.`).waitFor()
  expect(await page.locator('.changes > li').count()).toBe(500)
  await showAll(page, views)
  await page.keyboard.press('Shift+Tab')
  await page.locator('summary:focus', { hasText: 'shop.view_0000' }).waitFor()
  expect(await page.locator('.changes > li').count()).toBe(views)
  await page.context().close()
})

test('what is written meanwhile makes no row come twice or be missing', async () => {
  const { page } = await openPage(at.browser, at.url, '#/resources/view?project=other')
  await page.getByText(shownOf(500, others)).waitFor()
  const made = await send(at.url, 'POST', '/api/projects/other/views', { view: { name: 'a_first_one', query: 'SELECT 1 AS n' } })
  expect(made.status).toBeLessThan(300)
  expect((await send(at.url, 'DELETE', '/api/projects/other/views/other_0999')).status).toBe(204)
  await showAll(page, others)
  expect(await page.locator('tbody a').allInnerTexts()).toEqual(manyNames('other', others))
  expect((await send(at.url, 'DELETE', '/api/projects/other/views/a_first_one')).status).toBe(204)
  await page.context().close()
})
