import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { openPage, violationsOf } from '../../support/console/browser.js'
import { expectRefusals, startConsole } from '../../support/console/console.js'
import { sql, startTestService, temporaryDirectory } from '../../support/service.js'
import { until } from '../../support/until.js'

const at = startConsole()

const csv = (name: string, rows: string) => ({ name, mimeType: 'text/csv', buffer: Buffer.from(`word\n${rows}\n`) })

test('files with names in other scripts become tables of their own, also several at once', async () => {
  const { browser, url } = at
  const { page } = await openPage(browser, url)
  await page.locator('input[type=file]').setInputFiles([csv('данные.csv', 'one'), csv('отчёт.csv', 'two'), csv('Größe (m²).csv', 'three')])
  await page.locator('h1', { hasText: 'größe_m²' }).waitFor()
  const words = await sql(
    url,
    'SELECT (SELECT word FROM files.данные), (SELECT word FROM files.отчёт), (SELECT word FROM files."größe_m²")',
  )
  expect(words.data).toEqual([['one', 'two', 'three']])
  await page.context().close()
})

test('a file that is dropped anywhere on the page is taken, and a text that is dragged is not', async () => {
  const { page } = await openPage(at.browser, at.url)
  await page.getByText('Upload files').waitFor()
  const isTaken = (of: 'a file' | 'a text') =>
    page.evaluate<boolean>(`(() => {
      const dataTransfer = new DataTransfer()
      if ('${of}' === 'a file') dataTransfer.items.add(new File(['word\\nfar\\n'], 'Far away.csv', { type: 'text/csv' }))
      else dataTransfer.setData('text/plain', 'a text')
      const event = (type) => new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true })
      document.querySelector('header, nav').dispatchEvent(event('dragover'))
      return !document.querySelector('header, nav').dispatchEvent(event('drop'))
    })()`)
  expect(await isTaken('a text')).toBe(false)
  expect(await isTaken('a file')).toBe(true)
  await page.locator('h1', { hasText: 'far_away' }).waitFor()
  expect((await sql(at.url, 'SELECT word FROM files.far_away')).data).toEqual([['far']])
  await page.context().close()
})

test('a file that is dropped as soon as the page is drawn is taken, too', async () => {
  const { page } = await openPage(at.browser, at.url, '#/audit')
  await page.locator('h1', { hasText: 'Audit' }).waitFor()
  const isTaken = await page.evaluate<boolean>(`new Promise((resolve) => {
    const drop = () => {
      const dataTransfer = new DataTransfer()
      dataTransfer.items.add(new File(['word\\nsoon\\n'], 'Very soon.csv', { type: 'text/csv' }))
      return !document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }))
    }
    const seen = new MutationObserver(() => document.querySelector('.drop') && resolve((seen.disconnect(), drop())))
    seen.observe(document.body, { childList: true, subtree: true })
    location.hash = '#/'
  })`)
  expect(isTaken).toBe(true)
  await page.locator('h1', { hasText: 'very_soon' }).waitFor()
  await page.context().close()
})

test('a file that is being sent shows how much of it is, and can be cancelled', async () => {
  const { page } = await openPage(at.browser, at.url)
  const network = await page.context().newCDPSession(page)
  const throttle = (uploadThroughput: number) =>
    network.send('Network.emulateNetworkConditions', { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput })
  await throttle(10_000)
  const rows = Array.from({ length: 200_000 }, () => 'a long word').join('\n')
  await page.locator('input[type=file]').setInputFiles([csv('huge.csv', rows), csv('small.csv', 'one')])
  const progress = page.getByRole('progressbar', { name: 'Sent of huge.csv' })
  await progress.waitFor()
  await until(async () => (await progress.evaluate((bar: { value: number }) => bar.value)) > 0)
  expect(await violationsOf(page)).toEqual([])
  await page.getByRole('button', { name: 'Cancel' }).click()
  await throttle(-1)
  await page.locator('h1', { hasText: 'small' }).waitFor()
  expect((await sql(at.url, "SELECT name FROM log.resources WHERE name IN ('huge', 'small')")).data).toEqual([['small']])
  await page.context().close()
})

