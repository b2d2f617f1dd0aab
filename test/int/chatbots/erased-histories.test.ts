import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { startChatting } from '../../support/chatbots/chatting.js'
import { commandHere } from '../../support/command-here.js'
import { filesUnder, tracesInFiles } from '../../support/observe/traces.js'
import { send, sql } from '../../support/service.js'
import { until } from '../../support/until.js'

let at: Awaited<ReturnType<typeof startChatting>>
beforeAll(async () => {
  at = await startChatting((question) => `You said: ${question}`)
  await at.chatbot('desk', 'webhook', { secret: 'a secret that nobody guesses' })
})
afterAll(() => at.stop())

type Said = { conversation: string; answer: { id: string } }

const agent = '/api/projects/mindsdb/agents/helper'
const say = async (text: string, conversation?: string) =>
  (await send(at.url, 'POST', '/api/projects/mindsdb/chatbots/desk/messages', { text, user: 'ann', conversation })).body as Said
/** What an answer was told of the conversation before it. */
const told = async ({ answer: { id } }: Said) => {
  const { body } = await send(at.url, 'GET', `${agent}/answers/${id}`)
  return (body as { history: { content: string }[] }).history.map(({ content }) => content)
}
const erase = (subject: object) => send(at.url, 'POST', '/api/log/erasures', subject)
const rerun = (id: string, body: object = {}) => send(at.url, 'POST', `${agent}/answers/${id}/rerun`, body)
const isAnywhere = (text: string): boolean => tracesInFiles(filesUnder(at.directory), [Buffer.from(text)]).length > 0

test('an answer to a message from before a time goes with it, with its delivery and its reruns', async () => {
  let release: () => void = () => undefined
  const held = new Promise<void>((resolve) => (release = resolve))
  let isAsked = false
  at.agent.says(async (question) => {
    isAsked = true
    await held
    return `You said: ${question}`
  })
  const slow = say('planted-l')
  await until(() => isAsked)
  const before = new Date().toISOString()
  await new Promise((resolve) => setTimeout(resolve, 5))
  release()
  const { conversation, answer: given } = await slow
  await rerun(given.id, { replay: 'nothing' })
  expect((await erase({ before })).status).toBe(200)
  const { data } = await sql(at.url, `SELECT answer, readable FROM log.messages WHERE conversation = '${conversation}'`)
  expect(data).toEqual([[null, false]])
  expect((await send(at.url, 'GET', `${agent}/answers/${given.id}`)).status).toBe(410)
  expect(isAnywhere('planted-l')).toBe(false)
})

test('an answer that is recorded between the plan of an erasure and its event loses the erased turns as well', async () => {
  at.agent.says((question) => `You said: ${question}`)
  const one = await say('planted-o')
  const { log } = at.service
  const submit = log.submit.bind(log)
  let two: Said | undefined
  log.submit = async (submission) => {
    log.submit = submit
    two = await say('kept-p', one.conversation)
    return submit(submission)
  }
  expect(await erase({ answer: one.answer.id })).toMatchObject({
    status: 200,
    body: { positions: [expect.any(Number), expect.any(Number)] },
  })
  expect(await told(two!)).toEqual([])
  expect(isAnywhere('planted-o')).toBe(false)
})

test('an erasure of all before a time to come ends, and what is said meanwhile stays', async () => {
  await say('planted-q')
  const { log } = at.service
  const submit = log.submit.bind(log)
  const meanwhile: Said[] = []
  let isSaying = false
  log.submit = async (submission) => {
    if (!isSaying && meanwhile.length < 3) {
      isSaying = true
      meanwhile.push(await say('kept-r'))
      isSaying = false
    }
    return submit(submission)
  }
  const { body } = await erase({ before: '2999-01-01' })
  log.submit = submit
  expect(body).toMatchObject({ positions: [expect.any(Number)] })
  const [{ answer }] = meanwhile as [Said]
  expect(meanwhile).toHaveLength(1)
  expect((await send(at.url, 'GET', `${agent}/answers/${answer.id}`)).status).toBe(200)
  expect(isAnywhere('planted-q')).toBe(false)
})

test('a rerun of an answer whose history was erased says so, and is asked without it', async () => {
  const one = await say('planted-d')
  const two = await say('kept-e', one.conversation)
  await erase({ answer: one.answer.id })
  expect(await rerun(two.answer.id)).toMatchObject({ status: 200, body: { cases: [{ result: 'same', history_erased: true }] } })
  let earlier: readonly string[] = ['nothing']
  at.agent.says((question, before) => {
    earlier = before
    return `You said: ${question}`
  })
  expect(await rerun(two.answer.id, { replay: 'tools' })).toMatchObject({ status: 200, body: { cases: [{ history_erased: true }] } })
  expect(earlier).toEqual([])
  const { out } = await commandHere(['rerun', two.answer.id], { DATA_DIR: at.directory })
  expect(out).toContain('earlier turns of its conversation were erased')
})
