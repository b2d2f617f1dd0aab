import { isObject } from '../../../events/common.js'
import type { Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { llmFailed } from '../../llm/failures.js'
import type { ChatExchange, LanguageModel, TokenUsage } from '../../llm/contract/language-model.js'
import { Fence } from '../prompt/fence.js'
import { estimateTokens } from '../../llm/tokens/estimates.js'
import { exchangeOnRecord, type ExchangeResult } from '../../llm/ask-model.js'
import type { ReserveTokens } from '../../llm/tokens/daily-token-quotas.js'
import { tokensOfExchange, usageOf } from '../../llm/exchange-usage.js'
import { tokensUsed } from '../../llm/tokens/token-usage.js'

/** The verdict of a language model on an answer. */
export type Verdict = { isGood: boolean; reason: string }

/**
 * A language model that judges, and the day whose tokens it uses. `onUsed` gets the tokens of each exchange, and by estimate those that its
 * provider does not report.
 */
export type Judge = { model: LanguageModel; reserve: ReserveTokens; onUsed: (usage: TokenUsage, untold: number) => void }

const jsonIn = (text: string): unknown => {
  try {
    return JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1))
  } catch {
    return undefined
  }
}

/** The verdict in a language model's text; undefined if there is none. */
const verdictIn = (text: string): Verdict | undefined => {
  const said = jsonIn(text)
  if (!isObject(said)) return undefined
  const { verdict, reason } = said
  if (verdict !== 'good' && verdict !== 'bad') return undefined
  return {
    isGood: verdict === 'good',
    reason: typeof reason === 'string' ? reason.slice(0, limits.evaluationReasonMaxChars).toWellFormed() : '',
  }
}

const noVerdict = ({ response }: ExchangeResult): Problem => {
  const most = limits.evaluationJudgeOutputMaxTokens
  const why =
    'finish' in response && response.finish === 'length'
      ? `the language model reached its limit of tokens (evaluationJudgeOutputMaxTokens, ${most}, or max_tokens of the judge) before a verdict`
      : 'the language model said neither good nor bad'
  return llmFailed('No verdict', why, 'Take another language model as the judge.')
}

/**
 * Lets a language model judge an answer. Question, expectation and answer stand between marks, as data. `onExchange` gets what is said
 * before the model is asked.
 *
 * @throws Problem tokens_spent; the failure of the language model; llm_failed when it says neither good nor bad
 */
export const judge = async (
  { model, reserve, onUsed }: Judge,
  { question, expected, answer }: { question: string; expected: string | null; answer: string },
  { signal, onExchange }: { signal: AbortSignal; onExchange: (exchange: ChatExchange) => void },
): Promise<Verdict> => {
  const fence = new Fence()
  const rules = [
    'You judge whether an answer is good: right, complete and to the point.',
    'If an expected answer is given, a good answer says the same; other words, order and format do not count.',
    fence.rule,
    'Answer with one JSON object and nothing else: {"verdict": "good" or "bad", "reason": "one sentence"}.',
  ]
  const asked = [
    fence.around('question', question),
    ...(expected === null ? [] : [fence.around('expected answer', expected)]),
    fence.around('answer', answer),
  ]
  const messages = [
    { role: 'system', content: rules.join('\n') },
    { role: 'user', content: asked.join('\n') },
  ] as const
  const read = estimateTokens(messages.map(({ content }) => content).join('\n'))
  const { settle } = await reserve(read + limits.evaluationJudgeOutputMaxTokens)
  const exchanged = await exchangeOnRecord(
    model,
    { messages, tools: [], maxOutputTokens: limits.evaluationJudgeOutputMaxTokens, temperature: 0 },
    { signal, onExchange },
  )
  const { response, failure } = exchanged
  const [used, usage] = [tokensOfExchange(exchanged, read), usageOf(response)]
  settle(used)
  onUsed(usage, used - tokensUsed(usage))
  if (failure !== undefined) throw failure instanceof Error ? failure : new TypeError('a failure is an Error')
  const verdict = verdictIn(response.text)
  if (!verdict) throw noVerdict(exchanged)
  return verdict
}
