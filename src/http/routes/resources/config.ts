import { v7 as uuidv7 } from 'uuid'
import * as z from 'zod'
import { jsonObject, streamId } from '../../../../events/common.js'
import { configNames } from '../../../../events/config.js'
import type { Ledger } from '../../../commands/ledger.js'
import { wrong } from '../../../basics/errors.js'
import { maskSecrets } from '../../../vault/seal-secrets.js'
import { objectIn, parse, type Body } from '../../protocol/body-schema.js'
import { carryOut } from '../../protocol/carry-out.js'
import { json } from '../../protocol/reply.js'
import type { ReadRouteFactory } from '../../reads/read-routes.js'
import { route, type Route } from '../../protocol/route.js'

const price = z.number().min(0).max(1_000_000)
const prices = z
  .record(z.string().min(1), z.strictObject({ input: price, output: price }))
  .describe(
    'The price of a million tokens, by the name of a language model, or by its provider and name: {"gpt-4o": {"input": 2.5, "output": 10}}. Answers count at the price of their time: log.usage',
  )

const defaults = z
  .object({
    default_llm: jsonObject.nullish(),
    default_embedding_model: jsonObject.nullish(),
    default_reranking_model: jsonObject.nullish(),
    llm_prices: prices.nullish(),
  })
  .meta({ id: 'ConfigDefaults', minProperties: 1, additionalProperties: false })
const shown = z
  .looseObject({
    auth: z.object({ http_auth_enabled: z.boolean() }),
    default_llm: jsonObject,
    default_embedding_model: jsonObject,
    default_reranking_model: jsonObject,
    llm_prices: jsonObject,
    api: z.looseObject({ http: z.object({ host: z.string(), port: z.string(), running: z.boolean() }) }),
  })
  .meta({ id: 'Config' })
const path = '/config'

/** Keys that clients of MindsDB set on this route, and how to set them here. */
const elsewhere: Readonly<Record<string, string>> = {
  auth: 'Set AUTH=session, AUTH_USERNAME and AUTH_PASSWORD in the environment and start the service again.',
  knowledge_bases: 'Each knowledge base has its own settings: ALTER KNOWLEDGE_BASE name USING key = value.',
  api: 'Set HOST and PORT in the environment and start the service again.',
}

const refuseOthers = (body: object): void => {
  const keys = Object.keys(body)
  const unknown = keys.filter((key) => !configNames.some((name) => name === key))
  const hint = unknown.map((key) => elsewhere[key]).find((known) => known !== undefined)
  if (unknown.length > 0) throw wrong(`Unknown arguments: ${unknown.join(', ')}`, hint ?? `The settings are ${configNames.join(', ')}.`)
  if (keys.length === 0) throw wrong('there is nothing to set', `The settings are ${configNames.join(', ')}.`)
}

const body: Body<z.infer<typeof defaults>> = {
  schema: defaults,
  read: (sent) => {
    const object = objectIn(sent)
    refuseOthers(object)
    return parse(defaults, object, 'config')
  },
}

const newStream = () => streamId.parse(uuidv7())

/** The routes for the stored defaults. @param host the address at which the service listens, which clients read */
export const configRoutes = (
  ledger: Ledger,
  reading: ReadRouteFactory,
  { authentication, host }: { authentication: boolean; host: string },
): Route[] => [
  reading({
    path,
    summary: 'The defaults that were set, and how this service is reached; secrets are masked',
    answers: { 200: shown },
    async handle({ call }, { resources }) {
      const set = await resources.list('config')
      const value = (name: string) => maskSecrets(set.find(({ state }) => state.name === name)?.state.value ?? {})
      return json({
        auth: { http_auth_enabled: authentication },
        ...Object.fromEntries(configNames.map((name) => [name, value(name)])),
        api: { http: { host, port: String(call.incoming.socket.localPort), running: true }, mysql: { running: false } },
      })
    },
  }),
  route({
    method: 'put',
    path,
    summary: 'Set defaults, each as a whole; an empty object or null takes one back',
    commandHeaders: ['Idempotency-Key', 'Prefer'],
    body,
    answers: { 200: z.literal('') },
    async handle({ body: sent, call }) {
      const parameters = Object.fromEntries(Object.entries(sent).map(([name, value]) => [name, value ?? {}]))
      const streams = {
        ...{ default_llm: newStream(), default_embedding_model: newStream(), default_reranking_model: newStream() },
        llm_prices: newStream(),
      }
      await carryOut(ledger, { type: 'UpdateConfig', data: { parameters, streams } }, call)
      return json('')
    },
  }),
]
