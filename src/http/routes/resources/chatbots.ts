import { v7 as uuidv7 } from 'uuid'
import * as z from 'zod'
import { jsonObject, resourceName, streamId, text } from '../../../../events/common.js'
import { webhookToken } from '../../../chatbots/webhook-token.js'
import { notFound } from '../../../basics/errors.js'
import type { Ledger } from '../../../commands/ledger.js'
import type { Log, Resource, Outcome } from '../../../log/contract/log.js'
import { agentRecord } from './agents.js'
import { given, wrapped, wrappedNamed } from '../../protocol/body-schema.js'
import type { Call } from '../../protocol/call.js'
import { carryOutOnce, deletion } from '../../protocol/carry-out.js'
import { json, type Reply } from '../../protocol/reply.js'
import { listOfProject, oneOfProject } from '../../reads/project-reads.js'
import type { ReadRouteFactory } from '../../reads/read-routes.js'
import type { Records } from '../../reads/records.js'
import { commandHeaders, route, type Route } from '../../protocol/route.js'
import { resultOf } from '../../../log/read/by-name.js'

const record = z
  .object({
    id: z.int(),
    name: z.string(),
    project_id: z.int(),
    agent_id: z.int().nullable(),
    model_name: z.string().nullable(),
    params: jsonObject,
    webhook_token: z.string().nullable().describe('Shown once, when the chatbot is created'),
    created_at: z.string(),
    database_id: z.int().nullable(),
  })
  .meta({ id: 'Chatbot' })

const detail = z
  .object({
    id: z.int(),
    name: z.string(),
    project: z.string(),
    agent: agentRecord.nullable(),
    database_id: z.int().nullable(),
    database: z.string(),
    model_name: z.string().nullable(),
    params: jsonObject,
    created_at: z.string(),
    is_running: z.boolean(),
    last_error: z.string().nullable(),
    webhook_token: z.string().nullable(),
  })
  .meta({ id: 'ChatbotDetail' })

const fields = z.object({
  name: resourceName.nullish(),
  agent_name: text.nullish(),
  model_name: text.nullish(),
  database_id: z.union([z.int(), text]).nullish(),
  database_name: text.nullish(),
  db_engine: text.nullish(),
  db_params: jsonObject.nullish(),
  is_running: z.boolean().nullish(),
  params: jsonObject.nullish(),
})
type Fields = z.infer<typeof fields>

const path = '/projects/:project/chatbots'

const anyOf = (...names: (keyof Fields)[]) => ({ anyOf: names.map((name) => ({ required: [name] })) })
const creation = wrappedNamed(
  'chatbot',
  fields,
  fields
    .extend({ name: resourceName })
    .meta({ allOf: [anyOf('agent_name', 'model_name'), anyOf('database_id', 'database_name', 'db_engine')] }),
)

/** The connection that a chatbot names. A number is an id, even if another connection has it as its name. @throws Problem 404 */
const connectionOf = async ({ resources }: Log, { database_id, database_name }: Fields): Promise<string | undefined> => {
  const named = database_name ?? database_id ?? undefined
  if (typeof named !== 'number') return named
  const [found] = await resources.page('database', undefined, named - 1, 1)
  if (found?.id !== named) throw notFound('database', String(named))
  return found.state.name
}

const settings = async (log: Log, fields: Fields) => {
  const { name, agent_name, model_name, is_running, params } = fields
  return given({
    name,
    agent: agent_name,
    model: agent_name === null || agent_name === undefined ? model_name : undefined,
    database: await connectionOf(log, fields),
    is_running,
    params,
  })
}

/** `db_engine` with `db_params` creates or replaces the chatbot's own connection, `<name>_db`. */
const ownConnection = ({ db_engine, db_params }: Fields) =>
  db_engine === null || db_engine === undefined
    ? {}
    : { connection: { stream: streamId.parse(uuidv7()), engine: db_engine, parameters: db_params ?? {} } }

type Services = { ledger: Ledger; log: Log; records: Records; reading: ReadRouteFactory }

/** The routes for the chatbots of a project. Only the answer to a creation has the token of the webhook. */
export const chatbotRoutes = ({ ledger, log, records, reading }: Services): Route[] => {
  /**
   * The answer to a write. Only the answer to a creation has the token of the webhook. That answer is not kept, as the token is never
   * stored; the same request gets it again from the outcome.
   */
  const written = async (call: Call, chatbot: Resource<'chatbot'>, { positions }: Outcome, status: number): Promise<Reply> => {
    call.forbidCaches()
    const shown = await records.chatbot(chatbot)
    if (!positions.includes(chatbot.id)) return json(shown, { status })
    return json({ ...shown, webhook_token: webhookToken(ledger.vault, chatbot) }, { status, keep: 'never' })
  }

  return [
    listOfProject(reading, {
      path,
      kind: 'chatbot',
      summary: 'List the chatbots of a project',
      record: detail,
      show: ({ records: at }, chatbot, project) => at.chatbotDetail(chatbot, project),
    }),
    route({
      method: 'post',
      path,
      summary: 'Create a chatbot',
      commandHeaders,
      onlyCommands: true,
      body: creation,
      answers: { 201: record },
      async handle({ segments: { project }, body, call }) {
        const { name } = body
        const outcome = await carryOutOnce(ledger, call, async () => {
          const set = await settings(log, { ...body, name: null })
          return { type: 'CreateChatbot', data: { project, chatbot: name, ...set, ...ownConnection(body) } }
        })
        const chatbot = resultOf('chatbot', outcome.resource)
        return written(call, chatbot, outcome, 201)
      },
    }),
    oneOfProject(reading, {
      path: `${path}/:chatbot`,
      kind: 'chatbot',
      summary: 'Get a chatbot by name',
      record: detail,
      show: ({ records: at }, chatbot, project) => at.chatbotDetail(chatbot, project),
    }),
    route({
      method: 'put',
      path: `${path}/:chatbot`,
      summary: 'Update a chatbot; one that does not exist is created, with the name in the body or else in the path',
      commandHeaders,
      onlyCommands: true,
      body: wrapped('chatbot', fields),
      answers: { 200: record, 201: record },
      async handle({ segments: { project, chatbot: name }, body, call }) {
        const outcome = await carryOutOnce(ledger, call, async () => {
          const set = await settings(log, body)
          return { type: 'PutChatbot', data: { project, chatbot: name, ...set, ...ownConnection(body) } }
        })
        const chatbot = await records.written('chatbot', outcome, project, name)
        const status = outcome.positions.includes(chatbot.id) ? 201 : 200
        return written(call, chatbot, outcome, status)
      },
    }),
    deletion(ledger, {
      path: `${path}/:chatbot`,
      summary: 'Delete a chatbot by name',
      command: ({ segments: { project, chatbot } }) => ({ type: 'DeleteChatbot', data: { project, chatbot } }),
    }),
  ]
}
