import * as z from 'zod'
import { wrong } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { LongWork } from '../../basics/long-work.js'
import type { Call } from '../protocol/call.js'
import { pageSize, value, whole, type ValuesOf } from '../protocol/parameters.js'
import { jsonArray, jsonPieces, type Headers, type Reply } from '../protocol/reply.js'

/** The paging parameters of every list. Without them it answers everything. */
export const listParameters = {
  limit: whole(
    pageSize(limits.listPageMaxItems)
      .describe(`items of a page, up to ${limits.listPageMaxItems}; the header Link has the address of the next page`)
      .optional(),
    { least: 1, most: limits.listPageMaxItems },
  ),
  after: value(
    z
      .string()
      .regex(/^(?:\d{1,2}\.)?\d{1,15}$/)
      .describe('where the page before ended, as its Link says')
      .optional(),
  ),
}

/** A request for a list. */
type ListInput = { query: ValuesOf<typeof listParameters>; call: Call }

/** Items that belong together in a list, and their place, which the next page starts after. */
export type Entry = { place: number; items: readonly unknown[] }

/** One part of a list: reads at most `limit` entries after a place, in order. An empty result is the end. */
export type Part = (after: number, limit: number) => Promise<readonly Entry[]>

/** A part with fixed items. */
export const fixedPart =
  (items: readonly unknown[]): Part =>
  async (after, limit) =>
    items.map((item, i) => ({ place: i + 1, items: [item] })).slice(after, after + limit)

/** A part of resources in the order of their ids. `show` maps each to its items: none, one or several. */
export const resourcesPart =
  <F extends { id: number }>(
    page: (after: number, limit: number) => Promise<readonly F[]>,
    show: (found: F) => readonly unknown[] | Promise<readonly unknown[]>,
  ): Part =>
  async (after, limit) => {
    const entries: Entry[] = []
    const work = new LongWork()
    for (const found of await page(after, limit)) {
      entries.push({ place: found.id, items: await show(found) })
      await work.pause()
    }
    return entries
  }

const entriesAtOnce = 100

type Cursor = { part: number; after: number }
type CursorPage = { items: readonly unknown[]; cursor: Cursor }

/** Iterates over the entries of a list from a place on, in batches that yield to the event loop. */
async function* walk(parts: readonly Part[], from: Cursor): AsyncGenerator<CursorPage, void, void> {
  const work = new LongWork()
  for (let part = from.part; part < parts.length; part++) {
    let after = part === from.part ? from.after : 0
    for (;;) {
      const entries = (await parts[part]?.(after, entriesAtOnce)) ?? []
      for (const { place, items } of entries) if (items.length > 0) yield { items, cursor: { part, after: place } }
      const last = entries.at(-1)
      if (!last) break
      after = last.place
      await work.pause()
    }
  }
}

/** All items of a list, for callers that search it. */
export async function* itemsOf(parts: readonly Part[]): AsyncGenerator<unknown, void, void> {
  for await (const { items } of walk(parts, { part: 0, after: 0 })) yield* items
}

/** Reads `120`, or in a list of several parts `1.120`: the part and the place in it. */
const readCursor = (said: string | undefined, parts: number): Cursor => {
  if (said === undefined) return { part: 0, after: 0 }
  const [, part = '0', after = ''] = /^(?:(\d{1,2})\.)?(\d{1,15})$/.exec(said) ?? []
  if (after === '' || Number(part) >= parts)
    throw wrong(
      `the query parameter after is no place in this list: ${said.slice(0, 60)}`,
      'Take it from the header Link of the page before; without it a list begins at its start.',
    )
  return { part: Number(part), after: Number(after) }
}

const nextLink = ({ address }: Call, { part, after }: Cursor, parts: number): Headers => {
  address.searchParams.set('after', parts === 1 ? String(after) : `${part}.${after}`)
  return { Link: `<${address.pathname}${address.search}>; rel="next"` }
}

/** A page of about `limit` items: the items of one resource stay together. */
const page = async (call: Call, parts: readonly Part[], from: Cursor, limit: number): Promise<Reply> => {
  const shown: unknown[] = []
  let last = from
  for await (const { items, cursor } of walk(parts, from)) {
    if (shown.length >= limit) return jsonArray(shown, { headers: nextLink(call, last, parts.length) })
    shown.push(...items)
    last = cursor
  }
  return jsonArray(shown)
}

/** A longer list is sent in pieces of about this many characters. */
const answerMaxChars = 64 * 1024

/** The JSON text of a whole list, item by item: one item may have a million characters. */
async function* textsOf(parts: readonly Part[], from: Cursor): AsyncGenerator<string, void, void> {
  const work = new LongWork()
  let before = '['
  for await (const { items } of walk(parts, from))
    for (const item of items) {
      yield before + JSON.stringify(item)
      before = ','
      await work.pause()
    }
  yield before === '[' ? '[]' : ']'
}

async function* inPieces(texts: AsyncIterable<string>): AsyncGenerator<string, void, void> {
  let text = ''
  for await (const each of texts) {
    text += each
    if (text.length < answerMaxChars) continue
    yield text
    text = ''
  }
  yield text
}

/** An answer whose JSON text comes in parts. The first piece is read here, so that an error can still be answered. */
export const inParts = async (parts: AsyncIterable<string>): Promise<Reply> => {
  const texts = inPieces(parts)
  const first = await texts.next()
  return jsonPieces(
    (async function* () {
      yield first.value ?? ''
      yield* texts
    })(),
  )
}

/** Answers all of a list, without pages. */
export const wholeList = (parts: readonly Part[], from: Cursor = { part: 0, after: 0 }): Promise<Reply> => inParts(textsOf(parts, from))

/**
 * Answers a list: all of it, or with `limit` one page, whose Link header has the URL of the next one. Both are read in batches, so
 * that a list needs little memory and other requests are answered meanwhile. Items that are written in between may or may not be
 * in it; every other item appears exactly once.
 *
 * @example
 * await list(input, [resourcesPart((after, limit) => resources.page('view', project, after, limit), (view) => [records.view(view)])])
 * @throws Problem 400 for an invalid page
 */
export const list = async ({ query: { limit, after }, call }: ListInput, parts: readonly Part[]): Promise<Reply> => {
  const from = readCursor(after, parts.length)
  return limit === undefined ? wholeList(parts, from) : page(call, parts, from, limit)
}
