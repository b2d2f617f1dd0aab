import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { errorCode, fieldsOf, isProblem, Problem } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { ignoreUserSignals } from '../../basics/user-signals.js'
import { knowledgeFingerprint } from '../../setup/package.js'
import { pageText } from '../documents/page-text.js'
import { BaseIndex } from './base-index.js'
import type { IndexAnswer, IndexState, FromIndex, ToIndex, IndexRequest } from './messages.js'
import { removeIndex } from './schema.js'

/** The process that keeps the indexes of knowledge bases. It has no keys: the server sends it decrypted data of the log. */
class Indexes {
  readonly #code = knowledgeFingerprint()
  readonly #open = new LRUCache<string, BaseIndex>({ max: limits.knowledgeOpenMaxBases, dispose: (index) => index.close() })

  constructor(private readonly directory: string) {}

  do(base: string, request: IndexRequest): IndexAnswer {
    if ('open' in request) return { state: this.#openAnew(base, request.open).state }
    // Web pages are parsed here, so that a large page does not block the service.
    if ('page' in request) return { page: pageText(request.page) }
    const index = this.#open.get(base)
    if (!index) throw new IndexClosedError('it was closed')
    try {
      return answer(index, request)
    } catch (error) {
      // A file that SQLite finds damaged is removed, and rebuilt when it is opened next.
      if (!isDamage(error)) throw error
      this.#remove(base)
      throw new IndexClosedError('its file was damaged')
    }
  }

  #openAnew(base: string, { logId, ...ofLog }: { logId: string } & IndexState): BaseIndex {
    const known = this.#open.get(base)
    if (known) return known
    const index = new BaseIndex(this.#file(base), { logId, base, code: this.#code }, ofLog)
    this.#open.set(base, index)
    return index
  }

  #remove(base: string): void {
    this.#open.delete(base)
    removeIndex(this.#file(base))
  }

  #file(base: string): string {
    return join(this.directory, `${base}.sqlite`)
  }
}

/** The request needs an index that has not been opened yet. */
class IndexClosedError extends Error {}

const isDamage = (error: unknown): boolean => /^SQLITE_(CORRUPT|NOTADB)/.test(errorCode(error))

const answer = (index: BaseIndex, request: Exclude<IndexRequest, { open: unknown } | { page: unknown }>): IndexAnswer => {
  if ('apply' in request) return { state: index.apply(request.apply) }
  if ('erase' in request) return { state: index.erase(request.erase, request.erasedAt) }
  if ('find' in request) return { places: index.find(request.find) }
  if ('matching' in request) return { places: index.matching(request.matching) }
  if ('search' in request) return { chunks: index.search(request.search) }
  if ('list' in request) return { listed: index.list(request.list) }
  return { facts: index.facts() }
}

const problemIn = (error: unknown): Problem => {
  if (isProblem(error)) return error
  const cause = error instanceof Error ? (error.stack ?? error.message) : String(error)
  if (/SQLITE_FULL|ENOSPC/.test(`${String(Reflect.get(Object(error) as object, 'code'))} ${cause}`))
    return new Problem('disk_full', 'No room on the disk', 'the index of the knowledge base could not be written', { cause })
  return new Problem('internal', 'Index failed', 'a fault of the index of knowledge bases; the log of the service says more', { cause })
}

let indexes: Indexes | undefined

const say = (message: FromIndex): void => void process.send?.(message)

ignoreUserSignals()
process.on('disconnect', () => process.exit(0))
process.on('message', (message: ToIndex) => {
  if ('settings' in message) {
    indexes = new Indexes(message.settings.directory)
    return
  }
  const { ask, base, request } = message
  try {
    if (!indexes) throw new TypeError('the index has no directory')
    say({ answer: ask, done: indexes.do(base, request) })
  } catch (error) {
    say({ answer: ask, ...(error instanceof IndexClosedError ? { notOpen: error.message } : { problem: fieldsOf(problemIn(error)) }) })
  }
})
