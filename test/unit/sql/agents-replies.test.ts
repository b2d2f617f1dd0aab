import { expect, test } from '@jest/globals'
import { limits } from '../../../src/basics/limits.js'
import { answerSelect, type AnswerParts } from '../../../src/sql/facade/answer-select.js'
import type { AgentReply, SelectRequest } from '../../../src/sql/contract/select.js'
import { origin } from '../../support/log/log.js'
import { stream7 } from '../commands/samples.js'

/** A process that asks for `questions` answers, and then gives no rows. */
const askingParts = (reply: (question: string) => AgentReply, questions: number) => {
  const sent: SelectRequest[] = []
  const none = async function* () {}
  const asked = { agent: stream7, label: 'helper', questions: Array.from({ length: questions }, (_, n) => `question ${n}`) }
  const parts = {
    log: { now: () => 0, head: () => Promise.resolve({ position: 1 }) },
    sqlProcess: {
      query: (request: SelectRequest) => {
        sent.push(request)
        return Promise.resolve({ columns: [], rows: none(), ...(request.answers?.length === 0 && { questions: asked }) })
      },
    },
    recorder: {},
    defaultProject: 'mindsdb',
    askQuestions: () => Promise.resolve(asked.questions.map(reply)),
  } as unknown as AnswerParts
  return { parts, sent }
}

const statement = { query: 'SELECT answer FROM helper', origin, context: { db: 'shop', show_secrets: false as const } }
const replyOf = (chars: number) => (question: string) => ({
  ...{ agent: stream7, question, answer: 'x'.repeat(chars), context: '{}', traceId: 'a' },
})

test('the answers of agents in one statement have a limit, and are not sent beyond it', async () => {
  const each = Math.ceil(limits.agentRepliesMaxBytes / 99)
  const { parts, sent } = askingParts(replyOf(each), 100)
  await expect(answerSelect({ sql: statement.query }, statement, parts)).rejects.toMatchObject({
    code: 'query_limit',
    detail: expect.stringContaining('agentRepliesMaxBytes'),
  })
  expect(sent).toHaveLength(1)
  const fitting = askingParts(replyOf(each), 90)
  await answerSelect({ sql: statement.query }, statement, fitting.parts)
  expect(fitting.sent[1]?.answers).toHaveLength(90)
})
