import { v7 as uuidv7 } from 'uuid'
import { z } from 'zod'
import { jsonObject, resourceName, streamId, text } from '../../../../events/common.js'
import type { Ledger } from '../../../commands/ledger.js'
import { missingField } from '../../../basics/errors.js'
import { agentRecord } from './agents.js'
import { carryOut, deletion } from '../../protocol/carry-out.js'
import { tag } from '../../protocol/etag.js'
import { listParameters, resourcesPart, sendList } from '../../reads/paged-list.js'
import type { Reading } from '../../reads/reading.js'
import type { Records } from '../../reads/records.js'
import { commandHeaders, given, param, parse, type Route, unwrap } from '../../protocol/route.js'
import { asWritten, inProject, projectNamed, projectOf, resultOf } from '../../reads/scope.js'

const written = z
  .object({
    id: z.int(),
    name: z.string(),
    project_id: z.int(),
    agent_id: z.int().nullable(),
    model_name: z.string().nullable(),
    params: jsonObject,
    webhook_token: z.string().nullable(),
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
const body = z.object({ chatbot: fields })

const anyOf = (...names: (keyof Fields)[]) => ({ anyOf: names.map((name) => ({ required: [name] })) })
const creation = z.object({
  chatbot: fields
    .extend({ name: resourceName })
    .meta({ allOf: [anyOf('agent_name', 'model_name'), anyOf('database_id', 'database_name', 'db_engine')] }),
})

const settings = ({ name, agent_name, model_name, database_id, database_name, is_running, params }: Fields) =>
  given({
    name,
    agent: agent_name,
    model: agent_name === null || agent_name === undefined ? model_name : undefined,
    database: database_name ?? (database_id === null || database_id === undefined ? undefined : String(database_id)),
    is_running,
    params,
  })

/** `db_engine` with `db_params` makes (or renews) a connection of the chatbot's own, `<name>_db`. */
const ownConnection = (name: string, { db_engine, db_params }: Fields) => {
  if (db_engine === null || db_engine === undefined) return {}
  const database = parse(resourceName, `${name}_db`, 'name')
  return { connection: { database, stream: streamId.parse(uuidv7()), engine: db_engine, parameters: db_params ?? {} } }
}

export const chatbotRoutes = (ledger: Ledger, records: Records, reading: Reading): Route[] => {
  return [
    reading({
      path,
      summary: 'List the chatbots of a project',
      query: listParameters,
      answers: { 200: z.array(detail) },
      async handle(req, res, moment) {
        const project = await projectNamed(moment, param(req, 'project'))
        const read = (after: number, limit: number) => moment.resources.page('chatbot', project, after, limit)
        await sendList(req, res, [resourcesPart(read, async (chatbot) => [await moment.records.chatbotDetail(chatbot, project)])])
      },
    }),
    {
      method: 'post',
      path,
      summary: 'Create a chatbot',
      commandHeaders,
      body: creation,
      answers: { 201: written },
      async handle(req, res) {
        const sent = unwrap(req, 'chatbot', fields)
        const { name, ...rest } = settings(sent)
        if (name === undefined) throw missingField('name', 'chatbot')
        const project = param(req, 'project')
        const data = { project, chatbot: name, ...rest, ...ownConnection(name, sent) }
        const outcome = await carryOut(ledger, { type: 'CreateChatbot', data }, req, res)
        const chatbot = resultOf('chatbot', outcome.resource)
        res.status(201).json(await records.chatbot(chatbot, await projectOf(ledger.log, chatbot)))
      },
    },
    reading({
      path: `${path}/:chatbot`,
      summary: 'Get a chatbot by name',
      answers: { 200: detail },
      async handle(req, res, moment) {
        const { project, found } = await inProject(moment, 'chatbot', param(req, 'project'), param(req, 'chatbot'))
        tag(res, found)
        res.json(await moment.records.chatbotDetail(found, project))
      },
    }),
    {
      method: 'put',
      path: `${path}/:chatbot`,
      summary: 'Update a chatbot; one that does not exist is created under the name of the path',
      commandHeaders,
      body,
      answers: { 200: written, 201: written },
      async handle(req, res) {
        const sent = unwrap(req, 'chatbot', fields)
        const name = param(req, 'chatbot')
        const project = param(req, 'project')
        const data = { project, chatbot: name, ...settings(sent), ...ownConnection(name, sent) }
        const outcome = await carryOut(ledger, { type: 'PutChatbot', data }, req, res)
        const chatbot = await asWritten(ledger.log, 'chatbot', outcome, project, name)
        const created = outcome.positions.includes(chatbot.id)
        res.status(created ? 201 : 200).json(await records.chatbot(chatbot, await projectOf(ledger.log, chatbot)))
      },
    },
    {
      method: 'delete',
      path: `${path}/:chatbot`,
      summary: 'Delete a chatbot by name',
      commandHeaders,
      answers: { 204: null },
      handle: deletion(ledger, (req) => ({
        type: 'DeleteChatbot',
        data: { project: param(req, 'project'), chatbot: param(req, 'chatbot') },
      })),
    },
  ]
}
