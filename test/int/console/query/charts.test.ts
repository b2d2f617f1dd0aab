import { expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { openPage } from '../../../support/console/browser.js'
import { expectUsable, screenWidths, startConsole } from '../../../support/console/console.js'
import { until } from '../../../support/until.js'

const at = startConsole()

const queryPage = (sql: string, more: Record<string, string> = {}): string => `#/query?${new URLSearchParams({ sql, ...more }).toString()}`

const series = `SELECT DATE '2024-01-01' + CAST(i AS INTEGER) AS day, ['a', 'b'][i % 2 + 1] AS shop, i * 1.5 AS sold, i AS sold_min, i * 2 AS sold_max FROM range(200) AS t(i)`

test.each([
  ['a line over time', series, 'sold by day', 'path'],
  ['bars of names', `SELECT 'n' || i AS name, i AS n FROM range(12) AS t(i)`, 'n by name', 'rect'],
  ['dots of two numbers', 'SELECT i AS a, i * i AS b FROM range(300) AS t(i)', 'b by a', 'circle'],
  ['how a number is spread', 'SELECT i % 17 AS a FROM range(300) AS t(i)', 'How a is spread', 'rect'],
])('%s is proposed for an answer, and anybody can use it', async (_, sql, label, mark) => {
  for (const width of screenWidths) {
    const { page } = await openPage(at.browser, at.url, queryPage(sql, { view: 'chart' }), {
      viewport: { width, height: 900 },
    })
    await page.getByRole('button', { name: 'Run' }).click()
    const picture = page.getByRole('img', { name: label })
    await picture.locator(mark).first().waitFor({ state: 'attached' })
    await expectUsable(page)
    await page.context().close()
  }
})

test('a chart is changed, its address has it, and it is saved as SVG and PNG', async () => {
  const { page } = await openPage(at.browser, at.url, queryPage(series, { view: 'chart' }))
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByRole('combobox', { name: 'Chart' }).selectOption('bar')
  await page.getByRole('combobox', { name: 'Up' }).selectOption('sold_max')
  await page.getByRole('combobox', { name: 'Colour by' }).selectOption('shop')
  await page.getByRole('img', { name: 'sold_max by day' }).locator('rect').first().waitFor({ state: 'attached' })
  expect(new URL(page.url()).hash).toMatch(/kind=bar/)
  for (const [button, start] of [
    ['SVG', '<svg'],
    ['PNG', '\x89PNG'],
  ] as const) {
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: button }).click()
    const file = readFileSync(await (await saved).path(), 'latin1')
    expect(file.slice(0, start.length)).toBe(start)
    expect(file.length).toBeGreaterThan(2_000)
    expect(file).not.toContain('var(--')
    // The legend is part of the picture.
    if (button === 'SVG')
      for (const shop of ['a', 'b']) expect(file).toMatch(new RegExp(`<rect[^>]+fill="rgb[^>]+/?>(?:</rect>)?<text[^>]*>${shop}</text>`))
  }
  await page.context().close()
})

test('a line goes from left to right, whatever the order of its rows', async () => {
  const mixed = `SELECT DATE '2024-01-01' + CAST(i * 7 % 20 AS INTEGER) AS day, i AS n FROM range(20) AS t(i)`
  const { page } = await openPage(at.browser, at.url, queryPage(mixed, { view: 'chart' }))
  await page.getByRole('button', { name: 'Run' }).click()
  const line = page.getByRole('img', { name: 'n by day' }).locator('path[stroke-width="1.8"], g[stroke-width="1.8"] path').first()
  await line.waitFor({ state: 'attached' })
  const places = [...((await line.getAttribute('d')) ?? '').matchAll(/[ML]([\d.]+),/g)].map(([, x]) => Number(x))
  expect(places).toHaveLength(20)
  expect(places).toEqual([...places].sort((a, b) => a - b))
  await page.context().close()
})

test('bars that stand for several rows say that these are summed', async () => {
  const equal = `SELECT ['a', 'b'][i % 2 + 1] AS name, i AS n FROM range(12) AS t(i)`
  const { page } = await openPage(at.browser, at.url, queryPage(equal, { view: 'chart', kind: 'bar' }))
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByRole('combobox', { name: 'Along' }).selectOption('name')
  const picture = page.getByRole('img', { name: 'sum of n by name' })
  await picture.locator('text', { hasText: 'sum of n' }).waitFor({ state: 'attached' })
  await page.context().close()
})

