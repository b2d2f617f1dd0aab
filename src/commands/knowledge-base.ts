import type { Command } from '@event-driven-io/emmett'
import { unreachable, type JsonObject } from '../../events/common.js'
import type { KnowledgeBase, KnowledgeBaseEvent } from '../../events/knowledge-base.js'
import { conflict, notFound, wrong } from '../basics/errors.js'
import { byName, byExactName, type FactsOf } from '../log/contract/lookups.js'
import { readChunking, type SentSettings } from './knowledge-base-input.js'
import { decider } from './rules/decider.js'
import { refuseMovedKeys } from './rules/bound-keys.js'
import { mergeParams, newParams, replacedParams } from './rules/params.js'
import { namesakes, refuseTakenName } from './rules/taken-names.js'
import { updatedTo } from './rules/rollback.js'

type Target = { project: string; knowledge_base: string }
export type KnowledgeBaseCommand =
  | Command<'CreateKnowledgeBase', Target & SentSettings & { unlessExists?: boolean }>
  | Command<'UpdateKnowledgeBase', Target & SentSettings & { name?: string }>
  | Command<'DeleteKnowledgeBase', Target & { ifExists?: boolean }>

const kind = 'knowledge base'

const reads = ({ type, data }: KnowledgeBaseCommand) => {
  const name = ('name' in data ? data.name : undefined) ?? data.knowledge_base
  return {
    project: byName('project', data.project),
    knowledge_base: (type === 'CreateKnowledgeBase' ? byExactName : byName)('knowledge_base', data.knowledge_base, data.project),
    clash: byExactName('knowledge_base', name, data.project),
    ...namesakes(name, data.project),
    usual: byExactName('config', 'default_embedding_model'),
  }
}
type Facts = FactsOf<ReturnType<typeof reads>>

const text = (model: JsonObject, key: string): string => {
  const value = model[key]
  return typeof value === 'string' ? value : ''
}

/**
 * The settings that vectors depend on: vectors of different models cannot be compared. An uploaded model reads a text in parts of
 * `max_tokens`; an endpoint ignores them.
 */
const identity = ['provider', 'model_name', 'model', 'file', 'tokenizer', 'dimensions', 'max_tokens'] as const

const checkEmbedding = (model: JsonObject): JsonObject => {
  if (text(model, 'provider') === 'onnx') {
    if (text(model, 'file') === '')
      throw wrong('embedding_model.file is missing', 'It names the uploaded model: {"provider": "onnx", "file": "minilm"}.')
  } else if (text(model, 'model_name') === '' && text(model, 'model') === '')
    throw wrong(
      'embedding_model.model_name is missing',
      'Send {"provider": "openai", "model_name": "…", "api_key": "…"}, or leave embedding_model out: words alone need no model.',
    )
  return model
}

const changedEmbedding = (before: JsonObject | null, patch: JsonObject): JsonObject => {
  if (before === null)
    throw wrong(
      'embedding_model: this knowledge base was created without one, and its documents have no vectors',
      'Create another knowledge base with it, and insert the documents there.',
    )
  const after = checkEmbedding(mergeParams(before, patch))
  const fixed = identity.filter((key) => key !== 'max_tokens' || text(before, 'provider') === 'onnx')
  const other = fixed.find((key) => JSON.stringify(after[key]) !== JSON.stringify(before[key]))
  if (other !== undefined)
    throw wrong(
      `embedding_model.${other} cannot be changed: vectors of different models cannot be compared`,
      'Create another knowledge base with that model, and insert the documents there.',
    )
  refuseMovedKeys({ params: before }, { params: after })
  return after
}

/** A key of the model stays with the address that it was given for. Without settings there is no model. */
const changedReranking = (before: JsonObject | null, patch: JsonObject): JsonObject | null => {
  const after = mergeParams(before ?? {}, patch)
  refuseMovedKeys({ params: before ?? {} }, { params: after })
  return Object.keys(after).length === 0 ? null : after
}

