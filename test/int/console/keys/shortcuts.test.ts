import { expect, test } from '@jest/globals'
import { openPage } from '../../../support/console/browser.js'
import { startConsole } from '../../../support/console/console.js'

const at = startConsole()

test('on a Mac ⌘ K opens the jump menu, and Ctrl K deletes the rest of a line in the editor', async () => {
  const { page } = await openPage(at.browser, at.url, '#/query')
  await page.locator('.jump kbd', { hasText: 'Ctrl K' }).waitFor()
  await page.addInitScript(`Object.defineProperty(Navigator.prototype, 'platform', { get: () => 'MacIntel' })`)
  await page.reload()
  await page.locator('.jump kbd', { hasText: '⌘ K' }).waitFor()
  const editor = page.getByLabel('SQL', { exact: true })
  await editor.click()
  expect(await editor.getAttribute('aria-description')).toMatch(/^⌘ Enter runs it/)
  await page.keyboard.insertText('SELECT 1 AS one')
  await page.locator('.cm-content', { hasText: 'SELECT 1 AS one' }).waitFor()
  await page.keyboard.press('Home')
  await page.keyboard.press('Control+k')
  await page.locator('.cm-content', { hasText: 'SELECT 1 AS one' }).waitFor({ state: 'detached' })
  expect(await page.getByRole('dialog').count()).toBe(0)
  await page.keyboard.press('Meta+k')
  await page.getByRole('dialog', { name: 'Jump to a page or a resource' }).waitFor()
  await page.context().close()
})

test('a key that another part of the page has handled does not open the jump menu', async () => {
  const { page } = await openPage(at.browser, at.url, '#/')
  await page.locator('h1').waitFor()
  await page.evaluate(`document.addEventListener('keydown', (event) => event.key === 'k' && event.preventDefault(), { capture: true })`)
  await page.keyboard.press('Control+k')
  expect(await page.getByRole('dialog').count()).toBe(0)
  await page.context().close()
})