test.each([
  ['', [1, 2, 3, 4]],
  ['half', [0.5, 0.5, 1, 1, 1.5, 1.5, 2, 2]],
])('bars sum all rows of an answer, however many, with the colour "%s"', async (by, sums) => {
  const many = `SELECT ['a', 'b', 'c', 'd'][i // 6250 + 1] AS name, i // 6250 + 1 AS n, ['x', 'y'][i % 2 + 1] AS half FROM range(25000) AS t(i)`
  const { page } = await openPage(at.browser, at.url, queryPage(many, { view: 'chart', kind: 'bar', by: by || 'none' }))
  await page.getByRole('button', { name: 'Run' }).click()
  const bars = page.getByRole('img', { name: 'sum of n by name' }).locator('g > rect')
  await bars.first().waitFor({ state: 'attached' })
  const heights = await Promise.all((await bars.all()).map(async (bar) => Number(await bar.getAttribute('height'))))
  const whole = heights.reduce((sum, height) => sum + height, 0)
  const shares = heights.map((height) => Math.round((height / whole) * 100) / 10)
  expect([...shares].sort((a, b) => a - b)).toEqual(sums)
  await page.context().close()
})

test('a chart draws the rows that fit the filter, also after the filter is changed and taken away', async () => {
  const named = `SELECT ['north', 'south', 'west'][i % 3 + 1] AS name, i % 3 + 1 AS n FROM range(30000) AS t(i)`
  const { page } = await openPage(at.browser, at.url, queryPage(named, { view: 'chart', kind: 'bar', filter: 'north' }))
  await page.getByRole('button', { name: 'Run' }).click()
  const picture = page.getByRole('img', { name: 'sum of n by name' })
  const drawn = async () => {
    await picture.waitFor()
    return (await picture.locator('text').allTextContents()).filter((text) => ['north', 'south', 'west'].includes(text))
  }
  const isDrawn = (...names: string[]) => until(async () => JSON.stringify(await drawn()) === JSON.stringify(names))
  await isDrawn('north')
  expect(await picture.locator('g > rect').count()).toBe(1)
  await page.getByLabel('Filter').fill('th')
  await isDrawn('north', 'south')
  await page.getByRole('combobox', { name: 'Chart' }).selectOption('histogram')
  const spread = page.getByRole('img', { name: 'How n is spread' })
  await spread.locator('g > rect').first().waitFor({ state: 'attached' })
  expect(await spread.locator('g > rect').count()).toBe(2)
  await page.getByRole('combobox', { name: 'Chart' }).selectOption('bar')
  await page.getByLabel('Filter').fill('')
  await isDrawn('north', 'south', 'west')
  await page.context().close()
})

test('a histogram counts all rows of an answer, however many', async () => {
  // Every second row would be one with 0 alone.
  const many = 'SELECT i % 2 AS a FROM range(25000) AS t(i)'
  const { page } = await openPage(at.browser, at.url, queryPage(many, { view: 'chart', kind: 'histogram' }))
  await page.getByRole('button', { name: 'Run' }).click()
  const picture = page.getByRole('img', { name: 'How a is spread' })
  await picture.locator('g > rect').first().waitFor({ state: 'attached' })
  const heights = await Promise.all((await picture.locator('g > rect').all()).map((bar) => bar.getAttribute('height')))
  expect(heights).toHaveLength(2)
  expect(heights[0]).toBe(heights[1])
  expect(await picture.locator('text').allTextContents()).toEqual(expect.arrayContaining(['12,000', expect.stringContaining('rows')]))
  await page.context().close()
})

test('if there are more names than bars, the first names have bars, with all their rows', async () => {
  const many = `SELECT 'n' || i % 100 AS name, 1 AS n FROM range(300) AS t(i)`
  const { page } = await openPage(at.browser, at.url, queryPage(many, { view: 'chart' }))
  await page.getByRole('button', { name: 'Run' }).click()
  const bars = page.getByRole('img', { name: 'sum of n by name' }).locator('g > rect')
  await page.getByText('The first 80 names are drawn').waitFor()
  await until(async () => (await bars.count()) === 80)
  const heights = await Promise.all((await bars.all()).map((bar) => bar.getAttribute('height')))
  expect(new Set(heights).size).toBe(1)
  await page.context().close()
})

