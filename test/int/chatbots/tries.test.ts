import { expect, test } from '@jest/globals'
import { pino } from 'pino'
import { parseEnvelope } from '../../../events/stored/envelope.js'
import type { AskAgent } from '../../../src/agents/contract/answering.js'
import { recordedAnswer } from '../../../src/agents/run/recorded-answer.js'
import { Problem } from '../../../src/basics/errors.js'
import { limits } from '../../../src/basics/limits.js'
import type { Fetch } from '../../../src/chatbots/channels/channel.js'
import { Conversations } from '../../../src/chatbots/conversations.js'
import { MessageIntake } from '../../../src/chatbots/message-intake.js'
import { soleLeases } from '../../../src/log/contract/leases.js'
import { AnswerMaker, recordOf } from '../../support/agents/answer-maker.js'
import { createTelegramBot } from '../../support/chatbots/telegram-bot.js'
import { origin, testKey, withLog } from '../../support/log/log.js'
import { until } from '../../support/until.js'

const logger = pino({ level: 'silent' })

test('an answer is sent as often as a chat service may refuse it, however often the agent could not be asked before', () =>
  withLog(async ({ log, ledger }) => {
    const agent = await createTelegramBot({ ledger })
    const { position } = await new AnswerMaker(log, testKey).answer(agent, recordOf('hello', 'Hi.'))
    let [asked, posted] = [0, 0]
    const ask: AskAgent = async function* () {
      asked += 1
      if (asked === 1) throw new Problem('busy', 'Busy', 'too many answers are under way')
      return recordedAnswer(log, position)
    }
    const fetch: Fetch = async () => {
      posted += 1
      if (posted === limits.deliveryMaxAttempts) return Response.json({ ok: true })
      return Response.json({ ok: false }, { status: 429, headers: { 'retry-after': '0' } })
    }
    const conversations = new Conversations({ ledger, log, leases: soleLeases, ask, fetch, clock: Date, logger })
    await conversations.start()
    try {
      const [chatbot] = await log.resources.list('chatbot')
      await new MessageIntake({ ledger, log, conversations }).take({
        ...{ chatbot: chatbot!, channel: 'telegram', place: 'a place', ids: [], text: 'hello', sender: null },
        ...{ address: {}, onlyIfStarted: false, origin },
      })
      const types = async () => (await log.readAll(0, 100)).map(({ text }) => parseEnvelope(text).type)
      await until(async () => (await types()).some((type) => type === 'MessageSent' || type === 'DeliveryFailed'))
      expect((await types()).at(-1)).toBe('MessageSent')
      expect([asked, posted]).toEqual([2, limits.deliveryMaxAttempts])
    } finally {
      await conversations.stop(0)
    }
  }))
