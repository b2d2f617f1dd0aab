import { limits } from '../../src/basics/limits.js'
import { webhookHeaders } from '../../test/support/chatbots/signed.js'
import { largestQuestion } from '../harness/language-model.js'
import { characters, json, long, type Body } from './body.js'
import { webhookSecret } from './prepare.js'
import { values } from './texts.js'

const messages = values(998, (n) => `{"role":"${n % 2 === 0 ? 'user' : 'assistant'}","content":"${'a b '.repeat(500)}"}`)

/** Questions to agents. */
export const questions: readonly Body[] = [
  json('messages', (share) => `{"messages":[${messages(share)},{"role":"user","content":"c"}]}`),
  json('a long question', (share) => `{"messages":[{"role":"user","content":"${long(limits.agentQuestionMaxChars)(share)}"}]}`),
  json('the largest answer', (share) => `{"messages":[{"role":"user","content":"${largestQuestion(share)}"}]}`),
]

/** Messages to chatbots. */
export const said: readonly Body[] = [
  json('a long text', (share) => `{"text":"${long(limits.messageMaxChars)(share)}"}`),
  json('a text that is too long', (share) => `{"text":"${characters('a b ')(share)}"}`),
  json('the largest answer', (share) => `{"text":"${largestQuestion(share)}"}`),
]

let webhooks = 0
const signed = (body: string) => webhookHeaders(webhookSecret, `message-${webhooks++}`, body)

/** Messages that another program sends to a chatbot. */
export const posted: readonly Body[] = [
  { ...json('a long text', (share) => `{"conversation":"room","text":"${long(limits.messageMaxChars)(share)}"}`), signed },
  { ...json('a text that is too long', (share) => `{"conversation":"room","text":"${characters('a b ')(share)}"}`), signed },
]
