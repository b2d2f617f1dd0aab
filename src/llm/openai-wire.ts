import { EventData } from '../egress/event-data.js'
import type { PostAnswer, egressPost } from '../egress/http-post.js'
import { limitNames, type OpenWire, type Refusals, type WirePart } from './contract/wire.js'
import { messagesOf, toolsOf } from './openai/body.js'
import { Completion, done } from './openai/completion.js'
import type { ModelSettings } from './settings.js'

/** How long a server may leave a complete answer open. */
const lastBytesMs = 250

type Body = Record<string, unknown>

/** An answer that refuses the request; it has the names that the libraries of the providers use. */
class RefusedRequest extends Error {
  constructor(
    readonly statusCode: number,
    readonly responseHeaders: PostAnswer['headers'],
    readonly responseBody: string,
  ) {
    super(`answered with ${statusCode}`)
  }
}

/** The body of a request, without the parameters that the model refuses. `max_tokens` has two names. */
const accepted = ({ provider }: ModelSettings, refused: Refusals, { max_tokens, ...body }: Body): Body => {
  const isOpenAi = provider === 'openai' || provider === 'azure_openai'
  const names = isOpenAi ? limitNames.toReversed() : limitNames
  const name = names.find((one) => !refused.has(one))
  const limited = name === undefined ? body : { ...body, [name]: max_tokens }
  return refused.size === 0 ? limited : Object.fromEntries(Object.entries(limited).filter(([member]) => !refused.has(member)))
}

/** The old interface of Azure has a path for each deployment; the new one is that of OpenAI. */
export const openAiAddress = ({ provider, address, model, apiVersion }: ModelSettings): string =>
  provider === 'azure_openai' && apiVersion !== null && address.endsWith('/openai/v1')
    ? `${address.slice(0, -'/v1'.length)}/deployments/${encodeURIComponent(model)}`
    : address

/** The parameters of an address. */
export const openAiQuery = ({ provider, apiVersion }: ModelSettings): Record<string, string> =>
  provider === 'azure_openai' && apiVersion !== null ? { 'api-version': apiVersion } : {}

/** The header that holds the key. */
export const openAiKey = ({ provider, apiKey }: ModelSettings): Record<string, string> => {
  if (apiKey === null) return {}
  return provider === 'azure_openai' ? { 'api-key': apiKey } : { authorization: `Bearer ${apiKey}` }
}

const urlOf = (settings: ModelSettings): string => {
  const query = new URLSearchParams(openAiQuery(settings)).toString()
  return `${openAiAddress(settings)}/chat/completions${query === '' ? '' : `?${query}`}`
}

const headersOf = (settings: ModelSettings): Record<string, string> => ({
  'content-type': 'application/json',
  accept: 'text/event-stream',
  'user-agent': 'mindledger',
  ...openAiKey(settings),
})

const textOf = async (body: PostAnswer['body']): Promise<string> => {
  const parts: Buffer[] = []
  for await (const part of body) parts.push(part)
  return Buffer.concat(parts).toString()
}

/** Leaves a complete answer. A connection whose answer ends at once is kept for the next call. */
const leave = async (body: PostAnswer['body']): Promise<void> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, lastBytesMs)))
  await Promise.race([body.next().catch(() => undefined), late])
  clearTimeout(timer)
}

async function* partsOf(body: PostAnswer['body']): AsyncGenerator<readonly WirePart[], void, void> {
  const [events, completion] = [new EventData(), new Completion()]
  try {
    for (let next = await body.next(); next.done !== true; next = await body.next()) {
      const parts: WirePart[] = []
      const found = events.read(next.value)
      try {
        for (const data of found) if (data !== done) completion.take(data, parts)
      } catch (error) {
        // What came before it is given.
        if (parts.length > 0) yield parts
        throw error
      }
      if (parts.length > 0) yield parts
      if (found.at(-1) !== done) continue
      await leave(body)
      break
    }
    yield completion.end()
  } finally {
    // Not awaited: the server may be silent until the caller ends the call.
    body.return().catch(() => undefined)
  }
}

/** Servers with OpenAI's protocol. */
export const openAiWire =
  (settings: ModelSettings, call: ReturnType<typeof egressPost>): OpenWire =>
  async (request, refused, signal) => {
    const { messages, maxOutputTokens, temperature } = request
    const said = {
      model: settings.model,
      max_tokens: maxOutputTokens,
      temperature,
      messages: messagesOf(messages, refused),
      ...toolsOf(request),
      stream: true,
      stream_options: { include_usage: true },
    }
    const body = JSON.stringify(accepted(settings, refused, said))
    const answer = await call(urlOf(settings), { headers: headersOf(settings), body, signal })
    if (answer.status < 200 || answer.status > 299) throw new RefusedRequest(answer.status, answer.headers, await textOf(answer.body))
    return partsOf(answer.body)
  }
