import { expect, test } from '@jest/globals'
import { pino } from 'pino'
import { streamId } from '../../../events/common.js'
import { parseEnvelope } from '../../../events/stored/envelope.js'
import { recordedAnswer } from '../../../src/agents/run/recorded-answer.js'
import { Conversations } from '../../../src/chatbots/conversations.js'
import { MessageIntake } from '../../../src/chatbots/message-intake.js'
import { soleLeases, type Leases } from '../../../src/log/contract/leases.js'
import { AnswerMaker, recordOf } from '../../support/agents/answer-maker.js'
import { createTelegramBot } from '../../support/chatbots/telegram-bot.js'
import { origin, testKey, withLog, type OpenLog } from '../../support/log/log.js'
import { until } from '../../support/until.js'

const logger = pino({ level: 'silent' })
const fault = () => Promise.reject(new TypeError('a fault'))

/** Bounds with which a test need not wait for a reaction that fails. */
const soon = { triesMax: 3, firstWaitMs: 1, maxWaitMs: 1 }

/** A chatbot on Telegram, and its conversations, which have not begun. `again` makes those of the next run of the service. */
const chatbotIn = async ({ log, ledger }: OpenLog, reactionBounds = {}, leases: Leases = soleLeases) => {
  const agent = await createTelegramBot({ ledger })
  const { position } = await new AnswerMaker(log, testKey).answer(agent, recordOf('hello', 'Hi.'))
  const again = () =>
    new Conversations({
      ...{ ledger, log, leases, clock: Date, logger, reactionBounds },
      ask: async function* () {
        return recordedAnswer(log, position)
      },
      fetch: async () => Response.json({ ok: true }),
    })
  const conversations = again()
  const [chatbot] = await log.resources.list('chatbot')
  const say = (place: string, by = conversations) =>
    new MessageIntake({ ledger, log, conversations: by }).take({
      ...{ chatbot: chatbot!, channel: 'telegram', place, ids: [], text: 'hello', sender: null },
      ...{ address: {}, onlyIfStarted: false, origin },
    })
  const events = async (type: string) => {
    const all = await log.readAll(0, 100)
    return all.map(({ text }) => parseEnvelope(text)).filter((one) => one.type === type)
  }
  const sent = async () => (await events('MessageSent')).length
  return { conversations, again, say, events, sent }
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

test('a message whose reaction always fails keeps no other message waiting, an operator is told, and the next start answers it', () =>
  withLog(async (open) => {
    const { conversations, again, say, sent } = await chatbotIn(open, soon)
    const { resources } = open.log
    const byStream = resources.byStream.bind(resources)
    let broken: string | undefined
    resources.byStream = (...asked) => {
      if (asked[0] === 'conversation') broken ??= asked[1]
      return asked[1] === broken ? fault() : byStream(...asked)
    }
    await conversations.start()
    try {
      expect(conversations.reaction?.warning()).toBeUndefined()
      for (const place of ['one', 'two']) await say(place)
      await until(async () => (await sent()) >= 1)
      const position = (await open.log.readAll(0, 100)).find(({ text }) => text.includes('"type":"MessageReceived"'))?.position
      expect(conversations.reaction?.warning()).toContain(`set an event aside: position ${position} (MessageReceived)`)
      expect(conversations.reaction?.setAside).toBe(1)
    } finally {
      await conversations.stop(0)
    }
    resources.byStream = byStream
    const next = again()
    await next.start()
    try {
      await until(async () => (await sent()) >= 2)
      await say('three', next)
      await until(async () => (await sent()) >= 3)
      expect(await sent()).toBe(3)
      expect(next.reaction?.setAside).toBe(0)
    } finally {
      await next.stop(0)
    }
  }))

test('a message that a fault keeps from being answered is marked as failed, and the next one of its conversation is answered', () =>
  withLog(async (open) => {
    const { conversations, say, events } = await chatbotIn(open, soon)
    const payload = open.log.payload.bind(open.log)
    let broken: string | undefined
    open.log.payload = (hash) => {
      broken ??= hash
      return hash === broken ? fault() : payload(hash)
    }
    await conversations.start()
    try {
      for (let i = 0; i < 2; i++) await say('one')
      await until(async () => (await events('MessageSent')).length >= 1)
      const [first, second] = await events('MessageReceived')
      expect(await events('MessageFailed')).toMatchObject([
        { data: { message: first?.data['message'], reason: 'agent', error: 'a fault of this service; its log says more' } },
      ])
      expect(await events('MessageSent')).toMatchObject([{ data: { message: second?.data['message'] } }])
    } finally {
      await conversations.stop(0)
    }
  }))

test('the author of a message that a fault keeps from being answered is told, if the fault does not prevent that', () =>
  withLog(async (open) => {
    const { conversations, say, events } = await chatbotIn(open, soon)
    const versionAt = open.log.versionAt.bind(open.log)
    let faults = soon.triesMax
    open.log.versionAt = (...asked) => (faults-- > 0 ? fault() : versionAt(...asked))
    await conversations.start()
    try {
      for (let i = 0; i < 2; i++) await say('one')
      await until(async () => (await events('MessageSent')).length >= 1)
      expect(await events('MessageFailed')).toMatchObject([{ data: { reason: 'agent', notice: expect.stringMatching(/^Sorry, /) } }])
      expect(await events('NoticeBegun')).toHaveLength(1)
    } finally {
      await conversations.stop(0)
    }
  }))

test('a message is tried as often as any, also after another node ended an earlier one that failed here', () =>
  withLog(async (open) => {
    let given = 0
    let endElsewhere = () => Promise.resolve()
    /** Another node ends the message when this one gives its lease back before the last try. */
    const leases: Leases = {
      areShared: true,
      take: async (name) => {
        const lease = (await soleLeases.take(name))!
        return { ...lease, release: () => (++given === soon.triesMax - 1 ? endElsewhere() : Promise.resolve()) }
      },
    }
    const { conversations, say, events } = await chatbotIn(open, soon, leases)
    endElsewhere = async () => {
      const [received] = await events('MessageReceived')
      const named = { conversation: streamId.parse(received?.stream), message: received?.data['message'] as string }
      const end = { reason: 'agent' as const, error: 'by another node', notice: null }
      await open.ledger.execute({ type: 'FailMessage', data: { ...named, ...end } }, origin)
    }
    const versionAt = open.log.versionAt.bind(open.log)
    let faults = soon.triesMax
    open.log.versionAt = (...asked) => (faults-- > 0 ? fault() : versionAt(...asked))
    await conversations.start()
    try {
      await say('one')
      await until(async () => (await events('MessageFailed')).length === 1)
      await say('one')
      await until(async () => (await events('MessageSent')).length + (await events('MessageFailed')).length >= 2)
      expect(await events('MessageFailed')).toMatchObject([{ data: { error: 'by another node' } }])
      expect(await events('MessageSent')).toHaveLength(1)
    } finally {
      await conversations.stop(0)
    }
  }))
