import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { foldName, isObject, jsonObject } from '../../../../events/common.js'
import { recordings } from '../../../../events/model.js'
import type { Ledger } from '../../../commands/ledger.js'
import { isProblem, Problem, wrong } from '../../../basics/errors.js'
import { naming, type BlobStore } from '../../../files/blob-store.js'
import type { Intake } from '../../../files/intake.js'
import { jsonTextOf } from '../../../basics/json-text.js'
import { limits } from '../../../basics/limits.js'
import { inTurns } from '../../../basics/long-work.js'
import type { Log, Resource } from '../../../log/contract/log.js'
import { importsFile, refuseToTrain } from '../../../catalogue/onnx-import.js'
import type { SqlEngine } from '../../../sql/facade/execute.js'
import { readStatement } from '../../../sql/statements/parse.js'
import type { Statement } from '../../../sql/statements/statement.js'
import { objectOrNone, wrapped, type Body } from '../../protocol/body-schema.js'
import { carriedOut, carryOut, deletion } from '../../protocol/carry-out.js'
import { value } from '../../protocol/parameters.js'
import { projectNamed, resultOf } from '../../../log/read/by-name.js'
import { versionOf } from '../../../commands/model.js'
import { modelInPath, modelNamed } from '../../../models/serving/model-by-name.js'
import { entityTag, json } from '../../protocol/reply.js'
import { fileName } from './files.js'
import { list, listParameters, resourcesPart } from '../../reads/paged-list.js'
import type { ReadRouteFactory } from '../../reads/read-routes.js'
import type { Records } from '../../reads/records.js'
import { commandHeaders, route, type Route } from '../../protocol/route.js'
import { dataSchema, rowsIn } from '../../reads/rows-in-body.js'

const requested = z
  .object({
    name: z.string(),
    accuracy: z.number().nullable(),
    active: z.boolean(),
    version: z.int(),
    status: z.enum(['generating', 'training', 'complete', 'error']),
    predict: z.string(),
    mindsdb_version: z.string(),
    error: z.string().nullable(),
    fetch_data_query: z.string(),
    problem_definition: z.string(),
  })
  .meta({ id: 'ModelRequest' })

/** The record of a version of a model. */
export const modelRecord = z
  .looseObject({
    id: z.int(),
    name: z.string(),
    version: z.int(),
    predict: z.string(),
    status: z.string(),
    problem_definition: jsonObject,
    accuracy: z.number().nullable(),
    active: z.boolean(),
    error: z.string().nullable(),
    created_at: z.string(),
    training_time: z.number().nullable(),
    engine: z.string().optional(),
    recording: z.enum(recordings).describe('off: none of its predictions are kept'),
  })
  .meta({ id: 'Model' })

const recordingBody = z.object({
  recording: z.enum(recordings).describe('all keeps the rows that it predicts, and off none of them'),
})

const path = '/projects/:project/models'
const fields = z.object({
  query: z.string(),
  data: dataSchema.optional().describe('Rows to learn from, in the place of the FROM of the statement; kept as the file <model>_rows'),
})

type CreateModel = Extract<Statement, { kind: 'create_model' }>

const parsedStatement = async (query: string): Promise<Statement> => {
  try {
    return await inTurns(readStatement(query))
  } catch (error) {
    if (isProblem(error)) throw new Problem('bad_statement', 'Invalid query string', error.detail, error.extras)
    throw error
  }
}

/** A CREATE MODEL statement and its training rows, which are checked before they are stored. Error titles are those of MindsDB. */
const creation: Body<{ statement: CreateModel; data: unknown }> = {
  schema: fields,
  read: async ({ json: sent }) => {
    const parsed = fields.pick({ query: true }).safeParse(sent)
    if (!parsed.success) throw new Problem('missing_field', 'Query required', 'Missing "query" SQL statement')
    const statement = await parsedStatement(parsed.data.query)
    if (statement.kind !== 'create_model')
      throw new Problem('bad_statement', 'Invalid CREATE SQL statement', 'the statement is not a CREATE MODEL statement', {
        hint: 'CREATE MODEL project.name FROM database (SELECT …) PREDICT column',
      })
    return { statement, data: isObject(sent) ? sent['data'] : undefined }
  },
}

/** A statement may name the project of its path, and no other. */
const refuseOther = ({ target }: CreateModel, { state: { name } }: Resource<'project'>): void => {
  if (target.project !== null && foldName(target.project) !== foldName(name))
    throw wrong(`the statement names project ${target.project}, and the path ${name}`, 'Send it to the path of its project.')
}

/** The requested attribute of a model. Clients send it in the body of a GET request, which the OpenAPI document cannot describe. */
const attributeBody = objectOrNone(z.object({ attribute: z.string().nullish() }), 'body')

const rowLimit = { rows: limits.trainingBodyMaxRows, instead: 'Upload them as a file, and name it in FROM.' }

