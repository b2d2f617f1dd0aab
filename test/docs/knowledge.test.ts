import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { readPage } from '../../docs/generators/pages.js'
import { sql, startTestService } from '../support/service.js'

let service: Awaited<ReturnType<typeof startTestService>>
beforeAll(async () => void (service = await startTestService()))
afterAll(() => service.stop())

test('docs/use/knowledge.md has examples, and each does what the page shows', async () => {
  const blocks = [...readPage('use/knowledge.md').matchAll(/^```(sql|sql refused|text)\n(.*?)^```/gms)]
  expect(blocks.length).toBeGreaterThan(10)
  let shown = ''
  for (const [, kind, text = ''] of blocks) {
    if (kind === 'text') expect(shown).toBe(text.trimEnd())
    else
      for (const statement of text.split(/;\n/).filter((one) => one.trim() !== '')) {
        const { type, error_message, data } = await sql(service.url, statement)
        expect({ statement, error_message, isError: type === 'error' }).toMatchObject({ statement, isError: kind === 'sql refused' })
        shown = type === 'table' ? data.map((row) => row.join(' | ')).join('\n') : ''
      }
  }
})