test('a table gets other rows only when the reader says so', async () => {
  const { browser, url } = at
  await sql(url, "CREATE TABLE files.tiny (SELECT 'first' AS word)")
  const { page } = await openPage(browser, url)
  const give = (rows: string) => page.locator('input[type=file]').setInputFiles(csv('Tiny.csv', rows))
  const words = async (name: string) => (await sql(url, `SELECT word FROM files.${name}`)).data

  await give('second')
  await page.getByText('There is a table tiny already').waitFor()
  expect(await violationsOf(page)).toEqual([])
  await page.getByRole('button', { name: 'Leave it out' }).click()
  expect(await words('tiny')).toEqual([['first']])

  await give('second')
  await page.getByRole('button', { name: 'A new table' }).click()
  await page.locator('h1', { hasText: 'tiny_2' }).waitFor()
  expect([await words('tiny'), await words('tiny_2')]).toEqual([[['first']], [['second']]])

  await page.goto(`${url}/#/`)
  await give('third')
  await page.getByRole('button', { name: 'New rows for tiny' }).click()
  await page.locator('h1', { hasText: /^tiny$/ }).waitFor()
  expect(await words('tiny')).toEqual([['third']])
  await page.context().close()
})

test('a new table never takes the place of another one, whatever its name is', async () => {
  expectRefusals()
  const { browser, url } = at
  for (const name of ['taken', 'sales']) await sql(url, `CREATE TABLE files.${name} (SELECT 'first' AS word)`)
  const { page } = await openPage(browser, url)
  await page.locator('input[type=file]').setInputFiles(csv('taken.csv', 'second'))
  await page.getByLabel('Name of a new table').fill('Sales')
  await page.getByRole('button', { name: 'A new table' }).click()
  await page.getByText('There is a table Sales already').waitFor()
  expect((await sql(url, 'SELECT word FROM files.sales')).data).toEqual([['first']])
  expect(await page.getByLabel('Name of a new table').inputValue()).toBe('sales_2')
  // Somebody else takes this name at the last moment.
  await page.route('**/api/files/sales_2', async (route) => {
    await sql(url, "CREATE TABLE files.sales_2 (SELECT 'first' AS word)")
    await route.continue()
  })
  await page.getByRole('button', { name: 'A new table' }).click()
  await page.getByText('There is a table sales_2 already').waitFor()
  await page.getByRole('button', { name: 'A new table' }).click()
  await page.locator('h1', { hasText: 'sales_2_2' }).waitFor()
  expect((await sql(url, 'SELECT word FROM files.sales_2')).data).toEqual([['first']])
  expect((await sql(url, 'SELECT word FROM files.sales_2_2')).data).toEqual([['second']])
  await page.context().close()
})

test('the refusal of a file stays in sight while the others are uploaded', async () => {
  expectRefusals()
  const { browser, url } = at
  const { page } = await openPage(browser, url)
  const bad = (name: string) => ({ name, mimeType: 'application/octet-stream', buffer: Buffer.from('no parquet') })
  const listing = page.waitForResponse((response) => response.url().includes('/api/status'))
  await page
    .locator('input[type=file]')
    .setInputFiles([bad('bad.parquet'), csv('good.csv', 'one'), bad('worse.parquet'), csv('fine.csv', 'two')])
  await listing
  await page.getByRole('region', { name: 'Newest' }).getByText('fine').waitFor()
  for (const name of ['bad.parquet', 'worse.parquet']) await page.getByRole('alert').filter({ hasText: name }).waitFor()
  expect(new URL(page.url()).hash).toBe('#/')
  await page.context().close()
})