/** Stores the rows of a body as the file that a model learns from. */
const storedRows = async (intake: Intake, client: string, data: unknown, { target, training, ifNotExists }: CreateModel) => {
  if (training.source) throw wrong('the statement has FROM, and the body has data', 'Leave one of them out.')
  if (importsFile(training.using['engine'])) refuseToTrain()
  if (ifNotExists)
    throw wrong('IF NOT EXISTS is not for a statement that comes with data', 'Leave it out: a model that is there is not touched.')
  const rows = await rowsIn(data, rowLimit)
  if (rows.length === 0) throw wrong('data: holds no row to learn from', 'Send [{"column": value, …}], with the column to predict.')
  const file = fileName(`${target.name}_rows`)
  return intake.inDirectory(client, async (directory) => {
    const source = join(directory, 'rows.json')
    await writeFile(source, await jsonTextOf(rows))
    const table = await intake.read({ source, originalName: 'rows.json', format: 'json' }, directory)
    return { file, content: await intake.keep(table, null) }
  })
}

type Services = {
  ledger: Ledger
  log: Log
  records: Records
  sql: SqlEngine
  reading: ReadRouteFactory
  intake: Intake
  blobs: BlobStore
}

/** The routes for the models of a project and their versions. A creation answers when the training is requested, before it ends. */
export const modelRoutes = ({ ledger, log, records, sql, reading, intake, blobs }: Services): Route[] => [
  reading({
    path,
    summary: 'List the models of a project, every version of each',
    query: listParameters,
    answers: { 200: z.array(modelRecord) },
    async handle(input, moment) {
      const project = await projectNamed(moment, input.segments.project)
      const read = (after: number, limit: number) => moment.resources.page('model', project, after, limit)
      const show = (model: Resource<'model'>) => moment.records.versions(model, project)
      return list(input, [resourcesPart(read, show)])
    },
  }),
  route({
    method: 'post',
    path,
    summary: 'Create a model by its CREATE MODEL statement, from the rows that it selects or that come with it',
    commandHeaders,
    body: creation,
    bodySize: 'rows',
    answers: { 201: requested },
    async handle({ segments, body: { statement, data }, call }) {
      const create = async () => {
        const project = await projectNamed(log, segments.project)
        refuseOther(statement, project)
        if (data === undefined) return sql.writer.createModel(statement, { project: project.state.name }, call.origin(), call.execution())
        // An erasure may take the stored bytes before the event is recorded.
        const guarded = await ledger.guarded(call.origin())
        const rows = await storedRows(intake, call.client, data, statement)
        return naming(blobs, [rows.content.content], () =>
          sql.writer.createModel(statement, { project: project.state.name, rows }, guarded, call.execution()),
        )
      }
      const outcome = (await carriedOut(ledger, call)) ?? call.note(await create())
      const { state } = resultOf('model', outcome.resource)
      const version = state.versions.at(-1)
      if (!version) throw new TypeError('the command requested no training')
      return json(records.modelRequest(state, version), { status: 201 })
    },
  }),
  reading({
    path: `${path}/:model`,
    summary: 'Get a model, or one version of it (name.2)',
    answers: { 200: modelRecord },
    async handle({ segments }, moment) {
      const { project, model, version } = await modelNamed(moment, segments.project, segments.model)
      const record = { ...(await moment.records.model(model, version, project)), engine: version.engine, engine_name: version.engine }
      return json(record, { headers: entityTag(model) })
    },
  }),
  route({
    method: 'put',
    path: `${path}/:model`,
    summary: 'Say whether the predicted rows of a model are kept (all) or not (off)',
    body: wrapped('model', recordingBody),
    answers: { 200: modelRecord },
    commandHeaders,
    async handle({ segments, body: { recording }, call }) {
      const outcome = await carryOut(ledger, { type: 'SetModelRecording', data: { ...segments, recording } }, call)
      const model = await records.written('model', outcome, segments.project, segments.model)
      return json(await records.model(model, versionOf(model.state, null)))
    },
  }),
  deletion(ledger, {
    path: `${path}/:model`,
    summary: 'Delete a model, or one version of it that is not active (name.2)',
    command: async ({ segments }) => {
      const { project, model, version } = await modelInPath(log, segments.project, segments.model)
      // The command refuses a model that does not exist.
      if (version === undefined) return { type: 'DeleteModel', data: { project: project.state.name, model } }
      return { type: 'DeleteModelVersion', data: { project: project.state.name, model, version } }
    },
  }),
  reading({
    path: `${path}/:model/describe`,
    summary: 'Describe a model, or an attribute of it: {"attribute": "features"} as body, or ?attribute=',
    query: { attribute: value(z.string().optional()) },
    body: { ...attributeBody, schema: null },
    bodySize: 'small',
    answers: { 200: z.array(jsonObject) },
    async handle({ segments, query, body }, moment) {
      const { project, model, version } = await modelNamed(moment, segments.project, segments.model)
      const attribute = body.attribute ?? query.attribute
      const place = { project: project.state.name, model, version, attribute: attribute === '' ? undefined : attribute }
      return json(moment.records.described(place))
    },
  }),
]
