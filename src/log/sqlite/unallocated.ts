import { fsyncSync, read as readCallback, readSync, writeSync } from 'node:fs'
import { promisify } from 'node:util'

/**
 * SQLite's `secure_delete` overwrites what is deleted, but of a row that moves to another page when pages are split a copy may
 * stay in the part of the old page that belongs to no row. Seen in four of a thousand payloads; so these parts are
 * overwritten here. Their place follows from the page's header (https://www.sqlite.org/fileformat2.html#b_tree_pages), and
 * what stands in them means nothing to SQLite.
 */

const read = promisify(readCallback)

const pagesAtOnce = 256
const fileHeaderBytes = 100
/** Pages of an index, which a table WITHOUT ROWID is: their headers have so many bytes. */
const headerBytes: Record<number, number> = { 2: 12, 10: 8 }

type Range = { from: number; to: number }

/** The parts of a page that belong to no row; none for pages of another kind. */
const unallocated = (page: Buffer): Range[] => {
  const header = headerBytes[page[0] ?? 0]
  if (header === undefined) return []
  const content = page.readUInt16BE(5) || 65_536
  const ranges = [{ from: header + 2 * page.readUInt16BE(3), to: Math.min(content, page.length) }]
  // Each free block begins with the place of the next one and its own size.
  for (let at = page.readUInt16BE(1), before = 0; at > before && at + 4 <= page.length; before = at, at = page.readUInt16BE(at))
    ranges.push({ from: at + 4, to: Math.min(at + page.readUInt16BE(at + 2), page.length) })
  return ranges.filter(({ from, to }) => from < to)
}

const isClean = (page: Buffer, { from, to }: Range): boolean => {
  for (let at = from; at < to; at++) if (page[at] !== 0) return false
  return true
}

/** How many bytes a page of this file has. */
const pageBytesOf = (file: number): number => {
  const header = Buffer.alloc(fileHeaderBytes)
  readSync(file, header, 0, fileHeaderBytes, 0)
  const said = header.readUInt16BE(16)
  return said === 1 ? 65_536 : said
}

/** The pages with something in them that belongs to no row, by their place in the file. Others work meanwhile. */
export const findRemnants = async (file: number): Promise<number[]> => {
  const pageBytes = pageBytesOf(file)
  const buffer = Buffer.alloc(pageBytes * pagesAtOnce)
  const found: number[] = []
  for (let at = 0; ;) {
    const { bytesRead } = await read(file, buffer, 0, buffer.length, at)
    for (let offset = 0; offset + pageBytes <= bytesRead; offset += pageBytes) {
      const page = buffer.subarray(offset, offset + pageBytes)
      if (!unallocated(page).every((range) => isClean(page, range))) found.push(at + offset)
    }
    if (bytesRead < buffer.length) return found
    at += bytesRead
  }
}

/** Overwrites what belongs to no row in these pages. Nobody may write to the file meanwhile, and no page may be in a cache. */
export const overwriteRemnants = (file: number, places: readonly number[]): void => {
  const page = Buffer.alloc(pageBytesOf(file))
  for (const place of places) {
    readSync(file, page, 0, page.length, place)
    for (const { from, to } of unallocated(page)) writeSync(file, Buffer.alloc(to - from), 0, to - from, place + from)
  }
  fsyncSync(file)
}
