import type { AnswerStep } from '../../../events/records/answers.js'
import type { ChatExchange } from '../../llm/contract/language-model.js'
import { charsOf, tokensOf } from '../../llm/tokens/estimates.js'
import type { AnswerRows } from './answering.js'

/** The parts of an answer that its note is about. */
type NotedAnswer = { steps: readonly AnswerStep[]; queries: readonly AnswerRows[]; exchanges: readonly ChatExchange[] }

/** Whether the language model was stopped before the end of its text, and by what. */
const cutOff = (last: ChatExchange | undefined): string | undefined => {
  if (!last || !('finish' in last.response)) return undefined
  const { finish } = last.response
  if (finish === 'length')
    return 'The answer is cut off: the language model reached its limit of tokens (max_tokens, or what was left of the tokens of the answer or of the day).'
  return finish === 'content_filter' ? 'The answer is cut off: the provider of the language model filtered it.' : undefined
}

/** A shorter prompt fits into the context of every server. */
const cutPromptMinTokens = 2_000
/** A text often has fewer tokens than the estimate, a quarter of its characters, but hardly ever less than this share of it. */
const leastShare = 0.7

/** Whether a provider counted far fewer tokens in a request than its messages have: some servers cut a prompt without a word. */
const cutPrompt = (exchanges: readonly ChatExchange[]): string | undefined => {
  let chars = 0
  for (const { new: messages, response } of exchanges) {
    chars += messages.reduce((sum, message) => sum + charsOf(message), 0)
    const sent = tokensOf(chars)
    // Some servers say 0 for what they do not count.
    const counted = ('usage' in response && response.usage.input) || sent
    if (sent >= cutPromptMinTokens && counted < sent * leastShare)
      return `The language model counted ${counted} of about ${sent} tokens of its prompt: its server may have cut it. Give the server a longer context, or the agent a smaller max_prompt_tokens.`
  }
  return undefined
}

/** What an answer without rows of a query rests on: the tools that gave data, or nothing. Undefined if a query gave rows. */
const basis = ({ steps, queries }: NotedAnswer): string | undefined => {
  if (queries.some(({ rows }) => rows.length > 0)) return undefined
  const tried = steps.some(({ kind }) => kind === 'sql') ? 'No query succeeded' : 'No query was run'
  const none = queries.length > 0 ? 'No query gave rows' : tried
  const given = steps.filter(({ kind, outcome, rows }) => kind !== 'model' && kind !== 'sql' && outcome === 'complete' && rows !== 0)
  const tools = [...new Set(given.map(({ name }) => name))]
  return tools.length > 0
    ? `${none} for this answer: it rests on what ${tools.join(' and ')} gave.`
    : `${none} and nothing was retrieved for this answer.`
}

/**
 * A note for an answer that is cut off, whose prompt may have been cut, or that has no rows of a query. Undefined for a whole answer with
 * such rows.
 *
 * @example noteOf({ steps: [{ kind: 'search', name: 'search_knowledge', outcome: 'complete', rows: 3, … }], queries: [], exchanges }) // 'No query was run …: it rests on what search_knowledge gave.'
 */
export const noteOf = (answer: NotedAnswer): string | undefined => {
  const said = [cutOff(answer.exchanges.at(-1)), cutPrompt(answer.exchanges), basis(answer)].filter((one) => one !== undefined)
  return said.length > 0 ? said.join(' ') : undefined
}
