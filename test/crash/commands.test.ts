import { afterEach, expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseEnvelope } from '../../events/stored/envelope.js'
import { dataPaths } from '../../src/setup/data-directory.js'
import { openLogReader } from '../../src/log/sqlite/log-reader.js'
import { verifyLog } from '../../src/log/verify/verify.js'
import { Random } from '../../src/models/numerics/random.js'
import { countOf } from '../support/counts.js'
import { formOf, trainRent } from '../support/models/rentals.js'
import { spawnService, temporaryDirectory } from '../support/service.js'
import { CommandMaker, type SentCommand } from './command-maker.js'

const count = countOf('COMMANDS')
const seed = countOf('SEED')
const clients = 8
const giveUpMs = 600_000

const directory = temporaryDirectory()
afterEach(() => directory.remove())

type Answer = { status: number; text: string }

/** The fewest answers between two kills; of few commands some are to meet one, too. */
const answersBetween = Math.min(120, count)

/** A server that is killed again and again, and always comes back. */
class KilledServer {
  kills = 0
  #serving: Awaited<ReturnType<typeof spawnService>> | undefined
  #answersLeft = 0
  #done = false
  #loop: Promise<void> | undefined
  readonly #random = new Random(seed)

  async start(prepare: (url: string) => Promise<void>): Promise<void> {
    this.#serving = await spawnService(directory.path)
    await prepare(this.#serving.url)
    this.#arm()
  }

  /** Where it answers just now; undefined while it starts. */
  get url(): string | undefined {
    return this.#serving?.url
  }

  /** So many answers more, and it is killed. */
  answered(): void {
    this.#answersLeft -= 1
    if (this.#answersLeft <= 0 && !this.#loop && !this.#done) this.#restart()
  }

  async stop(): Promise<void> {
    this.#done = true
    await this.#loop
    this.#serving?.child.kill('SIGTERM')
    expect(await this.#serving?.ended).toEqual([0, null])
  }

  #restart(): void {
    this.#loop = this.#kill().finally(() => {
      this.#loop = undefined
    })
  }

  #arm(): void {
    this.#answersLeft = answersBetween + this.#random.below(answersBetween)
  }

  async #kill(): Promise<void> {
    await sleep(this.#random.below(20))
    const { child, ended } = this.#serving ?? {}
    this.#serving = undefined
    child?.kill('SIGKILL')
    await ended
    this.kills += 1
    this.#serving = await spawnService(directory.path)
    this.#arm()
  }
}

const send = async (url: string, { method, path, body, upload, key }: SentCommand): Promise<Answer> => {
  const json = body === undefined ? undefined : JSON.stringify(body)
  const content = upload === undefined ? json : formOf(upload, 'rows.csv')
  const reply = await fetch(url + path, {
    method,
    headers: {
      ...(upload === undefined && { 'content-type': 'application/json' }),
      'idempotency-key': key,
      'x-correlation-id': key,
      connection: 'close',
    },
    ...(content !== undefined && { body: content }),
  })
  return { status: reply.status, text: await reply.text() }
}

/**
 * What is no answer yet: a service that is starting or stopping. Each command is possible when it is sent, so that a statement's
 * error is one of these, too; any other would stay, and fail the test when the time is up.
 */
const isPassing = ({ status, text }: Answer): boolean => status >= 500 || text.startsWith('{"type":"error"')

test('a command that is sent up to five times with kills between has one effect and one answer', async () => {
  const server = new KilledServer()
  await server.start((url) => trainRent(url))
  const sent: { command: SentCommand; answers: Answer[] }[] = []

  /** Sends until there is an answer, whatever is killed meanwhile. */
  const answerTo = async (command: SentCommand): Promise<Answer> => {
    for (const until = Date.now() + giveUpMs; Date.now() < until;) {
      const { url } = server
      const answer = url === undefined ? undefined : await send(url, command).catch(() => undefined)
      if (answer && !isPassing(answer)) {
        server.answered()
        return answer
      }
      await sleep(10)
    }
    throw new Error(`no answer to ${JSON.stringify(command)}`)
  }

  const client = async (n: number): Promise<void> => {
    const random = new Random(seed, n + 1)
    const maker = new CommandMaker(`c${n}`, random)
    for (let i = n; i < count; i += clients) {
      const command = maker.next(`${n}-${i}`)
      const times = 1 + random.below(5)
      const first = await Promise.all(Array.from({ length: Math.ceil(times / 2) }, () => answerTo(command)))
      const record = { command, answers: first }
      sent.push(record)
      for (let again = first.length; again < times; again++) record.answers.push(await answerTo(command))
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, n) => client(n)))
  // Long after: the world is another, and the answers are the same.
  for (const { command, answers } of sent) if (answers.length < 5 && answers.length % 2 === 0) answers.push(await answerTo(command))
  await server.stop()
  expect(server.kills).toBeGreaterThan(0)

  const reader = openLogReader(directory.path)
  const effects = new Map<string, { type: string; request: string | null }[]>()
  for (let after = 0, page = reader.read(after, 1_000); page.length > 0; page = reader.read(after, 1_000))
    for (const { position, text } of page) {
      after = position
      const { type, request, correlation } = parseEnvelope(text)
      if (correlation !== null) effects.set(correlation, [...(effects.get(correlation) ?? []), { type, request }])
    }
  reader.close()
  for (const { command, answers } of sent) {
    const events = effects.get(command.key) ?? []
    expect({ command, answers: [...new Set(answers.map((answer) => JSON.stringify(answer)))] }).toEqual({
      command,
      answers: [JSON.stringify(answers[0])],
    })
    expect({ command, ok: (answers[0]?.status ?? 500) < 300, text: answers[0]?.text, types: events.map(({ type }) => type) }).toEqual({
      command,
      ok: true,
      text: expect.not.stringContaining('"type":"error"'),
      types: command.events,
    })
    expect(new Set(events.map(({ request }) => request)).size).toBeLessThanOrEqual(1)
  }
  expect(sent).toHaveLength(count)
  expect((await verifyLog({ logFile: dataPaths(directory.path).log })).findings).toEqual([])
  process.stderr.write(
    `${count} commands, ${sent.reduce((sum, { answers }) => sum + answers.length, 0)} answers, ${server.kills} kills, ${effects.size} effects\n`,
  )
})
