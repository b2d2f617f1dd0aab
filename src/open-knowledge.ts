import { readdir } from 'node:fs/promises'
import { streamId, type StreamId } from '../events/common.js'
import type { Knowledge as KnowledgeOfAgents } from './agents/scope/knowledge.js'
import { resourcesNamed } from './agents/scope/resources-named.js'
import { limits } from './basics/limits.js'
import { opened } from './basics/undo.js'
import { egressFetch } from './egress/fetch.js'
import { egressOf } from './egress/settings.js'
import { Embedders } from './knowledge/embedding/embedders.js'
import { FollowedIndexes } from './knowledge/followed-indexes.js'
import { IndexProcess } from './knowledge/index-client.js'
import { Knowledge } from './knowledge/knowledge.js'
import { PageReader } from './knowledge/read-pages.js'
import type { LanguageModels } from './llm/language-models.js'
import type { SpendingOfProject } from './llm/tokens/daily-token-quotas.js'
import type { Storage } from './open-storage.js'
import type { Logger } from './basics/logger.js'
import type { Config } from './setup/config.js'

/** The knowledge bases, and the process that keeps their indexes. */
export type KnowledgeParts = Awaited<ReturnType<typeof openKnowledge>>

type Options = { config: Config; logger: Logger; storage: Storage; languageModels: LanguageModels; spendingOfProject: SpendingOfProject }

/** The knowledge bases with an index on the disk, including deleted ones. */
const indexedIn = async (directory: string): Promise<StreamId[]> => {
  const names = await readdir(directory).catch(() => [])
  return names.flatMap((name) => {
    const { success, data } = streamId.safeParse(name.replace(/\.sqlite$/, ''))
    return success && name.endsWith('.sqlite') ? [data] : []
  })
}

/** Opens the knowledge bases. `begin` finishes erasures that did not reach the indexes. */
export const openKnowledge = ({ config, logger, storage, languageModels, spendingOfProject }: Options) =>
  opened((undo) => {
    const { ledger, log, blobs, paths } = storage
    const process = new IndexProcess(paths.knowledge)
    undo(() => process.stop())
    const embedders = new Embedders({ log, blobs, overHttp: (settings) => languageModels.embedder({ params: settings }) })
    undo(() => embedders.stop())
    const indexes = new FollowedIndexes(log, process)
    const pages = new PageReader({
      fetch: egressFetch(egressOf(config), {}, { maxBytes: limits.knowledgePageMaxBytes }),
      async textOf(html) {
        const done = await process.ask('', { page: html })
        if ('page' in done) return done.page
        throw new TypeError('the process answered something else than a text')
      },
    })
    const knowledge = new Knowledge({
      ...{ ledger, log, indexes, embedders, pages, spendingOfProject },
      reranker: (params) => languageModels.reranker(params),
    })
    undo(() => knowledge.stop())
    /** Removes erased data from every index. */
    const purge = async (): Promise<void> => indexes.purge(await indexedIn(paths.knowledge))
    /** Finishes erasures that were interrupted before they reached the indexes. */
    const begin = (): void => {
      void log
        .erasedAt()
        .then((position) => (position > 0 ? purge() : undefined))
        .catch((err: unknown) => logger.error({ err }, 'erased data could not be removed from the indexes of knowledge bases'))
    }
    /** The knowledge bases as agents use them: by name in a project, at a position of the log. */
    const ofAgents: KnowledgeOfAgents = {
      basesOf: async (resources, project, name) =>
        (await resourcesNamed(resources, 'knowledge_base', name, { project, most: limits.agentKnowledgeBasesMax })).map((base) => ({
          base,
          name: base.state.name,
        })),
      search: knowledge.searchWithin,
    }
    return { knowledge, ofAgents, purge, begin, indexPid: () => process.pid }
  })
