import { readFileSync } from 'node:fs'
import * as z from 'zod'
import { chosenAnswers } from '../../agents/rerun/chosen-answers.js'
import { limits } from '../../basics/limits.js'
import { refusalText, withServer, type CommandConfig, type Server } from '../access/server.js'
import { untilTablesBuilt } from '../access/tables-built.js'
import { UsageError } from '../access/usage-error.js'
import type { Screen } from '../terminal/output.js'
import { tableText } from '../terminal/table-text.js'
import { changedLines } from '../terminal/changed-lines.js'

export type RerunOptions = {
  /** An id or a position; or a query that names some. */
  answer: string | undefined
  query: string | undefined
  version: number | undefined
  model: string | undefined
  provider: string | undefined
  promptFile: string | undefined
  asOf: string | undefined
  replay: string | undefined
  liveTools: boolean
  json: boolean
}

const side = z.looseObject({
  text: z.string(),
  outcome: z.string(),
  error: z.string().nullish(),
  version: z.number(),
  model: z.string(),
  host: z.string(),
  queries: z.array(z.looseObject({ rows: z.number() })),
  input_tokens: z.number().nullable(),
  output_tokens: z.number().nullable(),
  duration_ms: z.number(),
})
const of = z.looseObject({ answer: z.string(), position: z.number() })
const compared = z.looseObject({
  of,
  result: z.enum(['same', 'different']),
  question: z.string(),
  history_erased: z.boolean().optional(),
  same_text: z.boolean(),
  same_rows: z.boolean().nullable(),
  before: side,
  after: side,
})
const refused = z.looseObject({ of, result: z.literal('failed'), detail: z.string() })
const rerunSchema = z.looseObject({
  replayed: z.string(),
  evaluation: z.number().nullable(),
  cases: z.array(z.discriminatedUnion('result', [compared, refused])),
})

type Case = z.infer<typeof rerunSchema>['cases'][number]
type RerunTarget = { project: string; agent: string; positions: number[] }

const statuses = { same: 0, different: 1, failed: 2 } as const
/** The worst result counts. A rerun that was not possible is worse than a different answer. */
const worst = (found: readonly number[]): number => Math.max(0, ...found)

const textFile = (path: string): string => {
  const text = readFileSync(path, 'utf8')
  if (text.length > limits.agentQuestionMaxChars)
    throw new UsageError(`${path} has more than ${limits.agentQuestionMaxChars} characters (agentQuestionMaxChars)`)
  return text
}

const requestOf = ({ version, model, provider, promptFile, asOf, replay, liveTools }: RerunOptions): object => ({
  ...(version !== undefined && { agent_version: version }),
  ...(model !== undefined && { model }),
  ...(provider !== undefined && { provider }),
  ...(promptFile !== undefined && { prompt: textFile(promptFile) }),
  ...(asOf !== undefined && { as_of: asOf === 'then' ? asOf : Number(asOf) }),
  ...(replay !== undefined && { replay }),
  ...(liveTools && { live_tools: true }),
})

const rowsSchema = z.looseObject({
  type: z.literal('table'),
  data: z.array(z.tuple([z.string(), z.number(), z.string().nullable(), z.string()])),
})

/** The answers to rerun, by agent. */
const choose = async (server: Server, { answer, query }: RerunOptions): Promise<RerunTarget[] | string> => {
  const wanted = query ?? `SELECT '${(answer ?? '').replaceAll("'", "''")}'`
  const { body } = await server.post('/api/sql/query', { query: chosenAnswers(wanted, limits.rerunAnswersMax + 1) })
  const found = rowsSchema.safeParse(body).data
  if (!found) return z.looseObject({ error_message: z.string() }).safeParse(body).data?.error_message ?? refusalText(body)
  if (found.data.length === 0) return answer === undefined ? 'the query names no recorded answer' : `there is no answer ${answer}`
  if (found.data.length > limits.rerunAnswersMax)
    return `the query names more than ${limits.rerunAnswersMax} answers (rerunAnswersMax): narrow it, or add LIMIT`
  const byAgent = new Map<string, RerunTarget>()
  for (const [, position, project, agent] of found.data) {
    const chosen = byAgent.get(agent) ?? { project: project ?? '', agent, positions: [] }
    chosen.positions.push(position)
    byAgent.set(agent, chosen)
  }
  return [...byAgent.values()]
}

const cellsOf = (one: Case): (string | number)[] => {
  if (one.result === 'failed') return [one.of.position, 'failed', '', '', '', '']
  const { before, after, same_text, same_rows } = one
  const rowsIn = ({ queries }: z.infer<typeof side>) => queries.at(-1)?.rows ?? 'no'
  const tokensIn = ({ input_tokens, output_tokens }: z.infer<typeof side>) =>
    input_tokens === null && output_tokens === null ? '?' : (input_tokens ?? 0) + (output_tokens ?? 0)
  return [
    one.of.position,
    one.result,
    same_text ? 'same' : 'different',
    same_rows === null
      ? `${rowsIn(before)} → ${rowsIn(after)} rows`
      : `${same_rows ? 'same' : 'different'}, ${rowsIn(before)} → ${rowsIn(after)} rows`,
    `${tokensIn(before)} → ${tokensIn(after)}`,
    `${before.duration_ms} → ${after.duration_ms} ms`,
  ]
}

const show = (cases: readonly Case[], out: Screen): void => {
  for (const line of tableText(['answer', 'result', 'text', 'rows', 'tokens', 'time'], cases.map(cellsOf))) out.line(line)
  for (const one of cases) {
    if (one.result === 'failed') {
      out.line(`\n${one.of.position}: ${one.detail}`)
      continue
    }
    if (one.history_erased) out.line(`\n${one.of.position}: earlier turns of its conversation were erased; the rerun was without them`)
    const { before, after } = one
    if (after.host !== before.host) out.line(`\n${one.of.position}: ${after.model} was asked at ${after.host}, not at ${before.host}`)
    if (one.same_text) continue
    out.line(`\n${one.of.position}: ${one.question.slice(0, 200)}`)
    for (const line of changedLines(before.text, after.text)) out.line(line)
    const why = after.error ?? ''
    if (after.outcome !== before.outcome) out.line(`now ${after.outcome}${why === '' ? '' : `: ${why}`}`)
  }
}

/**
 * `mindledger rerun <answer>`, or `--query`: reruns recorded answers, and compares. Exit status 0 if all are the same, 1 if one differs, 2
 * if the rerun of one was not possible.
 */
export const rerun = (config: CommandConfig, options: RerunOptions, out: Screen): Promise<number> =>
  withServer(config, async (server) => {
    const request = requestOf(options)
    await untilTablesBuilt(server, out.progress)
    const chosen = await choose(server, options)
    if (typeof chosen === 'string') {
      out.error(chosen)
      return 2
    }
    const found: number[] = []
    const all: Case[] = []
    for (const { project, agent, positions } of chosen) {
      const base = `/api/projects/${encodeURIComponent(project)}/agents/${agent}`
      const [only] = positions
      const { status, body } =
        positions.length === 1
          ? await server.post(`${base}/answers/${only ?? 0}/rerun`, request)
          : await server.post(`${base}/reruns`, { ...request, answers: positions })
      if (status !== 200) {
        out.error(refusalText(body))
        found.push(2)
        continue
      }
      const { cases } = rerunSchema.parse(body)
      if (options.json) out.line(JSON.stringify(body))
      all.push(...cases)
      found.push(...cases.map(({ result }) => statuses[result]))
    }
    if (!options.json && all.length > 0) show(all, out)
    return worst(found)
  })
