import type { AnswerStep } from '../../../events/records/answers.js'
import type { AnswerRows } from './answering.js'

/**
 * A note for an answer without a query: it names the tools that gave data, or says that no tool did. Undefined if a query returned rows.
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
