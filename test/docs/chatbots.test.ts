import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { join } from 'node:path'
import { writeFileSync } from 'node:fs'
import { startChatting } from '../support/chatbots/chatting.js'
import { runProgram } from '../support/cli.js'
import { blocksOf, readSource } from '../support/clone.js'
import { sql, temporaryDirectory } from '../support/service.js'

const page = readSource('docs/use/chatbots.md')
const blocks = blocksOf(page)
const blocksIn = (language: string) => blocks.filter((block) => block.language === language).map(({ text }) => text)

const directory = temporaryDirectory()
let at: Awaited<ReturnType<typeof startChatting>>
beforeAll(async () => {
  at = await startChatting((question, earlier) => `${question} (${earlier.length})`)
})
afterAll(async () => {
  await at.stop()
  directory.remove()
})

const here = (text: string) => text.replaceAll('http://localhost:47334', at.url).replaceAll('localhost:47334', at.url)
const shell = async (text: string, environment: Record<string, string> = {}) => {
  const { code, out, err } = await runProgram('bash', ['-ec', here(text)], { cwd: directory.path, env: environment })
  expect({ code, err }).toEqual({ code: 0, err: '' })
  return JSON.parse(out) as Record<string, unknown>
}

test('the page walks from a chatbot to its messages in SQL', async () => {
  const [create = '', signed = ''] = blocksIn('sh')
  const { webhook_token: token } = await shell(create)
  expect(token).toMatch(/^[\w-]{43}$/)

  writeFileSync(join(directory.path, 'page.mjs'), here(blocksIn('js')[0] ?? ''))
  const ran = await runProgram(process.execPath, ['page.mjs'], { cwd: directory.path })
  expect(ran).toMatchObject({ code: 0, out: 'answered How many homes are for rent? (0)\ntrue\n' })

  const answer = await shell(signed, { WEBHOOK_TOKEN: String(token), at: at.url })
  expect(answer).toMatchObject({ status: 'answered', answer: { text: 'How many homes are for rent? (0)' } })

  expect((await sql(at.url, blocksIn('sql')[0] ?? '')).data).toEqual([
    ['desk', 'api', 'answered', 2],
    ['desk', 'webhook', 'answered', 1],
  ])
})
