import { expect, test } from '@jest/globals'
import { pino } from 'pino'
import { parseEnvelope } from '../../../events/stored/envelope.js'
import { recordedAnswer } from '../../../src/agents/run/recorded-answer.js'
import { Conversations } from '../../../src/chatbots/conversations.js'
import { MessageIntake } from '../../../src/chatbots/message-intake.js'
import { soleLeases } from '../../../src/log/contract/leases.js'
import { AnswerMaker, recordOf } from '../../support/agents/answer-maker.js'
import { createTelegramBot } from '../../support/chatbots/telegram-bot.js'
import { origin, testKey, withLog, type OpenLog } from '../../support/log/log.js'
import { until } from '../../support/until.js'

const logger = pino({ level: 'silent' })
const fault = () => Promise.reject(new TypeError('a fault'))

/** A chatbot on Telegram, and its conversations, which have not begun. */
const chatbotIn = async ({ log, ledger }: OpenLog) => {
  const agent = await createTelegramBot({ ledger })
  const { position } = await new AnswerMaker(log, testKey).answer(agent, recordOf('hello', 'Hi.'))
  const conversations = new Conversations({
    ...{ ledger, log, leases: soleLeases, clock: Date, logger },
    ask: async function* () {
      return recordedAnswer(log, position)
    },
    fetch: async () => Response.json({ ok: true }),
  })
  const [chatbot] = await log.resources.list('chatbot')
  const say = (place: string) =>
    new MessageIntake({ ledger, log, conversations }).take({
      ...{ chatbot: chatbot!, channel: 'telegram', place, ids: [], text: 'hello', sender: null },
      ...{ address: {}, onlyIfStarted: false, origin },
    })
  const sent = async () => (await log.readAll(0, 100)).filter(({ text }) => parseEnvelope(text).type === 'MessageSent').length
  return { conversations, say, sent }
}

test('messages are answered once each after a fault in the reaction to one of them', () =>
  withLog(async (open) => {
    const { conversations, say, sent } = await chatbotIn(open)
    await conversations.start()
    try {
      const { resources } = open.log
      const byStream = resources.byStream.bind(resources)
      let faults = 1
      resources.byStream = (...asked) => (asked[0] === 'conversation' && faults-- > 0 ? fault() : byStream(...asked))
      for (const place of ['one', 'two']) await say(place)
      await until(async () => (await sent()) >= 2)
      await say('one')
      await until(async () => (await sent()) >= 3)
      expect(await sent()).toBe(3)
    } finally {
      await conversations.stop(0)
    }
  }))

test('messages of an earlier run of the service are taken up after a fault at the start', () =>
  withLog(async (open) => {
    const { conversations, say, sent } = await chatbotIn(open)
    await say('one')
    const { resources } = open.log
    const page = resources.page.bind(resources)
    let faults = 1
    resources.page = (...asked) => (faults-- > 0 ? fault() : page(...asked))
    await conversations.start()
    try {
      await until(async () => (await sent()) >= 1)
      expect(await sent()).toBe(1)
    } finally {
      await conversations.stop(0)
    }
  }))