/** The model of a new knowledge base: the one that was sent (`{}` means no model), or the default. Its key stays with the default. */
const firstEmbedding = ({ embedding_model: sent }: SentSettings, usual: Facts['usual']): JsonObject | null => {
  if (sent) return Object.keys(sent).length === 0 ? null : checkEmbedding(newParams(sent))
  if (!usual) return null
  const { value } = usual.state
  return checkEmbedding(Object.fromEntries(identity.flatMap((key) => (value[key] === undefined ? [] : [[key, value[key]] as const]))))
}

const created = (project: Facts['project'] & object, name: string, sent: SentSettings, usual: Facts['usual']): KnowledgeBase => ({
  project: project.stream,
  name,
  embedding_model: firstEmbedding(sent, usual),
  reranking_model: sent.reranking_model ? changedReranking(null, sent.reranking_model) : null,
  storage: sent.storage ? newParams(sent.storage) : null,
  content_columns: sent.content_columns ?? [],
  metadata_columns: sent.metadata_columns ?? [],
  id_column: sent.id_column ?? null,
  chunking: readChunking(sent.preprocessing ?? {}),
  params: newParams(sent.params ?? {}),
})

const changes = (base: KnowledgeBase, sent: SentSettings) => ({
  ...(sent.embedding_model && { embedding_model: changedEmbedding(base.embedding_model, sent.embedding_model) }),
  ...(sent.reranking_model !== undefined && {
    reranking_model: sent.reranking_model && changedReranking(base.reranking_model, sent.reranking_model),
  }),
  ...(sent.storage !== undefined && { storage: sent.storage && replacedParams(base.storage ?? {}, sent.storage) }),
  ...(sent.content_columns && { content_columns: sent.content_columns }),
  ...(sent.metadata_columns && { metadata_columns: sent.metadata_columns }),
  ...(sent.id_column !== undefined && { id_column: sent.id_column }),
  ...(sent.preprocessing && { chunking: readChunking(sent.preprocessing, base.chunking) }),
  ...(sent.params && { params: mergeParams(base.params, sent.params) }),
})

const decide = (command: KnowledgeBaseCommand, facts: Facts): KnowledgeBaseEvent[] => {
  const { data } = command
  const { project, knowledge_base: base, clash } = facts
  if (!project) throw notFound('project', data.project)
  switch (command.type) {
    case 'CreateKnowledgeBase':
      if (base && command.data.unlessExists) return []
      if (base) throw conflict(kind, data.knowledge_base)
      refuseTakenName('knowledge_base', data.knowledge_base, facts)
      return [{ type: 'KnowledgeBaseCreated', data: created(project, data.knowledge_base, command.data, facts.usual) }]
    case 'UpdateKnowledgeBase': {
      if (!base) throw notFound(kind, data.knowledge_base)
      const name = command.data.name ?? base.state.name
      if (clash && clash.stream !== base.stream) throw conflict(kind, name)
      if (name !== base.state.name) refuseTakenName('knowledge_base', name, facts)
      const events: KnowledgeBaseEvent[] = []
      const changed = changes(base.state, command.data)
      if (Object.keys(changed).length > 0) events.push({ type: 'KnowledgeBaseUpdated', data: changed })
      if (name !== base.state.name) events.push({ type: 'KnowledgeBaseRenamed', data: { name } })
      return events
    }
    case 'DeleteKnowledgeBase':
      if (!base && command.data.ifExists) return []
      if (!base) throw notFound(kind, data.knowledge_base)
      return [{ type: 'KnowledgeBaseDeleted', data: {} }]
    default:
      return unreachable(command)
  }
}

/** Decides the commands of knowledge bases. */
export const knowledgeBaseDecider = decider('knowledge_base', {
  commands: { CreateKnowledgeBase: true, UpdateKnowledgeBase: true, DeleteKnowledgeBase: true },
  secrets: ['embedding_model', 'reranking_model', 'storage', 'params'],
  rollback: {
    events: updatedTo(
      'KnowledgeBaseUpdated',
      [
        ...(['embedding_model', 'reranking_model', 'storage', 'content_columns'] as const),
        ...(['metadata_columns', 'id_column', 'chunking', 'params'] as const),
      ],
      'KnowledgeBaseRenamed',
    ),
  },
  reads,
  decide,
})
