import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { repository } from '../support/cli.js'

/** This many equal lines are a repetition. */
const repeatedLines = 6

/** Pairs of files that may have the same lines, and the reason. */
const allowed: readonly { files: readonly [string, string]; reason: string }[] = [
  {
    files: ['src/console/pages/resources/changes.ts', 'src/log/read/history.ts'],
    reason: 'The console imports no code of the service: it reads answers of the API as any other client does.',
  },
  {
    files: ['src/console/pages/events/log-event.ts', 'src/log/read/history.ts'],
    reason: 'The same.',
  },
  {
    files: ['src/console/pages/audit/erase.tsx', 'src/erasure/plan/plan.ts'],
    reason: 'The same.',
  },
]

/** The verifier shares no code with the service, so that a fault in one of them is no fault in the other. */
const sharesNothing = /^src\/audit\/verifier\//

type Line = { text: string; place: string; file: string }

/** Replaces what a pattern finds by as many empty lines. */
const without = (text: string, pattern: RegExp): string => text.replace(pattern, (found) => found.replace(/[^\n]+/g, ''))

/** The lines that say something: no comments, no imports, and no lines of brackets alone. */
const linesOf = (file: string, text: string): Line[] => {
  const code = without(without(text, /^\s*(?:\/\*[^]*?\*\/|\/\/.*)/gm), /^(?:import|export)\b[^;=]*?\bfrom '[^'\n]+'$|^import '.*'$/gm)
  const lines = code.split('\n').map((line, i) => ({ text: line.trim(), place: `${file}:${i + 1}`, file }))
  return lines.filter((line) => /\w/.test(line.text))
}

type Repetition = { files: readonly [string, string]; places: string }

/** Each run of equal lines that stands in two places, once for each pair of places. */
const repetitionsIn = (sources: readonly { file: string; text: string }[]): Repetition[] => {
  const places = new Map<string, Line[]>()
  const found: Repetition[] = []
  for (const { file, text } of sources) {
    const lines = linesOf(file, text)
    for (const [i, line] of lines.slice(0, 1 - repeatedLines).entries()) {
      const run = lines
        .slice(i, i + repeatedLines)
        .map((one) => one.text)
        .join('\n')
      const earlier = places.get(run) ?? []
      for (const { file: other, place } of earlier)
        found.push({ files: other < file ? [other, file] : [file, other], places: `${place} = ${line.place}` })
      places.set(run, [...earlier, line])
    }
  }
  return found
}

const sources = ['events', 'projections', 'src'].flatMap((folder) =>
  readdirSync(join(repository, folder), { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((file) => /\.[cm]?tsx?$/.test(file) && !sharesNothing.test(file))
    .map((file) => ({ file, text: readFileSync(join(repository, file), 'utf8') })),
)
const repetitions = repetitionsIn(sources)
const isSame = (a: readonly [string, string], b: readonly [string, string]): boolean => a[0] === b[0] && a[1] === b[1]

test('no six lines stand in two places without a reason', () => {
  expect(sources.length).toBeGreaterThan(500)
  expect(repetitions.filter(({ files }) => !allowed.some((one) => isSame(one.files, files))).map(({ places }) => places)).toEqual([])
})

test('each pair of files with a reason still has the same lines', () => {
  expect(allowed.filter(({ files }) => !repetitions.some((one) => isSame(one.files, files)))).toEqual([])
})

test('a repetition is found with other indents and comments, and imports and brackets are none', () => {
  const body = ['const a = 1', 'let b = a', 'b += 1', 'if (b > 1) {', '  b = 0', '}', 'use(a)', 'use(b)']
  const imports = ["import {\n  a,\n  b,\n  c,\n  d,\n  e,\n} from './a.js'", "import './b.js'"]
  const first = { file: 'a.ts', text: [...imports, ...body].join('\n') }
  const second = { file: 'b.ts', text: [...imports, '{', ...body.map((line) => `  ${line} // so`), '}'].join('\n') }
  const third = { file: 'c.ts', text: ['/* why', ' */', ...body.flatMap((line) => [`    ${line}`, '', '// so'])].join('\n') }
  expect(repetitionsIn([first, second])).toEqual([])
  expect(repetitionsIn([first, third])[0]).toEqual({ files: ['a.ts', 'c.ts'], places: 'a.ts:9 = c.ts:3' })
  expect(repetitionsIn([{ file: 'd.ts', text: `${body.join('\n')}\n${body.join('\n')}` }]).length).toBeGreaterThan(0)
})
