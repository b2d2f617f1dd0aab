import { expect, jest, test } from '@jest/globals'
import { pino } from 'pino'
import { limits } from '../../../src/basics/limits.js'
import { v4 as uuidv4 } from 'uuid'
import { streamId } from '../../../events/common.js'
import { parseEnvelope } from '../../../events/stored/envelope.js'
import type { Conversation, ConversationChannel } from '../../../events/conversation.js'
import type { AgentAnswer, AgentRequest, AskAgent } from '../../../src/agents/contract/answering.js'
import type { Ledger } from '../../../src/commands/ledger.js'
import { Conversations } from '../../../src/chatbots/conversations.js'
import { MessageIntake, type AcceptedMessage } from '../../../src/chatbots/message-intake.js'
import type { Fetch } from '../../../src/chatbots/channels/channel.js'
import type { Resource } from '../../../src/log/contract/log.js'
import { ForgetfulLedger } from '../../support/log/forgetful-ledger.js'
import { logServer } from '../../support/log/each-log.js'
import { origin } from '../../support/log/log.js'
import { newest, runOut, withNodesOf, type Node } from '../../support/log/nodes.js'
import { until } from '../../support/until.js'

const { server } = logServer()
const logger = pino({ level: 'silent' })
const noFetch: Fetch = () => Promise.reject(new Error('nothing is called'))

type Setting = {
  engine?: string
  fetch?: Fetch
  clock?: { now: () => number }
  ledgerOf?: (node: Node) => Ledger
  /** Whether the SQL of a worker, by its number, can answer. */
  hasSql?: (worker: number) => boolean
  /** How long a worker leaves a message to the one to which it came. */
  firstChoiceMs?: number
}

/** On a busy machine the usual second may be over before a node takes a message that came to it. */
const always = { firstChoiceMs: 3_600_000 }

/** An agent that answers at once, or when it is told to. */
class HandAgent {
  readonly asked: AgentRequest[] = []
  waits = false
  isMute = false
  #go: () => void = () => undefined

  ask: AskAgent = (asked) => this.#answer(asked)

