import type { AnswerStep } from '../../../events/records/answers.js'
import type { AnswerRows } from './answering.js'

/**
 * What to know of an answer that has no query behind it: which tools it rests on, or that it rests on nothing. Undefined where a query
 * gave rows.
 *
 * @example noteOf([{ kind: 'search', name: 'search_knowledge', outcome: 'complete', rows: 3, … }], []) // 'No query was run …: it rests on what search_knowledge gave.'
 */
export const noteOf = (steps: readonly AnswerStep[], queries: readonly AnswerRows[]): string | undefined => {
  if (queries.length > 0) return undefined
  const none = steps.some(({ kind }) => kind === 'sql') ? 'No query succeeded' : 'No query was run'
  const given = steps.filter(({ kind, outcome, rows }) => kind !== 'model' && kind !== 'sql' && outcome === 'complete' && rows !== 0)
  const tools = [...new Set(given.map(({ name }) => name))]
  return tools.length > 0
    ? `${none} for this answer: it rests on what ${tools.join(' and ')} gave.`
    : `${none} and nothing was retrieved for this answer.`
}