test.each([
  ['bars of names', `SELECT ['a', 'b'][i % 2 + 1] AS name, i AS n FROM range(60) AS t(i)`, 'n'],
  ['a line over time', series, 'sold'],
])('a histogram in the place of %s is one of a number', async (_, statement, number) => {
  const { page } = await openPage(at.browser, at.url, queryPage(statement, { view: 'chart' }))
  await page.getByRole('button', { name: 'Run' }).click()
  await page.getByRole('combobox', { name: 'Chart' }).selectOption('histogram')
  await page
    .getByRole('img', { name: `How ${number} is spread` })
    .locator('g > rect')
    .first()
    .waitFor({ state: 'attached' })
  expect(await page.getByRole('combobox', { name: 'Along' }).inputValue()).toBe(number)
  await page.context().close()
})

test('the whole answer is saved as CSV and as JSON, with its parameters', async () => {
  const { page } = await openPage(at.browser, at.url, queryPage('SELECT i, i * :factor AS x FROM range(3) AS t(i)'))
  await page.getByLabel(':factor').fill('2.5')
  for (const [button, lines] of [
    ['CSV', ['i,x', '0,0', '1,2.5', '2,5']],
    ['JSON', ['{"i":1,"x":2.5}']],
  ] as const) {
    const saved = page.waitForEvent('download')
    await page.getByRole('button', { name: button }).click()
    const file = readFileSync(await (await saved).path(), 'utf8')
    for (const line of lines) expect(file).toContain(line)
  }
  await page.context().close()
})

test('the plan of a statement is shown without running it', async () => {
  const { page } = await openPage(at.browser, at.url, queryPage('SELECT range AS i FROM range(7) WHERE range > :least', { view: 'plan' }))
  await page.getByLabel(':least').fill('3')
  await page.locator('.plan', { hasText: 'range' }).waitFor()
  expect(await page.locator('.answer [role=status]').count()).toBe(0)
  await page.context().close()
})

test('a line has a band where there are columns for its bounds, and none without them', async () => {
  const band = (page: Page) => page.getByRole('img', { name: 'sold by day' }).locator('g[fill-opacity="0.18"] path')
  const { page } = await openPage(at.browser, at.url, queryPage(series, { view: 'chart' }))
  await page.getByRole('button', { name: 'Run' }).click()
  await band(page).first().waitFor({ state: 'attached' })
  const without = await openPage(at.browser, at.url, queryPage(`SELECT day, sold FROM (${series}) AS s`, { view: 'chart' }))
  await without.page.getByRole('button', { name: 'Run' }).click()
  await without.page.getByRole('img', { name: 'sold by day' }).locator('g[stroke-width="1.8"] path').first().waitFor({ state: 'attached' })
  expect(await band(without.page).count()).toBe(0)
  for (const one of [page, without.page]) await one.context().close()
})

test('a picture that cannot be drawn says why, and is drawn again on request or with other columns', async () => {
  const { page } = await openPage(at.browser, at.url, queryPage('SELECT i AS a, i * i AS b FROM range(300) AS t(i)', { view: 'chart' }))
  // No statement is known whose picture fails.
  await page.addInitScript(`{
    const { replaceChildren } = Element.prototype
    Element.prototype.replaceChildren = function (...given) {
      if (window.fails && this.classList.contains('picture')) throw new Error('it has too many dots')
      return replaceChildren.apply(this, given)
    }
    window.fails = true
  }`)
  await page.reload()
  await page.getByRole('button', { name: 'Run' }).click()
  const notice = page.getByRole('alert').filter({ hasText: 'it has too many dots' })
  await notice.waitFor()
  await page.evaluate('window.fails = false')
  await notice.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('img', { name: 'b by a' }).locator('circle').first().waitFor({ state: 'attached' })
  await page.evaluate('window.fails = true')
  await page.getByRole('combobox', { name: 'Up' }).selectOption('a')
  await notice.waitFor()
  await page.evaluate('window.fails = false')
  await page.getByRole('combobox', { name: 'Up' }).selectOption('b')
  await page.getByRole('img', { name: 'b by a' }).locator('circle').first().waitFor({ state: 'attached' })
  await page.context().close()
})