  async *#answer(asked: AgentRequest): AsyncGenerator<never, AgentAnswer, void> {
    this.asked.push(asked)
    const aborted = new Promise<void>((resolve) => asked.signal.addEventListener('abort', () => resolve()))
    if (this.waits) await Promise.race([aborted, new Promise<void>((resolve) => (this.#go = resolve))])
    const content = this.isMute ? '' : `You said: ${asked.turns.at(-1)?.content ?? ''}`
    const outcome = asked.signal.aborted ? 'aborted' : 'answered'
    return {
      answer: uuidv4(),
      position: 1,
      model: 'm',
      host: 'h:1',
      content,
      outcome,
      queries: [],
      retrieved: [],
      usage: { input: 0, output: 0 },
    }
  }

  go(): void {
    this.#go()
  }
}

type Worker = { node: Node; agent: HandAgent; conversations: Conversations; intake: MessageIntake }

const withWorkers = (
  run: (workers: [Worker, Worker], url: string) => Promise<void>,
  { engine = 'webhook', fetch = noFetch, clock = Date, ledgerOf = ({ ledger }) => ledger, hasSql = () => true, ...more }: Setting = {},
): Promise<void> =>
  withNodesOf(server(), 2, async (nodes, url) => {
    const workers = nodes.map((node, n): Worker => {
      const agent = new HandAgent()
      const has = { ...more, hasSql: () => hasSql(n) }
      const conversations = new Conversations({ ...node, ledger: ledgerOf(node), ask: agent.ask, fetch, clock, logger, ...has })
      return { node, agent, conversations, intake: new MessageIntake({ ...node, conversations }) }
    })
    const [{ node }] = workers as [Worker]
    const target = { project: 'shop' }
    await node.ledger.execute({ type: 'CreateProject', data: target }, origin)
    const agent = { agent: 'helper', model_name: 'm', provider: null, skills: [], params: {} }
    await node.ledger.execute({ type: 'CreateAgent', data: { ...target, ...agent } }, origin)
    const chatbot = { chatbot: 'bot', agent: 'helper', is_running: true }
    const connection = { stream: '0190a000-0000-7000-8000-000000000001', engine, parameters: {} } as never
    await node.ledger.execute({ type: 'CreateChatbot', data: { ...target, ...chatbot, connection } }, origin)
    for (const worker of workers) {
      await newest(worker.node.log)
      await worker.conversations.start()
    }
    try {
      await run(workers as [Worker, Worker], url)
    } finally {
      await Promise.all(workers.map(({ conversations }) => conversations.stop(0)))
    }
  })

const say = async (
  { node: { log }, intake }: Worker,
  text: string,
  place: string,
  channel: ConversationChannel = 'api',
): Promise<AcceptedMessage> => {
  const [chatbot] = (await log.resources.list('chatbot')) as [Resource<'chatbot'>]
  const taken = await intake.take({
    ...{ chatbot, channel, place, ids: [], text, sender: null, address: {}, onlyIfStarted: false, origin },
  })
  if (!taken) throw new Error('no message')
  return taken
}

const never = new AbortController().signal

const endsOf = async ({ node: { log } }: Worker): Promise<number> => {
  await newest(log)
  return (await log.readAll(0, 1_000)).filter(({ text }) => ['MessageSent', 'MessageFailed'].includes(parseEnvelope(text).type)).length
}

test('each message is answered by one node, that to which it came if it can', () =>
  withWorkers(async (workers) => {
    const taken = await Promise.all(workers.flatMap((worker, n) => [1, 2, 3].map((i) => say(worker, `${n} ${i}`, `place ${n} ${i}`))))
    const ends = await Promise.all(taken.map((one, i) => workers[i < 3 ? 0 : 1].intake.end(one, 100_000, never)))
    expect(ends.map((end) => end?.status === 'answered' && end.text)).toEqual(
      ['0 1', '0 2', '0 3', '1 1', '1 2', '1 3'].map((text) => `You said: ${text}`),
    )
    expect(await endsOf(workers[0])).toBe(6)
    expect(workers.map(({ agent }) => agent.asked.length).reduce((sum, n) => sum + n)).toBe(6)
  }, always))

test('a node asks for the lease of a conversation only while a message of it waits, as far as it knows', () =>
  withWorkers(async ([one, other]) => {
    const { leases, log } = other.node
    const { resources } = log
    const byStream = resources.byStream.bind(resources)
    /** How many messages of each conversation this node found to wait, each time that it looked. */
    const looks = new Map<string, number[]>()
    resources.byStream = async (kind, stream) => {
      const found = await byStream(kind, stream)
      if (kind === 'conversation') {
        const { waiting: messages = [] } = (found?.state ?? {}) as Partial<Conversation>
        looks.set(stream, [...(looks.get(stream) ?? []), messages.length])
      }
      return found
    }
    const waiting: (number | undefined)[] = []
    jest.spyOn(leases, 'take').mockImplementation(async (name) => {
      const stream = streamId.parse(name.replace('conversation:', ''))
      const [, ...again] = looks.get(stream) ?? []
      // Without a second look, it asks for what it knew when the message came.
      waiting.push(again.at(-1) ?? (await byStream('conversation', stream))?.state.waiting.length)
      // On a busy machine it would often be this node that answers.
      return undefined
    })
    for (const place of ['a place', 'another'])
      expect(await one.intake.end(await say(one, 'hello', place), 100_000, never)).toMatchObject({ status: 'answered' })
    // The other node looks when a message comes, and when it has left it to this one for a second.
    const isKnown = (found: readonly number[]) => found.length > 1 && found.at(-1) === 0
    await until(() => waiting.some((messages) => messages !== 1) || (looks.size === 2 && [...looks.values()].every(isKnown)))
    await until(() => other.conversations.counts().running === 0)
    expect(waiting.filter((messages) => messages !== 1)).toEqual([])
  }))

test('a message that comes to a node whose SQL cannot answer is answered by another one', () =>
  withWorkers(
    async ([lacking, other]) => {
      // The answers of these agents are not in the log, so that a node can only tell of the end of a message without one.
      other.agent.isMute = true
      expect(await lacking.intake.end(await say(lacking, 'hello', 'place'), 100_000, never)).toMatchObject({ status: 'failed' })
      expect([lacking.agent.asked.length, other.agent.asked.length]).toEqual([0, 1])
    },
    { hasSql: (n) => n === 1 },
  ))

test('a message that no node with SQL answers is answered without it a minute later', () =>
  withWorkers(
    async (workers) => {
      await say(workers[0], 'hello', 'place')
      await until(() => workers.some(({ agent }) => agent.asked.length > 0), 60_000)
    },
    { hasSql: () => false, clock: { now: () => Date.now() + 60_000 } },
  ))

test('a message that waited too long fails, by the time that is believed and not by that of the machine', () => {
  let ahead = 0
  return withWorkers(
    async ([one]) => {
      expect(await one.intake.end(await say(one, 'early', 'a place'), 100_000, never)).toMatchObject({ status: 'answered' })
      ahead = limits.messageMaxAgeMs + 60_000
      expect(await one.intake.end(await say(one, 'late', 'a place'), 100_000, never)).toMatchObject({ status: 'failed' })
    },
    { ...always, clock: { now: () => Date.now() + ahead } },
  )
})

test('a message whose node fell silent is answered by another; who waits for it is told, and it has one end', () =>
  withWorkers(async (workers, url) => {
    for (const { agent } of workers) agent.waits = true
    const [asker] = workers
    const end = asker.intake.end(await say(asker, 'hello', 'place'), 100_000, never)
    await until(() => workers.some(({ agent }) => agent.asked.length === 1))
    // The other node answers first where this one does not take the lease within its second.
    const [silent, other] = asker.agent.asked.length === 1 ? workers : ([...workers].reverse() as [Worker, Worker])
    other.agent.waits = false
    other.agent.isMute = true
    await runOut(url, 'conversation:%', other.node.holder)
    await until(() => other.agent.asked.length === 1)
    expect(await end).toMatchObject({ status: 'failed', reason: 'agent' })
    silent.agent.go()
    await silent.conversations.stop(1_000)
    expect(await endsOf(other)).toBe(1)
  }))

test('an answer that was announced without a word about it is sent to a chat service once', async () => {
  const sent: string[] = []
  const fetch: Fetch = async (_, init) => {
    sent.push(typeof init?.body === 'string' ? init.body : '')
    return Response.json({ ok: true })
  }
  const ledgerOf = ({ log, vault }: Node) => new ForgetfulLedger(log, vault, ['BeginDelivery', 'SendMessage'])
  await withWorkers(
    async ([worker]) => {
      await say(worker, 'hello', 'place', 'telegram')
      await until(async () => (await endsOf(worker)) === 1)
      expect(sent).toEqual([expect.stringContaining('You said: hello')])
      const types = (await worker.node.log.readAll(0, 100)).map(({ text }) => parseEnvelope(text).type)
      expect(types.slice(-2)).toEqual(['DeliveryBegun', 'MessageSent'])
    },
    { engine: 'telegram', fetch, ledgerOf },
  )
})
