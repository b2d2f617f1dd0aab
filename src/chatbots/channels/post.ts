import { withDeadline } from '../../basics/concurrency/bounded-waits.js'
import { growingWait, type GrowingWaits } from '../../basics/concurrency/growing-wait.js'
import { isProblem, type ProblemCode } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { wasNeverSent } from '../../egress/request-errors.js'
import { retryAfterMs } from '../../egress/retry-after.js'
import type { Attempt, Fetch, OutboundMessage } from './channel.js'

/** The answer of a chat service to a call: its status, the wait that it asks for, and its body if that was JSON. */
export type PostReply = { status: number; afterMs: number | undefined; body: unknown }

const jsonOf = async (answer: Response): Promise<unknown> => {
  try {
    return JSON.parse(await answer.text())
  } catch {
    return undefined
  }
}

/** Calls that are not sent at all, also not later: the host is not allowed, or HTTP cannot carry the call. */
const neverTaken: ReadonlySet<ProblemCode> = new Set(['egress_refused', 'wrong_arguments'])

/** How a call without an answer ended. The error never repeats an address, because Telegram's address contains the token. */
const failed = (error: unknown): Attempt => {
  if (!isProblem(error)) return { end: 'unknown', error: 'the call broke off' }
  const said = `${error.title}: ${error.detail}`
  if (neverTaken.has(error.code)) return { end: 'refused', error: said }
  return { end: wasNeverSent(error) ? 'later' : 'unknown', error: said }
}

/**
 * Posts once, and returns the result. A status tells whether the chat service accepted it. Without a status, only a connection that was
 * never made is certain.
 *
 * @example await post(call, url, { method: 'POST', body }, signal, ({ status }) => …)
 */
export const post = async (
  call: Fetch,
  url: string,
  init: RequestInit,
  signal: AbortSignal,
  judge: (said: PostReply) => Attempt,
): Promise<Attempt> => {
  try {
    return await withDeadline(limits.deliveryTimeoutMs, signal, async (within) => {
      const answer = await call(url, { ...init, signal: within })
      const afterMs = retryAfterMs(answer.headers.get('retry-after'))
      return judge({ status: answer.status, afterMs, body: await jsonOf(answer) })
    })
  } catch (error) {
    return failed(error)
  }
}

/** The meaning of a status alone: a server that is too busy, or failed, did not accept it. */
export const judgedByStatus = ({ status, afterMs }: PostReply): Attempt => {
  if (status >= 200 && status < 300) return { end: 'sent' }
  const error = `it answered ${status}`
  const passing = status === 408 || status === 425 || status === 429 || status >= 500
  return passing ? { end: 'later', error, ...(afterMs !== undefined && { afterMs }) } : { end: 'refused', error }
}

/**
 * The meaning of a status of a chat service that shows a text twice if it gets it twice. A failure of a server or of a proxy before it does
 * not tell whether the text arrived; only a server that asks to wait certainly did not accept it.
 *
 * @example judgedForChat({ status: 502, afterMs: undefined, body: undefined }) // { end: 'unknown', error: 'it answered 502' }
 */
export const judgedForChat = (said: PostReply): Attempt => {
  const { status, afterMs } = said
  const byStatus = judgedByStatus(said)
  const asksToWait = status === 425 || status === 429 || (status === 503 && afterMs !== undefined)
  return byStatus.end === 'later' && !asksToWait ? { end: 'unknown', error: byStatus.error } : byStatus
}

const usualWaits: GrowingWaits = { firstWaitMs: 1_000, factor: 4, maxWaitMs: limits.deliveryRetryMaxWaitMs }

/**
 * How long to wait after a number of tries: longer each time, unless the chat service says how long. An earlier try would be in vain, and
 * makes some chat services refuse for longer.
 *
 * @example waitAfter(1, 234_000) // 234000
 */
export const waitAfter = (tries: number, afterMs?: number): number =>
  afterMs === undefined ? growingWait(tries, usualWaits) : Math.min(afterMs, limits.deliveryRetryAfterMaxMs)

const belowOf = (note: string | undefined): string => (note === undefined ? '' : `\n\n${note}`)

/**
 * The text of a message within the limit, cut at its end if necessary, and its note as a paragraph below it.
 *
 * @example fitting({ text: 'There are 42.', note: 'No query was run …' }, 4_096) // 'There are 42.\n\nNo query was run …'
 */
export const fitting = ({ text, note }: Pick<OutboundMessage, 'text' | 'note'>, maxChars: number): string => {
  const below = belowOf(note)
  const most = maxChars - below.length
  return (text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`) + below
}

/** Where a text is cut into two: behind a paragraph, a line or a word in the second half of what fits, else within a word. */
const cutIn = (text: string, maxChars: number): number => {
  const fits = text.slice(0, maxChars)
  const ends = ['\n\n', '\n', ' '].map((gap) => fits.lastIndexOf(gap))
  const end = ends.find((at) => at > maxChars / 2)
  return end ?? (/[\ud800-\udbff]$/.test(fits) ? maxChars - 1 : maxChars)
}

/**
 * A long text as several messages, each within the limit, with the note in the last one. Beyond `messages` the text is cut.
 *
 * @example messagesOf({ text: 'a '.repeat(3_000) }, { chars: 4_096, messages: 10 }) // two texts
 */
export const messagesOf = (
  { text, note }: Pick<OutboundMessage, 'text' | 'note'>,
  { chars, messages }: { chars: number; messages: number },
): string[] => {
  // Each has room for the note, so that the last one has.
  const most = chars - belowOf(note).length
  const whole: string[] = []
  let rest = text
  while (rest.length > most && whole.length < messages - 1) {
    const at = cutIn(rest, most)
    whole.push(rest.slice(0, at))
    rest = rest.slice(at).replace(/^(?:\n+| )/, '')
  }
  const last = fitting({ text: rest, ...(note !== undefined && { note }) }, chars)
  return [...whole, last].filter((message) => message.trim() !== '')
}
