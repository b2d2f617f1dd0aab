import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { blocksOf, openClone, readSource, type Clone } from '../support/clone.js'
import { sql } from '../support/service.js'

const page = readSource('docs/use/mcp.md')
const blocks = blocksOf(page)

let clone: Clone
beforeAll(async () => {
  clone = await openClone()
  // A tool is refused while SQL is starting, which takes long on a busy machine.
  await sql(clone.url, 'SELECT 1')
})
afterAll(() => clone.stop())

test('the lines of the page call a tool, and list the tools that the page has', async () => {
  const { code, out, err } = await clone.shell(blocks.find(({ language }) => language === 'sh')?.text ?? '')
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out).toMatch(/"structuredContent":\{"columns":\[\{"name":"answer","type":"INTEGER"\}\],"rows":\[\[42\]\]/)
  const listed = JSON.parse(out.trim().split('\n').at(-1) ?? '') as { result: { tools: { name: string }[] } }
  const told = [...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)
  expect(listed.result.tools.map(({ name }) => name).sort()).toEqual(told.sort())
})

test('the settings of a desktop client start the relay', () => {
  const { mcpServers } = JSON.parse(blocks.find(({ language }) => language === 'json')?.text ?? '') as {
    mcpServers: { mindledger: { command: string; args: string[] } }
  }
  expect(mcpServers.mindledger).toMatchObject({ command: 'npx', args: ['mindledger', 'mcp'] })
})
