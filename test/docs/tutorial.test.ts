import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { blocksOf, complaints, openClone, readSource, shownLine, type Clone } from '../support/clone.js'

const blocks = blocksOf(readSource('docs/learn/tutorial.md'))
const [start, ...rest] = blocks

let clone: Clone
beforeAll(async () => {
  clone = await openClone()
})
afterAll(() => clone.stop())

test('the first block installs and serves', () => {
  expect(start).toEqual({ language: 'sh', text: 'npm ci\nnpm start\n' })
})

test('each command of the tutorial does what the page shows', async () => {
  let out = ''
  for (const { language, text } of rest)
    if (language === 'sh') {
      const ended = await clone.shell(text)
      expect({ text, code: ended.code, err: text.includes('refused') ? '' : complaints(ended) }).toEqual({ text, code: 0, err: '' })
      out = ended.out
    } else {
      expect(language).toBe('text')
      for (const line of text.trimEnd().split('\n')) expect(out).toMatch(shownLine(line))
    }
  expect(rest.filter(({ language }) => language === 'text').length).toBeGreaterThan(8)
})
