import type { StreamId } from '../../../events/common.js'
import { answersStream } from '../../../events/records/answers.js'
import { parseEnvelope } from '../../../events/stored/envelope.js'
import type { Log } from '../../log/contract/log.js'
import { tokensIn } from './recorded-tokens.js'
import { DailyTokenQuotas, type DaySpending } from './daily-token-quotas.js'

const eventsAtOnce = 500

type ReadableLog = Pick<Log, 'readStream' | 'streamVersion' | 'now'>

/** Adds the tokens of an agent's answers, and of the judges of its evaluations, read from the newest back. */
const readAnswers = async (log: ReadableLog, agent: StreamId, day: DaySpending): Promise<void> => {
  const stream = answersStream(agent)
  const newest = await log.streamVersion(stream)
  for (let to = newest; to > day.version; to -= eventsAtOnce) {
    const after = Math.max(day.version, to - eventsAtOnce)
    const envelopes = (await log.readStream(stream, after, to - after)).map(({ text }) => parseEnvelope(text))
    for (const envelope of envelopes) if (Date.parse(envelope.recorded_at) >= day.start) day.spent += tokensIn(envelope)
    if (envelopes[0] && Date.parse(envelopes[0].recorded_at) < day.start) break
  }
  day.version = newest
}

/**
 * The tokens of agents by the day, by the clock of the log.
 *
 * @example agentTokenQuotas(log).spending(agent, 1_000_000)
 */
export const agentTokenQuotas = (log: ReadableLog): DailyTokenQuotas =>
  new DailyTokenQuotas({
    whose: 'the agent',
    more: 'the agent more: tokens_per_day, or AGENT_TOKENS_PER_DAY',
    read: (agent, day) => readAnswers(log, agent, day),
    now: () => log.now(),
  })
