import { expect, test } from '@jest/globals'
import { openPage } from '../../support/console/browser.js'
import { startConsole } from '../../support/console/console.js'
import { sql } from '../../support/service.js'

const at = startConsole()

const csv = (name: string, rows: string) => ({ name, mimeType: 'text/csv', buffer: Buffer.from(`word\n${rows}\n`) })

test('files with names in other scripts become tables of their own, also several at once', async () => {
  const { browser, url } = at
  const { page, misdeeds } = await openPage(browser, url)
  await page.locator('input[type=file]').setInputFiles([csv('данные.csv', 'one'), csv('отчёт.csv', 'two'), csv('Größe (m²).csv', 'three')])
  await page.locator('h1', { hasText: 'größe_m²' }).waitFor()
  const words = await sql(
    url,
    'SELECT (SELECT word FROM files.данные), (SELECT word FROM files.отчёт), (SELECT word FROM files."größe_m²")',
  )
  expect(words.data).toEqual([['one', 'two', 'three']])
  expect(misdeeds).toEqual({ errors: [], elsewhere: [] })
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
