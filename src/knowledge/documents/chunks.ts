import type { Chunking } from '../../../events/knowledge-base.js'

/** A part of a text, from one index up to, but without, another one. */
export type TextChunk = { start: number; end: number; text: string }

/** The places where a text may be cut, the best first: between paragraphs, lines, sentences, clauses, words. */
const seams = ['\n\n', '\n', '. ', '? ', '! ', '。', '; ', ', ', ' ']

/** The end of a chunk that begins at `start`: after the last good place to cut in its second half, or at the size limit. */
const endOf = (text: string, start: number, size: number): number => {
  const full = start + size
  if (full >= text.length) return text.length
  const least = start + Math.ceil(size / 2)
  // A search in the whole text would run back to its beginning for every chunk and every kind of place that does not occur.
  const from = Math.max(start, least - 1)
  const half = text.slice(from, full)
  for (const seam of seams) {
    const at = half.lastIndexOf(seam)
    if (at >= 0 && from + at + seam.length > least) return from + at + seam.length
  }
  return insidePair(text, full) ? full - 1 : full
}

/** Whether an index is inside a character of two code units. */
const insidePair = (text: string, at: number): boolean => {
  const before = text.charCodeAt(at - 1)
  const behind = text.charCodeAt(at)
  return before >= 0xd800 && before < 0xdc00 && behind >= 0xdc00 && behind < 0xe000
}

/** The start of the chunk after one that ends at `end`: the first word of the overlap. */
const nextStart = (text: string, start: number, end: number, overlap: number): number => {
  const from = end - overlap
  if (overlap === 0 || from <= start) return end
  const space = text.slice(from, end).search(/\s/)
  const at = space < 0 ? from : from + space + 1
  return insidePair(text, at) ? at + 1 : at
}

/** The part without surrounding white space; undefined when nothing is left. */
const trimmed = (text: string, start: number, end: number): TextChunk | undefined => {
  const part = text.slice(start, end)
  const inner = part.trim()
  if (inner === '') return undefined
  const from = start + part.indexOf(inner.charAt(0))
  return { start: from, end: from + inner.length, text: inner }
}

/** The chunks of a text one by one, so that a caller can pause between them. */
export function* chunksIn(text: string, { size, overlap }: Chunking): Generator<TextChunk, void, void> {
  for (let start = 0; start < text.length;) {
    const end = endOf(text, start, size)
    const chunk = trimmed(text, start, end)
    if (chunk) yield chunk
    if (end >= text.length) return
    start = nextStart(text, start, end, overlap)
  }
}

/**
 * Cuts a text into chunks with a maximal number of characters. Each chunk repeats the end of the previous one. The same text and settings
 * always give the same chunks.
 *
 * @example chunksOf('One. Two.', { size: 5, overlap: 0 }) // [{ start: 0, end: 4, text: 'One.' }, { start: 5, end: 9, text: 'Two.' }]
 */
export const chunksOf = (text: string, chunking: Chunking): TextChunk[] => [...chunksIn(text, chunking)]

/** The id of a chunk, made from the id of its document: `chunkId('a', 1, 3, { start: 0, end: 900 })` → `a:1of3:0to900` */
export const chunkId = (id: string, number: number, total: number, { start, end }: { start: number; end: number }): string =>
  `${id}:${number}of${total}:${start}to${end}`
