import * as z from 'zod'
import { foldName, jsonObject, type JsonObject } from '../../../../events/common.js'
import { knowledgeBaseFields, knowledgeSettings, type KnowledgeBaseFields } from '../../../commands/knowledge-base-input.js'
import type { Ledger } from '../../../commands/ledger.js'
import { notFound, Problem, wrong } from '../../../basics/errors.js'
import { limits } from '../../../basics/limits.js'
import type { InsertMode, KnowledgeStore } from '../../../knowledge/contract/contents.js'
import type { MetadataFilter } from '../../../knowledge/contract/search.js'
import type { Log, Resource } from '../../../log/contract/log.js'
import { checkExpects } from '../../../log/contract/precondition.js'
import { object, wrappedKnown } from '../../protocol/body-schema.js'
import type { Call } from '../../protocol/call.js'
import { carriedOut, carryOut, deletion } from '../../protocol/carry-out.js'
import { entityTag, json } from '../../protocol/reply.js'
import { commandHeaders, route, withoutDryRun, type Route } from '../../protocol/route.js'
import { listOfProject } from '../../reads/project-reads.js'
import type { ReadRouteFactory } from '../../reads/read-routes.js'
import type { Records } from '../../reads/records.js'
import { projectNamed, resultOf } from '../../../log/read/by-name.js'
import { backQuoteName } from '../../../dialect/strings.js'

const record = z
  .object({
    id: z.int(),
    name: z.string(),
    project_id: z.int(),
    vector_database: z.unknown(),
    vector_database_table: z.unknown(),
    updated_at: z.string(),
    created_at: z.string(),
    query_id: z.null(),
    embedding_model: jsonObject.nullable(),
    reranking_model: jsonObject.nullable(),
    metadata_columns: z.array(z.string()),
    content_columns: z.array(z.string()),
    id_column: z.string().nullable(),
    preprocessing: z.object({ chunk_size: z.int(), chunk_overlap: z.int() }),
    params: jsonObject,
  })
  .meta({ id: 'KnowledgeBase' })

const texts = z.array(z.string())
const creation = knowledgeBaseFields.extend({ name: z.string() })
const changes = knowledgeBaseFields.extend({
  rows: z.array(z.looseObject({})).nullish().describe('Documents: an object of columns for each'),
  files: texts.nullish().describe('Names of uploaded tables; each row is a document'),
  urls: texts.nullish().describe('Addresses of web pages; each is a document'),
  query: z.string().nullish().describe('A SELECT; each row is a document'),
  crawl_depth: z.int().min(0).nullish().describe('0 or 1, because links are not followed: only the pages in urls are inserted'),
  limit: z.int().min(0).nullish().describe('At least the number of urls, because each of them is inserted'),
  filters: texts.nullish().describe('Empty, because links are not followed'),
})
type Changes = z.infer<typeof changes>

const question = z.object({
  query: z.string(),
  type: z.enum(['chat', 'context']).nullish().describe('context, also by default; chat is refused'),
  keywords: z.union([z.string(), texts]).nullish(),
  metadata: jsonObject.nullish().describe('Values that the metadata of a chunk has'),
  limit: z.int().min(0).max(limits.knowledgeSearchMaxChunks).nullish(),
  alpha: z.number().min(0).max(1).nullish().describe('1: by meaning alone, 0: by words alone'),
  relevance: z.number().nullish().describe('The least relevance'),
  reranking: z.boolean().nullish().describe('false: the reranking model is not asked'),
})
const chunk = z.object({
  id: z.string(),
  chunk_id: z.string(),
  content: z.string(),
  metadata: jsonObject,
  relevance: z.number(),
  distance: z.number().nullable(),
})
const reranked = z.object({
  ...{ model: z.string(), host: z.string() },
  ...{ input_tokens: z.int().nullable(), output_tokens: z.int().nullable() },
})
const found = z
  .object({
    documents: z.array(chunk),
    position: z.int(),
    reranked: reranked.optional().describe('The model whose scores are the relevance, and the tokens that it used'),
  })
  .meta({ id: 'KnowledgeFound' })

/** Runs a SELECT for a client, and returns its rows. */
export type SelectRows = (query: string, project: string, call: Call) => AsyncIterable<JsonObject>

const path = '/projects/:project/knowledge_bases'

const modeIn = (params: JsonObject | null | undefined): InsertMode | undefined => {
  if (params?.['kb_skip_existing'] === true) return 'skip'
  return params?.['kb_no_upsert'] === true ? 'add' : undefined
}

