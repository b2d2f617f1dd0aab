import type { AnswerOutcome } from '../../../events/records/answers.js'
import type { AnswerPlace } from '../contract/evaluation-case.js'
import type { AnswerRows } from '../contract/answering.js'
import { sameLastRows } from './same-rows.js'

/** One of two answers in a comparison. Tokens are null if the provider does not report them; `error` says why an answer failed. */
type SideOf<Query> = {
  text: string
  outcome: AnswerOutcome
  error: string | null
  version: number
  model: string
  /** The host that was called for it. */
  host: string
  queries: readonly Query[]
  input_tokens: number | null
  output_tokens: number | null
  duration_ms: number
}

/** An answer that is compared, with the rows of its queries. */
export type AnswerSide = SideOf<AnswerRows>

/** An answer that was compared. Its rows may be large, so only their number is kept. */
export type Side = SideOf<Omit<AnswerRows, 'rows'> & { rows: number }>

/** A recorded answer and its rerun. `same_rows` is null if neither has rows. */
export type Comparison = {
  of: AnswerPlace
  gave: AnswerPlace | null
  question: string
  /** Whether turns before the question were erased: the rerun is without them. */
  history_erased?: true
  result: 'same' | 'different'
  same_text: boolean
  same_rows: boolean | null
  before: Side
  after: Side
}

/** An answer whose rerun was not possible. */
export type FailedRerun = { of: AnswerPlace; result: 'failed'; code: string; detail: string }

const difference = (before: number | null, after: number | null): number | null =>
  before === null || after === null ? null : after - before

const counted = ({ queries, ...side }: AnswerSide): Side => ({
  ...side,
  queries: queries.map((query) => ({ ...query, rows: query.rows.length })),
})

/** Compares texts and rows. If `isSame` is given, it decides instead, because more was compared. */
export const compare = (
  places: Pick<Comparison, 'of' | 'gave' | 'question' | 'history_erased'>,
  { before, after, isSame }: { before: AnswerSide; after: AnswerSide; isSame?: boolean },
): Comparison => {
  const same_text = before.text === after.text && before.outcome === after.outcome
  const same_rows = sameLastRows(before.queries, after.queries)
  const isAlike = isSame ?? (same_text && same_rows !== false)
  return { ...places, result: isAlike ? 'same' : 'different', same_text, same_rows, before: counted(before), after: counted(after) }
}

/** The scores of one comparison: whether texts and rows are the same (0 or 1), and how many more tokens and milliseconds the rerun took. */
export const scoresOf = ({ same_text, same_rows, before, after }: Comparison): Record<string, number> => {
  const tokens = [difference(before.input_tokens, after.input_tokens), difference(before.output_tokens, after.output_tokens)]
  const known = tokens.filter((one) => one !== null)
  return {
    same_text: Number(same_text),
    ...(same_rows !== null && { same_rows: Number(same_rows) }),
    ...(known.length > 0 && { tokens_change: known.reduce((sum, one) => sum + one, 0) }),
    duration_change_ms: after.duration_ms - before.duration_ms,
  }
}

/** The mean of each score, over the cases with this score. */
export const meansOf = (cases: readonly Readonly<Record<string, number>>[]): { name: string; value: number }[] => {
  const names = [...new Set(cases.flatMap((scores) => Object.keys(scores)))]
  return names.map((name) => {
    const values = cases.flatMap((scores) => scores[name] ?? [])
    return { name, value: values.reduce((sum, value) => sum + value, 0) / values.length }
  })
}
