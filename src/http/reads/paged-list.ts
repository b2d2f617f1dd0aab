import { z } from 'zod'
import { wrong } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { LongWork } from '../../basics/long-work.js'
import type { Call } from '../protocol/call.js'
import { pageSize, value, whole, type ValuesOf } from '../protocol/parameters.js'
import { json, jsonPieces, type Headers, type Reply } from '../protocol/reply.js'

/** What a list takes beside its own parameters. Without them it answers everything. */
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

/** Some items that stand together in a list, and the place they stand at: what follows is asked for by it. */
export type Entry = { place: number; items: readonly unknown[] }

/** A stretch of a list: reads the entries behind a place, in order, at most so many. None is its end. */
export type Part = (after: number, limit: number) => Promise<readonly Entry[]>

/** A part that is known without being read. */
export const fixedPart =
  (items: readonly unknown[]): Part =>
  async (after, limit) =>
    items.map((item, i) => ({ place: i + 1, items: [item] })).slice(after, after + limit)

/** A part of resources, read in the order of their ids: what each is shown as, which may be nothing or several items. */
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
type Placed = { items: readonly unknown[]; cursor: Cursor }

/** Walks all entries of a list from a place on, some at a time, with the event loop for others in between. */
async function* walk(parts: readonly Part[], from: Cursor): AsyncGenerator<Placed, void, void> {
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

/** All items of a list, for who looks for one of them. */
export async function* itemsOf(parts: readonly Part[]): AsyncGenerator<unknown, void, void> {
  for await (const { items } of walk(parts, { part: 0, after: 0 })) yield* items
}

/** `120`, or where a list has several parts, `1.120`: the part and the place in it. */
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

/** A page: so many items, and what a resource shows is not torn apart. */
const page = async (call: Call, parts: readonly Part[], from: Cursor, limit: number): Promise<Reply> => {
  const shown: unknown[] = []
  let last = from
  for await (const { items, cursor } of walk(parts, from)) {
    if (shown.length >= limit) return json(shown, { headers: nextLink(call, last, parts.length) })
    shown.push(...items)
    last = cursor
  }
  return json(shown)
}

/** So many characters are one answer with its length; a longer one goes out as it is read. */
const answerMaxChars = 64 * 1024

/** The text of all of a list. */
async function* textsOf(parts: readonly Part[], from: Cursor): AsyncGenerator<string, void, void> {
  let text = ''
  let before = '['
  for await (const { items } of walk(parts, from)) {
    for (const item of items) {
      text += before + JSON.stringify(item)
      before = ','
    }
    if (text.length < answerMaxChars) continue
    yield text
    text = ''
  }
  yield before === '[' ? '[]' : `${text}]`
}

/** All of a list. What is refused is refused before the first byte is sent. */
const all = async (parts: readonly Part[], from: Cursor): Promise<Reply> => {
  const texts = textsOf(parts, from)
  const first = await texts.next()
  return jsonPieces(
    (async function* () {
      yield first.value ?? ''
      yield* texts
    })(),
  )
}

/**
 * Answers a list: all of it, or with `limit` a page, whose header Link has the address of the next one. Either is read some at a
 * time, so that it needs little memory and others are answered meanwhile; what is written in between may be in it or not, and
 * everything else is in it once.
 *
 * @example await list(input, [resourcesPart((after, limit) => resources.page('view', project, after, limit), (view) => [records.view(view)])])
 * @throws Problem 400 for a page that there cannot be
 */
export const list = async ({ query: { limit, after }, call }: ListInput, parts: readonly Part[]): Promise<Reply> => {
  const from = readCursor(after, parts.length)
  return limit === undefined ? all(parts, from) : page(call, parts, from, limit)
}