const insertParams = new Set(['kb_skip_existing', 'kb_no_upsert'])

/** @throws Problem for settings beside documents: an insert does not change them */
const refuseSettings = ({ name, ...fields }: KnowledgeBaseFields, { state }: Resource<'knowledge_base'>): void => {
  const { preprocessing: _, params = {}, ...settings } = knowledgeSettings(fields)
  const other = [
    ...(name && foldName(name) !== foldName(state.name) ? ['name'] : []),
    ...Object.keys(settings),
    ...Object.keys(params).flatMap((key) => (insertParams.has(key) ? [] : [`params.${key}`])),
  ]
  if (other.length > 0)
    throw wrong(
      `${other.join(', ')}: an insert does not change the settings of the knowledge base`,
      'Send settings in a request of their own. Beside documents are preprocessing, and kb_skip_existing or kb_no_upsert in params.',
    )
}

/** @throws Problem for a crawl: only the pages that `urls` names are inserted. 0 and 1 are the depths that clients send by default. */
const refuseCrawl = ({ urls, crawl_depth: depth, limit, filters }: Changes): void => {
  const [member] = [
    ...((depth ?? 0) > 1 ? ['crawl_depth'] : []),
    ...(typeof limit === 'number' && limit < (urls?.length || Infinity) ? ['limit'] : []),
    ...(filters?.length ? ['filters'] : []),
  ]
  if (member !== undefined)
    throw new Problem('not_built', 'Not available', `${member}: web pages are not crawled; an insert takes exactly the pages in urls`, {
      hint: `Name each page in urls, at most ${limits.knowledgeUrlsMax} in one request, with crawl_depth 0 or 1 and neither limit nor filters.`,
    })
}

const ofFile = (name: string): string => `SELECT * FROM files.${backQuoteName(name)}`

type Services = {
  ledger: Ledger
  log: Log
  records: Records
  reading: ReadRouteFactory
  knowledge: KnowledgeStore
  select: SelectRows
}

