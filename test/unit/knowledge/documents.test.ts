import { describe, expect, test } from '@jest/globals'
import { pageText } from '../../../src/knowledge/documents/page-text.js'
import { Problem } from '../../../src/basics/errors.js'
import { limits } from '../../../src/basics/limits.js'
import { afterInserting, documentOf, emptyRows } from '../../../src/knowledge/documents/documents.js'
import { Knowledge } from '../../../src/knowledge/knowledge.js'
import { DocumentWriter } from '../../../src/knowledge/write-documents.js'
import { unlimited } from '../../../src/llm/tokens/daily-token-quotas.js'

const plain = { content_columns: [], metadata_columns: [], id_column: null }

describe('a row as a document', () => {
  test('has id and content, and all else as metadata', () =>
    expect(documentOf({ id: 7, content: 'Text', year: 2020, gone: null }, 1, plain)).toEqual({
      id: '7',
      content: 'Text',
      metadata: { year: 2020 },
    }))

  test('without an id gets one of its content: 16 digits of its MD5', () =>
    expect(documentOf({ content: 'Text' }, 1, plain)?.id).toBe('9dffbf69ffba8bc3'))

  test('with several columns of content says which is which; metadata are those that are named', () =>
    expect(
      documentOf({ key: 'k', title: 'T', body: 'B', a: 1, b: 2 }, 1, {
        content_columns: ['title', 'body'],
        metadata_columns: ['b'],
        id_column: 'key',
      }),
    ).toEqual({ id: 'k', content: 'title: T\nbody: B', metadata: { b: 2 } }))

  test('has its columns without case, in the spelling of the settings', () => {
    expect(documentOf({ ID: 7, Content: 'Text', Year: 2020 }, 1, plain)).toEqual({ id: '7', content: 'Text', metadata: { Year: 2020 } })
    expect(
      documentOf({ KEY: 'k', Title: 'T', year: 1, Year: 2 }, 1, {
        content_columns: ['title'],
        metadata_columns: ['YEAR'],
        id_column: 'key',
      }),
    ).toEqual({ id: 'k', content: 'T', metadata: { YEAR: 1 } })
  })

  test('an object under metadata is its metadata', () =>
    expect(documentOf({ id: 'a', content: 'x', metadata: { tag: 't' } }, 1, plain)?.metadata).toEqual({ tag: 't' }))

  test('without content is none, and is named in the refusal', () => {
    expect(documentOf({ id: 'a', content: ' ' }, 1, plain)).toBeUndefined()
    expect(documentOf({ id: 'a', content: null }, 1, plain)).toBeUndefined()
    expect(emptyRows([3, 7], 0).detail).toBe('rows 3, 7: the content is empty; nothing was inserted')
  })

  test('that is refused after others came in does not ask for the same request again', () => {
    const look = 'Look which documents are in before you send it again.'
    const busy = new Problem('busy', 'Not now', 'not now', { hint: 'Send the request again.', retryAfterSeconds: 1, of: 'others' })
    expect(afterInserting(1_000, busy).extras).toEqual({ hint: look, inserted: 1_000, of: 'others' })
    expect(afterInserting(2, new Problem('storage_failed', 'Not stored', 'no room')).extras).toEqual({ hint: look, inserted: 2 })
    const empty = emptyRows([3], 2)
    expect(afterInserting(2, empty).extras).toEqual({ ...empty.extras, inserted: 2 })
  })

  test.each<[string, object, object, RegExp]>([
    ['a NULL for an id', { id: null, content: 'x' }, {}, /^row 4: id is NULL/],
    ['an object for an id', { id: {}, content: 'x' }, {}, /^row 4: id is no text or number/],
    ['no column of the id', { content: 'x' }, { id_column: 'key' }, /^row 4: there is no column key/],
    ['no column of the content', { id: 1, body: 'x' }, {}, /^row 4: there is no column content/],
    ['an id without end', { id: 'x'.repeat(1_001), content: 'x' }, {}, /more than 1000 characters/],
    ['metadata without end', { content: 'x', a: 'x'.repeat(70_000) }, {}, /metadata has \d+ bytes/],
    ['content without end', { content: 'x'.repeat(9_000_000) }, {}, /content has 9000000 bytes/],
    ['a lone surrogate', { content: '\ud800' }, {}, /row 4: content is not well-formed/],
  ])('refuses %s, with the row', (_, row, settings, message) =>
    expect(() => documentOf(row as never, 4, { ...plain, ...settings })).toThrow(
      expect.objectContaining({ detail: expect.stringMatching(message) }),
    ),
  )
})

