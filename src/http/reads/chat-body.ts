import * as z from 'zod'
import { illFormed, isBlank, isObject } from '../../../events/common.js'
import type { Turn } from '../../agents/contract/answering.js'
import { Problem, wrong } from '../../basics/errors.js'
import type { Body } from '../protocol/body-schema.js'
import { objectIn } from '../protocol/body-schema.js'

const part = z.looseObject({ type: z.string().optional(), text: z.string().optional() })
const message = z.union([
  z.looseObject({ role: z.string().describe('user or assistant'), content: z.union([z.string(), z.array(part)]) }),
  z.looseObject({ question: z.string(), answer: z.string().nullish() }),
])

const messagesMax = 1_000

const textOf = (content: unknown, at: string): string => {
  const text = Array.isArray(content)
    ? content.map((one) => (isObject(one) && typeof one['text'] === 'string' ? one['text'] : '')).join('')
    : content
  if (typeof text !== 'string') throw wrong(`${at} must be a text`)
  const reason = illFormed(text)
  if (reason !== undefined) throw wrong(`${at} ${reason}`)
  return text
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null && value !== ''

const sendText = 'Send {"role": "user", "content": "…"} with the question in words.'

const questionOf = (content: unknown, at: string): Turn => {
  const text = textOf(content, at)
  if (isBlank(text)) throw wrong(`${at} has no text`, sendText)
  return { role: 'user', content: text }
}

/** The turns of one message, in either form: `role` and `content`, or a `question` with its `answer`. */
const turnsOf = (sent: unknown, i: number): Turn[] => {
  const at = `messages[${i}]`
  if (!isObject(sent))
    throw wrong(`${at} must be an object`, 'Send {"role": "user", "content": "…"}, or {"question": "…", "answer": null}.')
  if ('role' in sent || 'content' in sent) {
    const content = sent['content'] ?? ''
    const role = sent['role'] ?? 'user'
    const isAnswer = role === 'assistant' || role === 'ai'
    if (!isAnswer && role !== 'user' && role !== 'human')
      throw wrong(
        `${at}.role: an agent takes the roles user and assistant`,
        'Put instructions into the prompt_template of the agent, or into the question.',
      )
    return [isAnswer ? { role: 'assistant', content: textOf(content, `${at}.content`) } : questionOf(content, `${at}.content`)]
  }
  if (!isGiven(sent['question'])) throw wrong(`${at} has neither content nor a question`, sendText)
  const { question, answer } = sent
  return [
    questionOf(question, `${at}.question`),
    ...(isGiven(answer) ? [{ role: 'assistant' as const, content: textOf(answer, `${at}.answer`) }] : []),
  ]
}

/** The messages of a conversation with an agent, as turns. Empty ones of the agent are left out. */
export const chatBody: Body<Turn[]> = {
  schema: z.object({ messages: z.array(message).min(1) }),
  read: (sent) => {
    const { messages } = objectIn(sent)
    if (messages === undefined)
      throw new Problem('missing_parameter', 'Missing parameter', 'Must provide "messages" parameter in POST body', {
        hint: 'Send {"messages": [{"role": "user", "content": "…"}]}.',
      })
    if (!Array.isArray(messages) || messages.length === 0) throw wrong('messages: must be a list with at least one message', sendText)
    if (messages.length > messagesMax)
      throw wrong(`messages: has ${messages.length} messages; at most ${messagesMax} are read`, 'Send the last ones.')
    return messages.flatMap(turnsOf).filter(({ role, content }) => role === 'user' || content !== '')
  },
}
