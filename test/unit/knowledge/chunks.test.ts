import { describe, expect, test } from '@jest/globals'
import { fc } from '../../support/random/properties.js'
import { chunkId, chunksOf } from '../../../src/knowledge/documents/chunks.js'

describe('chunks', () => {
  test('a short text is one chunk, and a text of white space is none', () => {
    expect(chunksOf('One. Two.', { size: 50, overlap: 10 })).toEqual([{ start: 0, end: 9, text: 'One. Two.' }])
    expect(chunksOf(' \n ', { size: 50, overlap: 10 })).toEqual([])
  })

  test('a text is cut between sentences, and a chunk begins with the last words of the one before', () => {
    const text = `${'A first sentence here. '.repeat(3)}${'Then comes another one. '.repeat(3)}`
    const chunks = chunksOf(text, { size: 80, overlap: 20 })
    expect(chunks.length).toBeGreaterThan(1)
    for (const { text: chunk } of chunks.slice(0, -1)) expect(chunk).toMatch(/\.$/)
    for (const [i, { start }] of chunks.slice(1).entries()) expect(start).toBeLessThan(chunks[i]?.end ?? 0)
  })

  test('a character of two code units is never cut', () => {
    for (const { text } of chunksOf('😀'.repeat(200), { size: 51, overlap: 11 })) expect(text.isWellFormed()).toBe(true)
  })

  test('chunks say what stands at their places, are no longer than their size, and miss no word', () => {
    const word = fc.string({ minLength: 1, maxLength: 30, unit: 'grapheme' })
    fc.assert(
      fc.property(
        fc.array(word, { maxLength: 80 }),
        fc.integer({ min: 50, max: 200 }),
        fc.integer({ min: 0, max: 25 }),
        (words, size, overlap) => {
          const text = words.join(' ')
          const chunks = chunksOf(text, { size, overlap })
          let covered = 0
          for (const { start, end, text: chunk } of chunks) {
            expect(text.slice(start, end)).toBe(chunk)
            expect(chunk.length).toBeLessThanOrEqual(size)
            expect(text.slice(Math.min(covered, start), start).trim()).toBe('')
            covered = Math.max(covered, end)
          }
          expect(text.slice(covered).trim()).toBe('')
        },
      ),
    )
  })

  test.each([
    ['without a seam', 'x'],
    ['of words alone', 'word '],
  ])('a long text %s is cut in time that grows with it', (_, part) => {
    const text = part.repeat(2_000_000 / part.length)
    const from = process.cpuUsage()
    expect(chunksOf(text, { size: 1_000, overlap: 0 }).length).toBeGreaterThanOrEqual(2_000)
    // Searches that go back to the beginning of the text take ten times as long as this.
    expect(process.cpuUsage(from).user).toBeLessThan(500_000)
  })

  test('the id of a chunk says its document, its number and its place', () =>
    expect(chunkId('a', 1, 3, { start: 0, end: 900 })).toBe('a:1of3:0to900'))
})