/** The routes for the knowledge bases of a project: list, create, get, insert documents or change settings, delete and search. */
export const knowledgeBaseRoutes = ({ ledger, log, records, reading, knowledge, select }: Services): Route[] => {
  const named = async (projectName: string, ref: string): Promise<{ project: Resource<'project'>; base: Resource<'knowledge_base'> }> => {
    const project = await projectNamed(log, projectName)
    const base = await log.resources.one('knowledge_base', ref, project)
    if (!base) throw notFound('knowledge base', ref)
    return { project, base }
  }

  /** The rows of a request, one source after the other. */
  const given = ({ rows, files, query }: Changes, project: string, call: Call) => [
    ...(rows ? [{ source: 'rows' as const, rows: rows as JsonObject[] }] : []),
    ...(files ?? []).map((file) => ({ source: 'file' as const, rows: select(ofFile(file), project, call) })),
    ...(query ? [{ source: 'query' as const, rows: select(query, project, call) }] : []),
  ]

  const insert = async (body: Changes, { project, base }: Awaited<ReturnType<typeof named>>, call: Call): Promise<void> => {
    // A missing file is refused before any other source is inserted.
    for (const file of body.files ?? []) if (!(await log.resources.one('file', file))) throw notFound('file', file)
    const pages = body.urls?.length ? await knowledge.pages(body.urls, base, call.gone) : []
    const sources = [...given(body, project.state.name, call), ...(pages.length > 0 ? [{ source: 'url' as const, rows: pages }] : [])]
    const mode = modeIn(body.params)
    const { expects: _, ...execution } = call.execution()
    let insertedBefore = 0
    for (const [i, { source, rows }] of sources.entries()) {
      const isAtomic = source === 'rows' || source === 'url'
      // The rows of a query are read from now on, and may be erased before they are recorded.
      const origin = isAtomic ? call.origin() : await ledger.guarded(call.origin())
      const inserted = await knowledge.insert({
        ...{ knowledgeBase: base, source, rows, origin, signal: call.gone, isAtomic },
        insertedBefore,
        ...(mode && { mode }),
        ...(body.preprocessing && { preprocessing: body.preprocessing }),
        // The idempotency key is for the whole request.
        ...(i === sources.length - 1 && { execution }),
      })
      insertedBefore += inserted.documents
      call.note({ positions: inserted.positions, stream: base.stream, resource: null, repeated: false })
    }
  }

  const change = async (body: Changes, segments: { project: string; base: string }, call: Call): Promise<void> => {
    const { rows, files, urls, query, crawl_depth: _, limit: __, filters: ___, ...fields } = body
    refuseCrawl(body)
    if (rows ?? files ?? urls ?? query) {
      if (await carriedOut(ledger, call)) return
      const found = await named(segments.project, segments.base)
      // The documents are in another stream than the knowledge base.
      const expects = call.expects()
      if (expects) checkExpects(expects, found.base.version)
      refuseSettings(fields, found.base)
      await insert(body, found, call)
      return
    }
    const settings = knowledgeSettings(fields)
    if (Object.keys(settings).length === 0 && !fields.name)
      throw wrong('there is nothing to insert', 'Send rows, files, urls or a query; or settings to change.')
    const data = { project: segments.project, knowledge_base: segments.base, ...settings, ...(fields.name && { name: fields.name }) }
    await carryOut(ledger, { type: 'UpdateKnowledgeBase', data }, call)
  }

  return [
    listOfProject(reading, {
      path,
      kind: 'knowledge_base',
      summary: 'List the knowledge bases of a project',
      record,
      show: ({ records: at }, base, project) => at.knowledgeBase(base, project),
    }),
    route({
      method: 'post',
      path,
      summary: 'Create a knowledge base',
      commandHeaders,
      body: wrappedKnown('knowledge_base', creation, Object.keys(record.shape)),
      answers: { 201: record },
      async handle({ segments: { project }, body, call }) {
        const data = { project, knowledge_base: body.name, ...knowledgeSettings(body) }
        const { resource } = await carryOut(ledger, { type: 'CreateKnowledgeBase', data }, call)
        return json(await records.knowledgeBase(resultOf('knowledge_base', resource)), { status: 201 })
      },
    }),
    reading({
      path: `${path}/:base`,
      summary: 'Get a knowledge base by name or id',
      answers: { 200: record },
      async handle({ segments }, moment) {
        const project = await projectNamed(moment, segments.project)
        const base = await moment.resources.one('knowledge_base', segments.base, project)
        if (!base) throw notFound('knowledge base', segments.base)
        return json(await moment.records.knowledgeBase(base, project), { headers: entityTag(base) })
      },
    }),
    route({
      method: 'put',
      path: `${path}/:base`,
      summary: 'Insert documents into a knowledge base from rows, files, web pages or a query; without them, change its settings',
      commandHeaders: withoutDryRun,
      body: wrappedKnown('knowledge_base', changes, Object.keys(record.shape)),
      bodySize: 'rows',
      answers: { 200: z.literal('') },
      async handle({ segments, body, call }) {
        await change(body, segments, call)
        return json('')
      },
    }),
    deletion(ledger, {
      path: `${path}/:base`,
      summary: 'Delete a knowledge base; its documents stay as history until they are erased',
      command: ({ segments: { project, base } }) => ({ type: 'DeleteKnowledgeBase', data: { project, knowledge_base: base } }),
    }),
    route({
      method: 'post',
      path: `${path}/:base/completions`,
      summary: 'Search a knowledge base: the chunks that a question is about',
      body: object(question, 'body'),
      answers: { 200: found },
      async handle({ segments, body: { query, type, keywords, metadata, limit, alpha, relevance, reranking }, call }) {
        if (type === 'chat')
          throw new Problem('not_built', 'Not available', 'a knowledge base finds chunks, and writes no answers', {
            hint: 'Send "type": "context" for the chunks; an agent with this knowledge base answers: POST …/agents/<name>/completions.',
          })
        const { base } = await named(segments.project, segments.base)
        const words = typeof keywords === 'string' ? [keywords] : (keywords ?? [])
        const weight = alpha ?? (words.length > 0 ? 0.5 : undefined)
        const filters = Object.entries(metadata ?? {}).map(([column, value]): MetadataFilter => ({ column, op: '=', value }))
        const { chunks, ...searched } = await knowledge.search(
          base,
          {
            ...{ content: [query, ...words].join(' '), limit: limit ?? 10, filters },
            ...(weight !== undefined && { alpha: weight }),
            ...(typeof relevance === 'number' && { minRelevance: relevance }),
            ...(typeof reranking === 'boolean' && { reranking }),
          },
          { origin: call.origin(), purpose: 'search', signal: call.gone },
        )
        return json({ documents: chunks.map(({ key: _, ...shown }) => shown), ...searched })
      },
    }),
  ]
}
