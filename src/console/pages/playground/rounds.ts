import { ApiError, json } from '../../api/request.js'
import type { Value } from '../../api/sql.js'
import { asApiError } from '../../basics/loading.js'
import { LiveAnswer, nothing, type AnswerState, type Side, type Turn } from './live-answer.js'

/** A question, and the answer of each side. */
export type Round = { question: string; askings: readonly LiveAnswer[] }

type RecordedTool = {
  call: { tool: string; input: string }
  output: string
  failed: boolean
} & Partial<{ sql: string; columns: string[]; rows: Value[][]; cut: boolean }>

/** What the service records of an answer. */
type RecordedAnswer = {
  id: string
  position: number
  version: number
  question: string
  answer: string
  outcome: string
  error: string | null
  tools: RecordedTool[]
  input_tokens: number | null
  output_tokens: number | null
  duration_ms: number
}

/** The previous turns of one side. */
export const turnsOf = (rounds: readonly Round[], side: number, question: string): Turn[] => [
  ...rounds.flatMap((round): Turn[] => {
    const said = round.askings[side]?.said.peek()
    return said?.state === 'answered'
      ? [
          { role: 'user', content: round.question },
          { role: 'assistant', content: said.text },
        ]
      : []
  }),
  { role: 'user', content: question },
]

/**
 * The ids of the answers that have ended, for the address: `_` stands between the sides of a round, and `.` between rounds. A round
 * without a recorded answer is left out.
 *
 * @example addressOf(rounds) // '01a217d3-…_01a217d4-….01a217e0-…_01a217e1-…'
 */
export const addressOf = (rounds: readonly Round[]): string =>
  rounds
    .map(({ askings }) => askings.map(({ said }) => said.peek()).map(({ state, answer = '' }) => (state === 'asking' ? '' : answer)))
    .filter((ids) => ids.some((id) => id !== ''))
    .map((ids) => ids.join('_'))
    .join('.')

const stateOf = (outcome: string): AnswerState['state'] =>
  outcome === 'failed' ? 'failed' : outcome === 'aborted' ? 'stopped' : 'answered'

const stateIn = ({ id, answer, outcome, error, tools, duration_ms, ...more }: RecordedAnswer): AnswerState => ({
  ...nothing,
  state: stateOf(outcome),
  text: answer,
  steps: tools.map(({ call, output, failed, sql, columns = [], rows = [], cut = false }) => ({
    ...{ tool: call.tool, input: call.input, output, hasFailed: failed },
    rows: sql === undefined || failed ? undefined : { sql, columns, rows, isCut: cut },
  })),
  answer: id,
  position: more.position,
  version: more.version,
  outcome,
  tokens: { read: more.input_tokens, written: more.output_tokens },
  ms: duration_ms,
  error: outcome === 'failed' ? new ApiError({ status: 0, detail: error ?? 'the answer failed' }) : undefined,
})

/** The statuses of an answer that is not there for this agent, or not any more. */
const lost: ReadonlySet<number> = new Set([400, 404, 410])

/** The path of an answer in the API. */
export const answerPath = ({ project, agent }: Side, id: string): string =>
  `projects/${encodeURIComponent(project)}/agents/${encodeURIComponent(agent)}/answers/${encodeURIComponent(id)}`

const loadAnswer = async (side: Side, id: string, signal: AbortSignal): Promise<{ question: string | undefined; asking: LiveAnswer }> => {
  const asking = new LiveAnswer(side)
  try {
    if (id === '') throw new ApiError({ status: 404, detail: 'This answer was not recorded.' })
    const recorded = await json<RecordedAnswer>(answerPath(side, id), { signal })
    asking.said.value = stateIn(recorded)
    return { question: recorded.question, asking }
  } catch (error) {
    const refused = asApiError(error)
    if (!lost.has(refused.status)) throw error
    asking.said.value = { ...nothing, state: 'failed', answer: id === '' ? undefined : id, error: refused }
    return { question: undefined, asking }
  }
}

/**
 * The rounds of an address, from the records of their answers. An answer that cannot be read says why.
 *
 * @throws ApiError
 */
export const loadRounds = (address: string, sides: readonly Side[], signal: AbortSignal): Promise<Round[]> =>
  Promise.all(
    (address === '' ? [] : address.split('.')).map(async (round): Promise<Round> => {
      const ids = round.split('_')
      const loaded = await Promise.all(sides.map((side, i) => loadAnswer(side, ids[i] ?? '', signal)))
      const asked = loaded.find(({ question }) => question !== undefined)
      return { question: asked?.question ?? 'A question that cannot be read', askings: loaded.map(({ asking }) => asking) }
    }),
  )