test('files go on while another page is shown, and what one of them asks or was refused for is there on the way back', async () => {
  expectRefusals()
  const { browser, url } = at
  await sql(url, "CREATE TABLE files.kept (SELECT 'first' AS word)")
  const { page } = await openPage(browser, url)
  let goOn = (): void => undefined
  const waiting = new Promise<void>((resolve) => (goOn = resolve))
  await page.route(/\/api\/files\/slow$/, async (route) => {
    await waiting
    await route.continue()
  })
  const sent = (name: string) => page.waitForResponse((response) => response.url().endsWith(`/api/files/${name}`))
  const goTo = async (name: string) => {
    await page.getByRole('navigation').getByRole('link', { name }).click()
    await page.locator('h1', { hasText: name === 'Home' ? 'Mindledger' : name }).waitFor()
  }
  const bad = { name: 'bad.parquet', mimeType: 'application/octet-stream', buffer: Buffer.from('no parquet') }
  await page.locator('input[type=file]').setInputFiles([csv('slow.csv', 'one'), bad, csv('kept.csv', 'second'), csv('third.csv', 'three')])
  await page.getByText('slow.csv').waitFor()
  await goTo('Events')
  const refused = sent('bad')
  goOn()
  await refused
  expect(new URL(page.url()).hash).toBe('#/events')
  await goTo('Home')
  await page.getByText('There is a table kept already').waitFor()
  await page.getByRole('alert').filter({ hasText: 'bad.parquet' }).waitFor()
  await page.getByRole('button', { name: 'Leave it out' }).click()
  await page.getByRole('region', { name: 'Newest' }).getByRole('link', { name: 'third', exact: true }).waitFor()
  expect((await sql(url, 'SELECT (SELECT word FROM files.slow), (SELECT word FROM files.kept)')).data).toEqual([['one', 'first']])
  await goTo('Events')
  await goTo('Home')
  await page.getByText('Upload files').waitFor()
  expect(await page.getByRole('alert').count()).toBe(0)
  await page.context().close()
})

test('the refusal of a file stays in sight also where the other one is the first table', async () => {
  expectRefusals()
  const { url, stop } = await startTestService()
  try {
    const { page } = await openPage(at.browser, url)
    await page.getByText('Nothing is here yet').waitFor()
    const bad = { name: 'bad.parquet', mimeType: 'application/octet-stream', buffer: Buffer.from('no parquet') }
    await page.locator('input[type=file]').setInputFiles([bad, csv('good.csv', 'one')])
    await page.getByRole('heading', { name: 'Newest' }).waitFor()
    await page.getByRole('alert').filter({ hasText: 'bad.parquet' }).waitFor()
    await page.context().close()
  } finally {
    await stop()
  }
})

test('a file that is dropped on the page becomes a table', async () => {
  const { browser, url } = at
  const place = temporaryDirectory()
  const file = join(place.path, 'Dropped words.csv')
  writeFileSync(file, 'word\nfrom the desk\n')
  try {
    const { page } = await openPage(browser, url)
    const zone = page.locator('.drop')
    await zone.scrollIntoViewIfNeeded()
    const box = await zone.boundingBox()
    if (!box) throw new Error('there is no place for a drop')
    const session = await page.context().newCDPSession(page)
    const drag = (type: 'dragEnter' | 'dragOver' | 'drop') =>
      session.send('Input.dispatchDragEvent', {
        ...{ type, x: box.x + box.width / 2, y: box.y + box.height / 2 },
        data: { items: [], files: [file], dragOperationsMask: 1 },
      })
    await drag('dragEnter')
    await drag('dragOver')
    await page.locator('.drop.over').waitFor()
    await drag('drop')
    await page.locator('h1', { hasText: 'dropped_words' }).waitFor()
    expect((await sql(url, 'SELECT word FROM files.dropped_words')).data).toEqual([['from the desk']])
    await page.context().close()
  } finally {
    place.remove()
  }
})
