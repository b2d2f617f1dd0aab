import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Request } from 'express'
import { z } from 'zod'
import { jsonObject } from '../../../../events/common.js'
import { recordings } from '../../../../events/model.js'
import type { Ledger } from '../../../commands/ledger.js'
import { isProblem, Problem, wrong } from '../../../basics/errors.js'
import type { Intake } from '../../../files/intake.js'
import { jsonTextOf } from '../../../basics/json-text.js'
import { limits } from '../../../basics/limits.js'
import { inTurns } from '../../../basics/long-work.js'
import type { Found } from '../../../log/contract/log.js'
import { importsFile, refuseToTrain } from '../../../catalogue/onnx-import.js'
import type { SqlEngine } from '../../../sql/facade/execute.js'
import { readStatement } from '../../../sql/statements/parse.js'
import type { Statement } from '../../../sql/statements/statement.js'
import { clientOf } from '../../protocol/client.js'
import { carryOut, deletion } from '../../protocol/carry-out.js'
import { executionOf, note, originOf } from '../../protocol/origin.js'
import { modelInPath, modelNamed } from '../../reads/model-names.js'
import { tag } from '../../protocol/etag.js'
import { fileName } from './files.js'
import { listParameters, resourcesPart, sendList } from '../../reads/paged-list.js'
import type { Reading } from '../../reads/reading.js'
import type { Records } from '../../reads/records.js'
import { commandHeaders, jsonBody, param, parse, queryValue, type Route, unwrap } from '../../protocol/route.js'
import { dataSchema, rowsIn } from '../../reads/rows-in-body.js'
import { projectNamed, resultOf } from '../../reads/scope.js'

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

/** A version of a model, as it is read. */
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
    recording: z.enum(recordings).describe('off: nothing of what it answers is kept'),
  })
  .meta({ id: 'Model' })

const recordingBody = z.object({ recording: z.enum(recordings) })

const path = '/projects/:project/models'
const body = z.object({
  query: z.string(),
  data: dataSchema.optional().describe('Rows to learn from, in the place of the FROM of the statement; kept as the file <model>_rows'),
})

type CreateModel = Extract<Statement, { kind: 'create_model' }>

/** The CREATE MODEL statement of a body. Titles are the public service's. */
const creation = async (req: Request): Promise<CreateModel> => {
  const parsed = body.pick({ query: true }).safeParse(req.body)
  if (!parsed.success) throw new Problem('missing_field', 'Query required', 'Missing "query" SQL statement')
  const statement = await parsedStatement(parsed.data.query)
  if (statement.kind !== 'create_model')
    throw new Problem('bad_statement', 'Invalid CREATE SQL statement', 'the statement is not a CREATE MODEL statement', {
      hint: 'CREATE MODEL project.name FROM database (SELECT …) PREDICT column',
    })
  return statement
}

const rowLimit = { rows: limits.trainingBodyMaxRows, instead: 'Upload them as a file, and name it in FROM.' }

/** Stores the rows of a body as the file that a model is to learn from. */
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

const parsedStatement = async (query: string): Promise<Statement> => {
  try {
    return await inTurns(readStatement(query))
  } catch (error) {
    if (isProblem(error)) throw new Problem('bad_statement', 'Invalid query string', error.detail, error.extras)
    throw error
  }
}

type Services = { ledger: Ledger; records: Records; sql: SqlEngine; reading: Reading; intake: Intake }

export const modelRoutes = ({ ledger, records, sql, reading, intake }: Services): Route[] => [
  reading({
    path,
    summary: 'List the models of a project, every version of each',
    query: listParameters,
    answers: { 200: z.array(modelRecord) },
    async handle(req, res, moment) {
      const project = await projectNamed(moment, param(req, 'project'))
      const read = (after: number, limit: number) => moment.resources.page('model', project, after, limit)
      const show = (model: Found<'model'>) =>
        Promise.all(model.state.versions.map((version) => moment.records.model(model, version, project)))
      await sendList(req, res, [resourcesPart(read, show)])
    },
  }),
  {
    method: 'post',
    path,
    summary: 'Create a model by its CREATE MODEL statement, from the rows that it selects or that come with it',
    commandHeaders,
    body,
    bodySize: 'rows',
    answers: { 201: requested },
    async handle(req, res) {
      const [origin, execution] = [originOf(req, res), executionOf(req)]
      const create = async () => {
        const project = await projectNamed(ledger.log, param(req, 'project'))
        const statement = await creation(req)
        const { data } = jsonBody(req)
        const rows = data === undefined ? undefined : await storedRows(intake, clientOf(req, res), data, statement)
        return sql.writer.createModel(statement, { project: project.state.name, rows }, origin, execution)
      }
      const outcome = note(res, (await ledger.repeated(origin, execution)) ?? (await create()))
      const { state } = resultOf('model', outcome.resource)
      const version = state.versions.at(-1)
      if (!version) throw new TypeError('the command requested no training')
      res.status(201).json(records.modelRequest(state, version))
    },
  },
  reading({
    path: `${path}/:model`,
    summary: 'Get a model, or one version of it (name.2)',
    answers: { 200: modelRecord },
    async handle(req, res, moment) {
      const project = await projectNamed(moment, param(req, 'project'))
      const { model, version } = await modelNamed(moment, project, param(req, 'model'))
      tag(res, model)
      res.json({ ...(await moment.records.model(model, version, project)), engine: version.engine, engine_name: version.engine })
    },
  }),
  {
    method: 'put',
    path: `${path}/:model`,
    summary: 'Say whether rows that a model answers are kept (all), or nothing of them is (off)',
    body: z.object({ model: recordingBody }),
    answers: { 200: modelRecord },
    commandHeaders,
    async handle(req, res) {
      const { recording } = unwrap(req, 'model', recordingBody)
      const data = { project: param(req, 'project'), model: param(req, 'model'), recording }
      await carryOut(ledger, { type: 'SetModelRecording', data }, req, res)
      const project = await projectNamed(ledger.log, data.project)
      const { model, version } = await modelNamed(ledger.log, project, data.model)
      res.json(await records.model(model, version, project))
    },
  },
  {
    method: 'delete',
    path: `${path}/:model`,
    summary: 'Delete a model, or one version of it that is not active (name.2)',
    commandHeaders,
    answers: { 204: null },
    handle: deletion(ledger, async (req) => {
      const project = await projectNamed(ledger.log, param(req, 'project'))
      const { model, version } = await modelInPath(ledger.log, project, param(req, 'model'))
      // What is not there is the command's to refuse.
      if (version === undefined) return { type: 'DeleteModel', data: { project: project.state.name, model } }
      return { type: 'DeleteModelVersion', data: { project: project.state.name, model, version } }
    }),
  },
  reading({
    path: `${path}/:model/describe`,
    summary: 'Describe a model, or an attribute of it: {"attribute": "features"} as body, or ?attribute=',
    query: z.object({ attribute: z.string().optional() }),
    answers: { 200: z.array(jsonObject) },
    async handle(req, res, moment) {
      const project = await projectNamed(moment, param(req, 'project'))
      const { model, version } = await modelNamed(moment, project, param(req, 'model'))
      const asked = parse(z.object({ attribute: z.string().nullish() }), req.body ?? {}, 'body')
      const attribute = asked.attribute ?? queryValue(req, 'attribute')
      const place = { project: project.state.name, model, version, attribute: attribute === '' ? undefined : attribute }
      res.json(moment.records.described(place))
    },
  }),
]