describe('a page', () => {
  const open = Array.from({ length: 1_000 }, (_, i) => `<b id=${i}>`).join('')

  test('that nests as deep as it likes is read', () => expect(pageText(`${'<div>'.repeat(100_000)}x`).text).toBe('x'))

  test('whose elements are opened again in each block is refused before it fills the memory', () => {
    expect(pageText(`<div>${open}</div>${'<div>x</div>'.repeat(10)}`).text.replaceAll(/\s/g, '')).toBe('x'.repeat(10))
    expect(() => pageText(`<div>${open}</div>${'<div>x</div>'.repeat(10_000)}`)).toThrow(/more than 500000 elements/)
  })
})

describe('a knowledge base', () => {
  const state = { ...plain, project: 'p', embedding_model: null, chunking: { size: 1_000, overlap: 0 }, params: {} }
  const base = { stream: 'kb', version: 1, state }
  const origin = { actor: 'me', source: 'rest', request: 'r', correlation: null, causation: null } as const
  const document = { id: 'a', content: 'x', metadata: {} }
  const embedding = { provider: 'openai', model: 'small', host: 'localhost:1', embed: () => Promise.reject(new Error('it was asked')) }

  /** Writes one document of one chunk beside the chunks that are there, into a knowledge base with these settings of an embedding model. */
  const write = (facts: { chunks: number; dimensions: number | null }, embedding_model: object | null = null) => {
    const ledger = { vault: { seal: () => ({ hash: 'h' }) }, executeAll: async () => ({ positions: [7] }) }
    const log = { streamVersion: async () => 0 }
    const embedders = { of: async () => embedding, embed: (model: typeof embedding) => model.embed() }
    const indexes = { ask: async () => ({ facts }) }
    const writer = new DocumentWriter({ ledger, log, indexes, embedders, spendingOfProject: () => unlimited } as never)
    return writer.write([document], {
      ...{ base: { ...base, state: { ...state, embedding_model } }, source: 'rows', mode: 'add', chunking: state.chunking },
      ...{ origin, signal: new AbortController().signal },
    } as never)
  }

  test('has so many chunks', async () => {
    expect(await write({ chunks: limits.knowledgeMaxChunks - 1, dimensions: null })).toMatchObject({ chunks: 1, positions: [7] })
    const chunks = limits.knowledgeMaxChunks
    await expect(write({ chunks, dimensions: null })).rejects.toMatchObject({
      code: 'too_large',
      detail: expect.stringContaining(`would have ${chunks + 1} chunks`),
    })
  })

  test('has so many bytes of vectors, and no model is paid for more', async () => {
    const chunks = limits.knowledgeVectorsMaxBytes / 4_096
    const settings = { provider: 'openai' }
    await expect(write({ chunks: chunks - 1, dimensions: 1_024 }, settings)).rejects.toThrow('it was asked')
    await expect(write({ chunks, dimensions: 1_024 }, settings)).rejects.toMatchObject({
      code: 'too_large',
      detail: expect.stringContaining(`would have ${limits.knowledgeVectorsMaxBytes + 4_096} bytes`),
    })
  })

  test('takes so many documents at once', async () => {
    function* rows() {
      for (let i = 0; i <= limits.knowledgeInsertMaxDocuments; i++) yield { content: '' }
    }
    const knowledge = new Knowledge({} as never)
    const insertion = { knowledgeBase: base, source: 'rows', rows: rows(), mode: 'add', isAtomic: true, origin }
    await expect(knowledge.insert(insertion as never)).rejects.toMatchObject({
      code: 'too_large',
      detail: `an insert takes at most ${limits.knowledgeInsertMaxDocuments} documents`,
    })
  })
})
