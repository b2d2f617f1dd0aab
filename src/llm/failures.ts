import { isProblem, Problem } from '../basics/errors.js'
import { limits } from '../basics/limits.js'
import { mask } from '../basics/shown.js'
import { AnswerTooLarge, ConnectionLost } from '../egress/request-errors.js'
import { retryAfterMs } from '../egress/retry-after.js'

/** The details of the exchange for an error: the host and the model. Nothing of the prompt or the key gets into an error. */
export type Exchange = { host: string; model: string; apiKey: string | null; keySource: string | null }

/** A failed exchange. The title names the kind of failure, without words of the chat; the detail may repeat the provider's words. */
export const llmFailed = (title: string, detail: string, hint: string, retryAfterSeconds?: number): Problem =>
  new Problem('llm_failed', title, detail, { hint, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) })

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** An error, its cause, and so on. */
const causesOf = function* (error: unknown): Generator<Record<string, unknown>> {
  let cause = error
  for (let depth = 0; isRecord(cause) && depth < 8; depth++) {
    yield cause
    cause = cause['cause']
  }
}

/** The error that the providers' libraries throw for an answered call. */
type CallError = { status: number; headers: Record<string, unknown>; body: unknown }

const parsed = (body: unknown): unknown => {
  if (typeof body !== 'string') return body
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

/** Whether a body is an error of the library: it tells of a stream that cannot be read as of an answer of 500. */
const isLibrarys = (body: unknown): boolean => {
  const value = parsed(body)
  return isRecord(value) && typeof value['name'] === 'string' && value['name'].startsWith('AI_')
}

/** The answer that an error is about; undefined if there was no answer, or it cannot be read. */
export const callErrorOf = (error: unknown): CallError | undefined => {
  for (const { statusCode, responseHeaders, responseBody } of causesOf(error))
    if (typeof statusCode === 'number' && !isLibrarys(responseBody))
      return { status: statusCode, headers: isRecord(responseHeaders) ? responseHeaders : {}, body: responseBody }
  return undefined
}

const firstText = (values: readonly unknown[]): string | undefined =>
  values.find((value): value is string => typeof value === 'string' && value.trim() !== '')

/** The text of a provider about an error, in the forms of the providers. */
export const saidIn = (body: unknown): string | undefined => {
  const value = parsed(body)
  if (!isRecord(value)) return undefined
  const { error } = value
  return firstText([isRecord(error) ? error['message'] : error, value['message'], value['detail']])
}

const plain = (text: string): string =>
  text
    .toWellFormed()
    .replace(/[\x00-\x1f\x7f\s]+/g, ' ')
    .trim()

/** A provider's words for an error: one line, cut, and without the key, which some servers repeat. */
const quoted = (text: string | undefined, { apiKey }: Exchange): string => {
  if (text === undefined) return ''
  const line = plain(apiKey === null ? text : text.replaceAll(apiKey, mask))
  return `: ${line.length > limits.llmErrorMaxChars ? `${line.slice(0, limits.llmErrorMaxChars).toWellFormed()} …` : line}`
}

const tooLongPrompt =
  /context[ _]?(?:length|window|size)|maximum context|too many (?:input )?tokens|prompt is too long|n_ctx|reduce the length/i
/** The tokens of an answer, as providers speak of them; `tooLongPrompt` fits as well where they count the prompt with them. */
const answerTokens = /\bmax_(?:completion_|output_|new_)?tokens\b|maxOutputTokens|\bin the completion\b|completion tokens/
const noTools = /(?:not|n't) support (?:the use of )?(?:tool|function)|support tool use|tool[ _]choice requires|tools param requires/i
const usedUp = /insufficient_quota|exceeded your current quota|credit balance|billing/i

/** Whether the words of a provider speak of the limit of an answer's tokens. */
export const isAboutLimit = (said: string): boolean => answerTokens.test(said)

/** The wait that a provider asks for, in milliseconds; undefined if it does not. */
export const waitAskedFor = (headers: Record<string, unknown>): number | undefined => {
  const ms = Number(headers['retry-after-ms'] ?? NaN)
  if (ms >= 0) return ms
  const written = headers['retry-after']
  return typeof written === 'string' ? retryAfterMs(written) : undefined
}

/** Whether a request may be sent again unchanged after this answer. */
export const isPassing = ({ status, body }: CallError): boolean =>
  (status === 429 && !usedUp.test(String(body))) || status === 408 || status === 409 || (status >= 500 && status !== 501)

/** Whether the connection ended before there was an answer: a server may close one that was kept while the request is on its way. */
export const isLost = (error: unknown): boolean => [...causesOf(error)].some((cause) => cause instanceof ConnectionLost)

const whereKeyIs: Readonly<Record<string, string>> = {
  agent: 'Give the agent another key.',
  config: 'Set default_llm with another key, with PUT /api/config.',
  environment: 'Set another key in the environment, and start the service again.',
}

const answered = (call: CallError, exchange: Exchange): Problem => {
  const { status, headers, body } = call
  const { host, model, keySource } = exchange
  const said = saidIn(body)
  const words = quoted(said, exchange)
  const wait = waitAskedFor(headers)
  const seconds = wait === undefined ? undefined : Math.ceil(wait / 1_000)
  if (status === 401 || status === 403)
    return llmFailed(
      'Key refused',
      keySource === null ? `${host} needs a key, and no key for it is set (${status})` : `${host} refuses the key (${status})`,
      keySource === null
        ? 'Give an api_key beside the base_url.'
        : (whereKeyIs[keySource] ?? 'Give another key.') + ' It may also lack the right to this model.',
    )
  const whole = String(body).slice(0, 10_000)
  // Some servers repeat the request in their answer.
  const told = said ?? whole
  if (noTools.test(told))
    return llmFailed(
      'No tools',
      `${model} takes no tools at ${host} (${status})${words}`,
      'Take a model that calls tools, or let its server pass them on: vLLM with --enable-auto-tool-choice and --tool-call-parser, llama.cpp with --jinja.',
    )
  if (isAboutLimit(told) && status >= 400 && status < 500 && status !== 429)
    return llmFailed(
      'Token limit refused',
      `${host} refuses the limit of tokens for an answer of ${model} (${status})${words}`,
      'Change max_tokens of the agent, or of the default, or leave it out.',
    )
  if (tooLongPrompt.test(whole) && status >= 400 && status < 500)
    return llmFailed(
      'Prompt too long',
      `The prompt is too long for ${model}${words}`,
      'Take a model with a larger context, or fewer tables and shorter messages.',
    )
  if (status === 404)
    return llmFailed(
      'Unknown model',
      `${host} does not know the model ${model}, or the address (404)${words}`,
      'Check model_name and base_url. Most addresses end with /v1; Ollama lists its models with `ollama list`.',
    )
  if (status === 429 && usedUp.test(String(body)))
    return llmFailed('Quota used up', `${host} answers that the quota is used up${words}`, 'Raise the quota there, or use another key.')
  if (status === 429)
    return llmFailed('Too many requests', `${host} answers that there are too many requests${words}`, 'Try again later.', seconds ?? 1)
  if (status >= 500) return llmFailed('Language model failed', `${host} failed (${status})${words}`, 'Try again later.', seconds)
  if (status >= 400)
    return llmFailed(
      'Request refused',
      `${host} refuses the request (${status})${words}`,
      `Check that ${model} can be used so, with tools among others.`,
    )
  return notUnderstood(exchange)
}

/** An unreadable answer. */
export const notUnderstood = ({ host }: Pick<Exchange, 'host'>): Problem =>
  llmFailed(
    'Not understood',
    `${host} does not answer like a language model`,
    'Check base_url: it is where /chat/completions, /messages or /embeddings can be appended, and often ends with /v1.',
  )

/** An answer that stopped before the language model said that it was whole. */
export const endedEarly = ({ host }: Pick<Exchange, 'host'>): Problem =>
  llmFailed(
    'Answer cut off',
    `${host} ended its answer in the middle`,
    'Try again. If it stays so, look for what ends long answers there, such as a proxy.',
  )

/** An answer that has more bytes than are read, or calls. */
const overflowing = (problem: Problem): Problem =>
  llmFailed('Answer too large', problem.detail, 'Ask for less, or give the agent max_tokens.')

const isNetwork = (error: unknown): error is Problem => isProblem(error) && error.code === 'connection_failed'

/**
 * The meaning of a failed exchange.
 *
 * @example explainFailure(error, { host: 'api.openai.com:443', model: 'gpt-4o', apiKey: 'k', keySource: 'agent' }).title // 'Key refused'
 */
export const explainFailure = (error: unknown, exchange: Exchange): Problem => {
  const chain = [...causesOf(error)]
  const problem = chain.find((cause) => isProblem(cause))
  if (isNetwork(problem)) {
    if (problem instanceof AnswerTooLarge) return overflowing(problem)
    return new Problem('llm_failed', problem.title, problem.detail, problem.extras)
  }
  if (isProblem(problem)) return problem
  const call = callErrorOf(error)
  if (call && (call.status < 200 || call.status > 299)) return answered(call, exchange)
  return notUnderstood(exchange)
}

/** The meaning of an error that a provider sends in the middle of its answer. */
export const explainSent = (error: unknown, exchange: Exchange): Problem => {
  const words = firstText([...causesOf(error)].flatMap((cause) => [saidIn(cause['value']), saidIn(cause['data'])])) ?? sentMessage(error)
  if (words === undefined) return explainFailure(error, exchange)
  return llmFailed(
    'Language model failed',
    `${exchange.host} failed in the middle of its answer${quoted(words, exchange)}`,
    'Try again later.',
  )
}

/** The words of an error that is a part of the answer, and no fault of reading it. */
const sentMessage = (error: unknown): string | undefined =>
  isRecord(error) && !(error instanceof Error)
    ? firstText([error['message'], error['type']])
    : typeof error === 'string'
      ? error
      : undefined
