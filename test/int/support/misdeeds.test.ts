import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from '@jest/globals'
import { openWindow, setChecked, takeMisdeeds } from '../../support/console/browser.js'
import { startBrowser } from '../../support/console/console.js'

const at = startBrowser()

test('what pages did before a file began is not held against it, and what they do in it is', async () => {
  const server = createServer((_, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<link rel="icon" href="data:,">'),
  )
  at.undo(() => server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { page } = await openWindow(at.browser, `http://127.0.0.1:${(server.address() as AddressInfo).port}`, '#/')
  const says = async (text: string): Promise<void> => {
    const heard = page.waitForEvent('console')
    await page.evaluate(`console.error('${text}')`)
    await heard
  }
  await says('a fault of another file')
  setChecked(true)
  await says('a fault of this file')
  expect(takeMisdeeds().errors).toEqual(['a fault of this file'])
  await page.context().close()
})
