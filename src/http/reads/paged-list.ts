import type { Request, Response } from 'express'
import { z } from 'zod'
import { wrong } from '../../basics/errors.js'
import { limits } from '../../basics/limits.js'
import { LongWork } from '../../basics/long-work.js'
import { pageSize } from '../protocol/query-values.js'
import { queryValue } from '../protocol/route.js'
import { leaving, taken } from '../protocol/back-pressure.js'
import { wholeNumber } from '../protocol/whole-number.js'

/** What a list takes beside its own parameters. Without them it answers everything. */
export const listParameters = z.object({
  limit: pageSize(limits.listPageMaxItems)
    .describe(`items of a page, up to ${limits.listPageMaxItems}; the header Link has the address of the next page`)
    .optional(),
  after: z
    .string()
    .regex(/^(?:\d{1,2}\.)?\d{1,15}$/)
    .describe('where the page before ended, as its Link says')
    .optional(),
})

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
const readCursor = (req: Request, parts: number): Cursor => {
  const said = queryValue(req, 'after')
  if (said === undefined) return { part: 0, after: 0 }
  const [, part = '0', after = ''] = /^(?:(\d{1,2})\.)?(\d{1,15})$/.exec(said) ?? []
  if (after === '' || Number(part) >= parts)
    throw wrong(
      `the query parameter after is no place in this list: ${said.slice(0, 60)}`,
      'Take it from the header Link of the page before; without it a list begins at its start.',
    )
  return { part: Number(part), after: Number(after) }
}

const nextLink = (req: Request, { part, after }: Cursor, parts: number): string => {
  const url = new URL(req.originalUrl, 'http://localhost')
  url.searchParams.set('after', parts === 1 ? String(after) : `${part}.${after}`)
  return `<${url.pathname}${url.search}>; rel="next"`
}

/** A page: so many items, and what a resource shows is not torn apart. */
const sendPage = async (req: Request, res: Response, parts: readonly Part[], from: Cursor, limit: number): Promise<void> => {
  const shown: unknown[] = []
  let last = from
  for await (const { items, cursor } of walk(parts, from)) {
    if (shown.length >= limit) {
      res.setHeader('Link', nextLink(req, last, parts.length))
      break
    }
    shown.push(...items)
    last = cursor
  }
  res.json(shown)
}

/** So many characters are one answer with its length; a longer one goes out as it is read. */
const answerMaxChars = 64 * 1024

/** All of a list, as fast as the client takes it. What is refused is refused before the first byte is sent. */
const sendAll = async (res: Response, parts: readonly Part[], from: Cursor): Promise<void> => {
  const gone = leaving(res)
  let text = '['
  for await (const { items } of walk(parts, from)) {
    for (const item of items) text += (text === '[' && !res.headersSent ? '' : ',') + JSON.stringify(item)
    if (text.length < answerMaxChars) continue
    if (!res.headersSent) res.setHeader('Content-Type', 'application/json; charset=utf-8')
    res.write(text)
    text = ''
    if (!(await taken(res, gone))) return
  }
  if (res.headersSent) res.end(`${text}]`)
  else res.type('application/json').send(`${text}]`)
}

/**
 * Answers a list: all of it, or with `limit` a page, whose header Link has the address of the next one. Either is read some at a
 * time, so that it needs little memory and others are answered meanwhile; what is written in between may be in it or not, and
 * everything else is in it once.
 *
 * @example await sendList(req, res, [resourcesPart((after, limit) => resources.page('view', project, after, limit), (view) => [records.view(view)])])
 * @throws Problem 400 for a page that there cannot be
 */
export const sendList = async (req: Request, res: Response, parts: readonly Part[]): Promise<void> => {
  const limit = wholeNumber(req, 'limit', { least: 1, most: limits.listPageMaxItems })
  const from = readCursor(req, parts.length)
  await (limit === undefined ? sendAll(res, parts, from) : sendPage(req, res, parts, from, limit))
}
